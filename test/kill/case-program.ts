import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAgent, createWorker, RerailError, tool } from '../../src/index.ts';
import type { Agent, RunOutcome, Store } from '../../src/index.ts';
import type { Tool } from '../../src/model/tool.ts';
import { sqlite } from '../../src/storage/sqlite/index.ts';
import { createClerkModel, createClerkTools, writeTask } from './clerk.ts';
import type { Plan } from './clerk.ts';
import { openLedger } from './ledger.ts';
import type { Ledger } from './ledger.ts';
import { readGiven, say } from './say.ts';

/** What the process is to do, one thing after the other. */
export interface CaseGiven {
  readonly database: string;
  readonly ledger: string;
  readonly leaseMs?: number;
  readonly deeds: readonly Deed[];
}

export type Deed =
  | { readonly type: 'run'; readonly runs: Readonly<Record<string, Plan>> }
  | { readonly type: 'resume'; readonly runId: string }
  /** Until it is stopped by a signal, or has nothing more to do. */
  | { readonly type: 'work'; readonly until: 'signal' | 'idle' }
  /** Gives the space back that the tool `fill` has taken. */
  | { readonly type: 'empty' }
  | { readonly type: 'wait-to-go-on' };

const given = readGiven() as CaseGiven; // Of our own test.
const store: Store = sqlite(given.database);
const ledger: Ledger = openLedger(given.ledger, () => undefined);
const filler = path.join(path.dirname(given.database), 'filler');
const agent: Agent = createAgent({
  name: 'clerk',
  model: createClerkModel(ledger),
  tools: [...createClerkTools(ledger, Math.random), ...createHardTools()],
  store,
  leaseMs: given.leaseMs ?? 30_000,
});

for (const deed of given.deeds) await perform(deed);
await store.close();
say({ kind: 'over' });

async function perform(deed: Deed): Promise<void> {
  switch (deed.type) {
    case 'run': {
      const entries = Object.entries(deed.runs);
      await Promise.all(
        entries.map(([runId, plan]) => tell(runId, agent.run(writeTask(runId, plan), { runId }))),
      );
      return;
    }
    case 'resume':
      return tell(deed.runId, agent.resume(deed.runId));
    case 'work':
      return work(deed.until);
    case 'empty':
      return rmSync(filler);
    case 'wait-to-go-on':
      return goOn();
  }
}

/** Until whoever watches says so. */
async function goOn(): Promise<void> {
  while (!existsSync(`${given.ledger}.go`)) await sleep(10);
}

async function tell(runId: string, outcome: Promise<RunOutcome>): Promise<void> {
  try {
    say({ kind: 'outcome', runId, outcome: await outcome });
  } catch (error) {
    const failure = RerailError.isInstance(error) ? error.failure : String(error);
    say({ kind: 'refused', runId, failure });
  }
}

async function work(until: 'signal' | 'idle'): Promise<void> {
  const worker = createWorker([agent], store, {
    pollMs: 50,
    drainMs: 5000,
    onEvent: ({ type, ...event }) => say({ ...event, kind: type }),
  });
  await worker.start();
  say({ kind: 'working' });
  // The worker ends the process.
  if (until === 'signal') await new Promise(() => setInterval(() => undefined, 1000));
  await worker.idle();
  await worker.stop();
}

/** Tools that do to their process what tools do at night. */
function createHardTools(): readonly Tool[] {
  let isFilled = false;
  const make = (name: string, execute: () => unknown): Tool =>
    tool({
      name,
      description: `Does what "${name}" says.`,
      input: { type: 'object', properties: { call: { type: 'string' } } },
      effect: 'read',
      execute: async () => {
        say({ kind: 'reached', name });
        return (await execute()) ?? `${name} is over`;
      },
    });
  return [
    make('hold', goOn),
    make('die', () => process.kill(process.pid, 'SIGKILL')),
    make('abort', () => process.abort()),
    make('fill', () => {
      if (!isFilled) for (const size of [65_536, 4096, 1]) fillWith(size);
      isFilled = true;
    }),
    make('bulk', () => 'x'.repeat(30_000)),
  ];
}

/** Until nothing of that size finds a place. */
function fillWith(size: number): void {
  try {
    for (let count = 0; count < 10_000; count += 1) writeFileSync(filler, Buffer.alloc(size), { flag: 'a' });
  } catch {
    // That is what was wanted.
  }
}
