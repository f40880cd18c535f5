import { describe, expect, it } from 'vitest';
import type { RunOutcome } from '../../src/agent/run-outcome.ts';
import { createFailure } from '../../src/errors/failure.ts';
import { flow } from '../../src/flow/flow.ts';
import { handOff } from '../../src/flow/hand-off.ts';
import type { Agent } from '../../src/runtime/create-agent.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import type { StoreOperation } from '../../src/testing/memory-store.ts';
import { simulatedClock } from '../../src/testing/simulated-clock.ts';
import { countingTool, member, runId, setStage } from './stage.ts';
import type { Stage } from './stage.ts';

// The disk fails once, between a run and one below it. Nothing of that is a failure of the work.

interface Disk extends Stage {
  /** The next operation that fits fails, before it is done or after. */
  readonly break: (fits: (operation: StoreOperation) => boolean, when?: 'before' | 'after') => void;
}

function setDisk(): Disk {
  const clock = simulatedClock();
  let broken: { readonly fits: (operation: StoreOperation) => boolean; readonly when: string } | undefined;
  const fault = (when: string) => (operation: StoreOperation) => {
    if (broken?.when !== when || !broken.fits(operation)) return undefined;
    broken = undefined;
    return createFailure('STORAGE_IO', { origin: 'storage', message: 'The disk fails' });
  };
  const store = memoryStore({ clock, faults: { before: fault('before'), after: fault('after') } });
  return {
    ...setStage(clock, store),
    break: (fits, when = 'before') => {
      broken = { fits, when };
    },
  };
}

const pays = [{ toolCalls: [{ name: 'pay', arguments: {} }] }, 'Paid.'];

function paying(stage: Stage): { readonly made: Agent<unknown>; readonly paid: readonly unknown[] } {
  const { tool, inputs } = countingTool('pay', { permission: 'ask' });
  const a = member(pays, { tools: [tool] });
  return { made: flow('a', { agents: { a: a.agent }, ...stage.world }), paid: inputs };
}

function reasonOf(outcome: RunOutcome): string {
  return outcome.type === 'suspended' ? outcome.reason : outcome.type;
}

const child = `${runId}/a`;

describe('a disk that fails between a run and one below it', () => {
  it.each([
    { what: 'it is looked up', verb: 'read' },
    { what: 'it is joined', verb: 'create' },
    { what: 'it is taken up', verb: 'claim' },
    { what: 'the answer goes on to it', verb: 'signal' },
  ] as const)('keeps the answer of a person where it fails when $what', async ({ verb }) => {
    for (const when of ['before', 'after'] as const) {
      const stage = setDisk();
      const { made, paid } = paying(stage);
      const asked = await stage.run(made);
      expect(reasonOf(asked)).toBe('approval');
      stage.break((operation) => operation.verb === verb && operation.runId === child, when);
      const waits = await stage.resume(made, { answer: true });
      // Where it could be mended at once it has gone on; else somebody goes on later, and is asked nothing.
      const ended = waits.type === 'suspended' ? await stage.resume(made) : waits;
      expect([when, reasonOf(waits), ended.type, paid.length]).toEqual([
        when,
        expect.stringMatching(/storage|completed/),
        'completed',
        1,
      ]);
    }
  });

  it('waits where the end of the run below could not be written down, and leaves none open', async () => {
    const stage = setDisk();
    const a = member(['A', 'A']);
    const made = flow('a', { agents: { a: a.agent }, ...stage.world });
    // The answer and the end are one write.
    stage.break(({ verb, runId: of }) => verb === 'append' && of === child);
    const waits = await stage.run(made);
    expect(reasonOf(waits)).toBe('storage');
    const ended = await stage.resume(made);
    expect([ended.type, await stage.statuses(), a.model.calls.length]).toEqual([
      'completed',
      { [runId]: 'completed', [child]: 'completed' },
      2,
    ]);
  });

  it('passes the whole conversation on where it could not be read at first', async () => {
    const stage = setDisk();
    const a = member([{ toolCalls: [{ name: 'hand_off', arguments: { to: 'b', reason: 'Money.' } }] }]);
    const b = member(['B']);
    const made = handOff({ agents: { a: a.agent, b: b.agent }, start: 'a', ...stage.world });
    let looks = 0;
    stage.break(({ verb, runId: of }) => verb === 'create' && of === `${runId}/0-a` && ++looks === 2);
    const waits = await stage.run(made, { input: 'Where is my money?' });
    expect([reasonOf(waits), b.model.calls.length]).toEqual(['storage', 0]);
    const ended = await stage.resume(made);
    expect(ended.type).toBe('completed');
    const [shown] = b.model.calls.map(({ request }) => JSON.stringify(request.messages));
    expect(shown).toContain('Where is my money?');
  });

  it('takes what is lost for good for a failure', async () => {
    const stage = setDisk();
    const { made } = paying(stage);
    await stage.run(made);
    stage.store.damage(child, { type: 'event-changed', seq: 2 });
    const ended = await stage.resume(made, { answer: true });
    expect(ended.type === 'failed' && ended.failure.code).toBe('STORAGE_CORRUPT');
  });
});

describe('a signal that is aborted while a run is taken from its record', () => {
  const moments = Array.from({ length: 20 }, (_, count) => ({ count }));
  const waiting = async (): Promise<{ readonly make: (stage: Stage) => Agent; readonly second: Stage }> => {
    const first = setStage();
    const { tool } = countingTool('pay', { permission: 'ask' });
    const make = ({ world }: Stage): Agent => member(pays, { tools: [tool], ...world }).agent;
    await first.run(make(first));
    return { make, second: first.die() };
  };
  const abortAfter = async (controller: AbortController, count: number): Promise<void> => {
    for (let moment = 0; moment < count; moment += 1) await Promise.resolve();
    controller.abort();
  };

  it.each(moments)(
    'cancels a resumed run on record, so that the same end is found again: $count moments after it began',
    async ({ count }) => {
      const { make, second } = await waiting();
      const controller = new AbortController();
      const resumed = second.resume(make(second), { signal: controller.signal });
      await abortAfter(controller, count);
      const ended = await resumed;
      const third = second.die();
      const again = await third.run(make(third));
      expect(ended.type).toBe('cancelled');
      expect(again).toEqual(ended);
    },
  );

  it.each(moments)(
    'ends only the wait of a caller that joins by name, and the run waits on: $count moments after it began',
    async ({ count }) => {
      const { make, second } = await waiting();
      const controller = new AbortController();
      const joined = second.run(make(second), { signal: controller.signal });
      await Promise.all([
        expect(joined).rejects.toMatchObject({ code: 'CANCELLED' }),
        abortAfter(controller, count),
      ]);
      const third = second.die();
      expect(await third.run(make(third))).toMatchObject({ type: 'suspended', reason: 'approval' });
    },
  );
});
