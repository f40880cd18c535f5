import { describe, expect, it } from 'vitest';
import type { Json } from '../../base/json.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import type { DurableProgram, RunStatus } from '../record/durable.ts';
import type { JournalEntry, RunSnapshot } from '../record/journal.ts';
import { createMemoryEngine } from '../record/memory-engine.ts';
import { withMovedRuns } from './moved-run.ts';
import type { MovedRun } from './moved-run.ts';

/** What became of a moved run, with what was performed here and when it was over. */
interface Ended {
  readonly status: RunStatus;
  readonly performed: readonly Json[];
  readonly tookMs: number;
}

const called = (position: number, input: string): JournalEntry => ({
  type: 'call',
  position,
  effect: 'echo',
  input,
  outcome: { type: 'done', value: `recorded ${input}` },
});

async function move(
  program: DurableProgram,
  journal: readonly JournalEntry[],
  more: Partial<RunSnapshot> = {},
): Promise<Ended> {
  const clock = simulatedClock();
  const performed: Json[] = [];
  const engine = createMemoryEngine({
    program: withMovedRuns(program),
    effects: {
      echo: (input) => {
        performed.push(input);
        return { type: 'done', value: `performed ${JSON.stringify(input)}` };
      },
    },
    clock,
    checkJson: true,
    isVolatile: false,
  });
  const startedMs = clock.wallMs();
  const record: RunSnapshot = {
    runId: 'run',
    version: '1',
    generation: 3,
    input: 'lamp',
    journal,
    signals: [],
    signalIds: [],
    ...more,
  };
  const moved: MovedRun = { type: 'moved', record, movedAtMs: startedMs };
  await engine.start(moved as unknown as Json, { runId: 'run', version: '1' }); // A record is JSON.
  const status = await clock.runUntil(engine.whenEnded('run'));
  return { status, performed, tookMs: clock.wallMs() - startedMs };
}

const valueOf = async (durable: Parameters<DurableProgram>[0], input: Json): Promise<Json> => {
  const outcome = await durable.call('echo', input);
  return outcome.type === 'done' ? outcome.value : outcome.failure.code;
};

describe('a run that began elsewhere', () => {
  it('is refused where the program does something else, and nothing is done', async () => {
    const { status, performed } = await move((durable) => valueOf(durable, 'b'), [called(0, 'a')]);
    expect(status).toMatchObject({ type: 'broken', failure: { code: 'INVALID_STATE' } });
    expect(JSON.stringify(status)).toMatch(/generation 3.*echo.*a.*but the program now makes.*b/s);
    expect(performed).toEqual([]);
  });

  it('is refused where the program begins its next generation before its record is over', async () => {
    const program: DurableProgram = async (durable) => {
      await valueOf(durable, 'a');
      return durable.restart('next');
    };
    const { status, performed } = await move(program, [called(0, 'a'), called(1, 'b')]);
    expect(JSON.stringify(status)).toContain('1 further steps');
    expect(performed).toEqual([]);
  });

  it('is given its own input, and what is on record is not done again', async () => {
    const program: DurableProgram = async (durable, input) => [
      input,
      await valueOf(durable, 'a'),
      await valueOf(durable, 'b'),
    ];
    const { status, performed } = await move(program, [called(0, 'a')]);
    expect(status).toMatchObject({ type: 'ended', result: ['lamp', 'recorded a', 'performed "b"'] });
    expect(performed).toEqual(['b']);
  });

  it('does what is missing between calls side by side, and only that', async () => {
    const program: DurableProgram = (durable) =>
      Promise.all(['a', 'b', 'c'].map((input) => valueOf(durable, input)));
    const { status, performed } = await move(program, [called(0, 'a'), called(2, 'c')]);
    expect(status).toMatchObject({ type: 'ended', result: ['recorded a', 'performed "b"', 'recorded c'] });
    expect(performed).toEqual(['b']);
  });

  it.each([
    { name: 'a sleep that was over', isOver: true, dueInMs: -5, tookMs: 0 },
    { name: 'the rest of a sleep', isOver: false, dueInMs: 400, tookMs: 400 },
    { name: 'nothing of a sleep that was due meanwhile', isOver: false, dueInMs: -400, tookMs: 0 },
  ])('sleeps $name', async ({ isOver, dueInMs, tookMs }) => {
    const dueAtMs = simulatedClock().wallMs() + dueInMs;
    const program: DurableProgram = async (durable) => {
      await durable.sleep(1000);
      return 'awake';
    };
    const ended = await move(program, [{ type: 'sleep', position: 0, delayMs: 1000, dueAtMs, isOver }]);
    expect(ended).toMatchObject({ status: { type: 'ended', result: 'awake' }, tookMs });
  });

  it('waits for the rest of its time, and takes what was signalled before as it was', async () => {
    const dueAtMs = simulatedClock().wallMs() + 300;
    const signalled = { type: 'signalled', id: 'one', payload: 'yes' } as const;
    const program: DurableProgram = async (durable) => [
      await durable.waitFor('word'),
      (await durable.waitFor('word', { timeoutMs: 1000 })).type,
    ];
    const { status, tookMs } = await move(program, [
      { type: 'wait', position: 0, signal: 'word', signalled },
      { type: 'wait', position: 1, signal: 'word', timeoutMs: 1000, dueAtMs },
    ]);
    expect(status).toMatchObject({ type: 'ended', result: [signalled, 'timed-out'] });
    expect(tookMs).toBe(300);
  });

  it('is cancelled where its record ends, if it was cancelled there', async () => {
    const program: DurableProgram = async (durable) => {
      const first = await valueOf(durable, 'a');
      return valueOf(durable, 'b').then(
        (second) => [first, second],
        () => [first, 'cancelled'],
      );
    };
    const { status, performed } = await move(program, [called(0, 'a')], { cancelReason: 'it moves' });
    expect(status).toMatchObject({ type: 'ended', result: ['recorded a', 'cancelled'] });
    expect(performed).toEqual([]);
  });

  it('knows what is on record where it stands', async () => {
    const seen: Json[] = [];
    const look = (durable: Parameters<DurableProgram>[0]): void =>
      void seen.push([durable.isReplaying?.() ?? null, durable.upcoming?.()?.type ?? null]);
    const program: DurableProgram = async (durable) => {
      look(durable);
      await valueOf(durable, 'a');
      look(durable);
      return valueOf(durable, 'b');
    };
    await move(program, [called(0, 'a')]);
    expect(seen).toEqual([
      [true, 'call'],
      [false, null],
    ]);
  });
});
