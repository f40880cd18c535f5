import type { Sending } from './plan.ts';
import type { SimProcess } from './sim-process.ts';
import { tell } from './world.ts';

/** Sends to the run what the plan wants to be sent at this moment. */
export function sendPlanned(process: SimProcess, when: Sending['when']): void {
  const { world, agent } = process;
  if (world.sendings.length === 0 || agent === undefined || world.isOver) return;
  const index = world.sendings.findIndex((sending) => sending.when === when);
  const sending = world.sendings[index];
  if (sending === undefined) return;
  world.sendings.splice(index, 1);
  const { runId } = world.plan;
  tell(world, `somebody sends: ${sending.what}`);
  if (sending.what === 'cancel') {
    // Refused where the store failed: then nobody was promised anything.
    void agent.cancel(runId, 'enough').catch(() => undefined);
    return;
  }
  void inject(process, `By the way: ${when} ${world.lives}`);
}

async function inject(process: SimProcess, text: string): Promise<void> {
  const { world, agent } = process;
  try {
    await agent?.inject(world.plan.runId, text);
  } catch {
    return; // Refused where the store failed, or where the run has ended: nobody was promised anything.
  }
  if (process.isDead) return;
  tell(world, 'the message is acknowledged');
  world.promised.messages.push(text);
}
