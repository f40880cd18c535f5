import { describe, expect, it } from 'vitest';
import type { RunOutcome } from '../../src/index.ts';
import type { Json } from '../../src/base/json.ts';
import { RerailError } from '../../src/errors/index.ts';
import type { StoredEvent } from '../../src/model/store/store.ts';
import { exportRun } from '../../src/runtime/transfer/export-run.ts';
import { replayRun } from '../../src/runtime/transfer/replay-run.ts';
import type { ReplaySource, ReplayStep } from '../../src/runtime/transfer/replay-run.ts';
import { chainEvents, checksumOf } from '../../src/runtime/transfer/run-bundle.ts';
import { seededRandom } from '../../src/testing/index.ts';
import type { ScriptStep } from '../../src/testing/index.ts';
import { scenarios } from '../golden/scenarios.ts';
import { call, createWorld, look, pay, payOnce, runId } from '../golden/world.ts';
import type { Lived } from '../golden/world.ts';

async function stepsOf(source: ReplaySource, to?: number): Promise<readonly ReplayStep[]> {
  const steps: ReplayStep[] = [];
  for await (const step of replayRun(source, to === undefined ? {} : { to })) steps.push(step);
  return steps;
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => 'no error',
    (reason: unknown) => reason,
  );
  return RerailError.isInstance(error) ? error.failure.code : String(error);
}

/** A bundle of a run with something else in its events, hashed anew. */
async function forged(change: (events: Json[]) => void): Promise<string> {
  const world = createWorld();
  await world.run(world.agent([call('look', { at: 1 }), 'Found.'], { tools: [look()] }));
  const bundle = JSON.parse(await exportRun(world.store, runId)) as {
    events: (StoredEvent & { body: Json })[];
  };
  const bodies = bundle.events.map(({ body }) => body);
  change(bodies);
  const events = chainEvents(
    runId,
    bundle.events.map((event, index) => ({ ...event, body: bodies[index] ?? null })),
  );
  const whole = { ...bundle, events };
  return JSON.stringify({ ...whole, checksum: checksumOf(whole) });
}

/** A run of random answers, failures and calls, whose process dies at a random write, until somebody has its outcome. */
async function randomLife(seed: number): Promise<Lived> {
  const random = seededRandom(seed);
  const world = createWorld();
  const tools = [look(), pay({ verify: () => ({ happened: random() < 0.5, result: 'it was' }) })];
  const next: ScriptStep = () => {
    const drawn = random();
    if (drawn < 0.15) return { failure: 'OVERLOADED' };
    if (drawn < 0.2) return { brokenAfter: 'Half of ' };
    if (drawn < 0.25) return 'Done.';
    const toolCalls = Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({
      name: random() < 0.5 ? 'look' : 'pay',
      arguments: { at: Math.floor(random() * 100) },
    }));
    return { toolCalls };
  };
  for (let life = 0; life < 20; life += 1) {
    const dieAt = life === 19 ? Infinity : 3 + Math.floor(random() * 20);
    let writes = 0;
    const handle = world.store.reopen({
      faults: {
        after: ({ verb }) => {
          if (verb === 'append' || verb === 'create') writes += 1;
          if (writes === dieAt) handle.kill();
          return undefined;
        },
      },
    });
    const script = Array.from({ length: 200 }, () => next);
    const agent = world.agent(script, { tools }, handle);
    const running = life === 0 ? agent.run('Go on', { runId }) : agent.resume(runId);
    let outcome: RunOutcome | undefined;
    void running.then((ended) => (outcome = ended));
    await world.clock.runAll();
    if (outcome !== undefined) return { store: world.store, runId, outcome };
  }
  throw new Error('The last life has no end');
}

describe('replayRun() refuses', () => {
  it.each<{ what: string; code: string; change: (bodies: Json[]) => void }>([
    {
      what: 'another effect than the driver asks for',
      code: 'INVALID_STATE',
      change: (bodies) => (bodies[1] = { ...Object(bodies[1]), effect: 'tool' } as Json),
    },
    {
      what: 'another turn than the driver is at',
      code: 'INVALID_STATE',
      change: (bodies) => (bodies[1] = { ...Object(bodies[1]), input: { turn: 7 } } as Json),
    },
    {
      what: 'an entry at a place that the driver never comes to',
      code: 'INVALID_STATE',
      change: (bodies) => (bodies[3] = { ...Object(bodies[3]), position: 17 } as Json),
    },
    {
      what: 'another end than the machine comes to',
      code: 'STORAGE_CORRUPT',
      change: (bodies) => (bodies[4] = { status: 'stopped' }),
    },
    {
      what: 'a beginning without configuration',
      code: 'STORAGE_CORRUPT',
      change: (bodies) => (bodies[0] = { version: '1', generation: 1, input: { type: 'start' } }),
    },
    {
      what: 'a beginning that somebody has made up',
      code: 'STORAGE_CORRUPT',
      change: (bodies) =>
        (bodies[0] = {
          version: '1',
          generation: 1,
          input: { type: 'carry-on', state: { config: { limits: {}, tools: {} } } },
        }),
    },
  ])('$what', async ({ change, code }) => {
    const bundle = await forged(change);
    expect(await codeOf(stepsOf({ bundle }))).toBe(code);
  });

  it('an event that is none, and a run that is not there', async () => {
    const { store } = createWorld();
    expect(await codeOf(stepsOf({ store, runId: 'nobody' }))).toBe('STORAGE_NOT_FOUND');
    expect(await codeOf(stepsOf({ store, runId: 'nobody' }, 0))).toBe('CONFIG_ERROR');
  });
});

describe('replayRun()', () => {
  it('tells what happened at every event, and what the machine told', async () => {
    const world = createWorld();
    const script: readonly ScriptStep[] = [{ failure: 'OVERLOADED' }, call('pay', { cents: 5 }), 'Paid.'];
    await world.run(world.agent(script, { tools: [pay()] }));
    const steps = await stepsOf({ store: world.store, runId });
    expect(steps.map(({ text }) => text)).toEqual([
      'The run started.',
      'Attempt 1 at the model failed: OVERLOADED.',
      'A wait of 808 ms started.',
      'The wait of 808 ms was over.',
      'The model called one tool.',
      'It was recorded that calls follow which must not happen twice.',
      'The tool "pay" ended: ok.',
      'The model answered.',
      'The run ended: completed.',
    ]);
    expect(steps.map(({ phase, turn }) => `${phase} ${turn}`)).toEqual([
      'calling-model 1',
      'waiting 1',
      'waiting 1',
      'calling-model 1',
      'running-tools 1',
      'running-tools 1',
      'calling-model 2',
      'ended 2',
      'ended 2',
    ]);
    const told = steps.map(({ events }) => events.map(({ type }) => type).join(' '));
    expect(told[0]).toBe('run-started turn-started');
    expect(told[1]).toContain('recovery');
    expect(told[6]).toContain('turn-started');
    const requests = steps.map(({ usage }) => usage.requests);
    expect(requests).toEqual([0, 1, 1, 1, 2, 2, 2, 3, 3]);
    expect(steps.map(({ outcome }) => outcome?.type)).toEqual([
      ...Array.from({ length: 7 }, () => undefined),
      'completed',
      'completed',
    ]);
  });

  it('stops after the event that it was told', async () => {
    const world = createWorld();
    await world.run(world.agent([call('look', { at: 1 }), 'Found.'], { tools: [look()] }));
    const all = await stepsOf({ store: world.store, runId });
    for (let to = 1; to <= all.length; to += 1)
      expect(await stepsOf({ store: world.store, runId }, to)).toEqual(all.slice(0, to));
  });

  it('shows a run that is in the middle of something, and writes nothing', async () => {
    const world = createWorld();
    const handle = world.store.reopen();
    const dying = pay({ onPaid: () => handle.kill() });
    void world.agent([payOnce], { tools: [dying] }, handle).run('Pay', { runId });
    await world.clock.runAll();
    const before = await world.store.runs.find(runId);
    const last = (await stepsOf({ store: world.store, runId })).at(-1);
    expect(last).toMatchObject({ phase: 'running-tools', turn: 1 });
    expect(last?.outcome).toBeUndefined();
    expect(await world.store.runs.find(runId)).toEqual(before);
  });
  it.each(Array.from({ length: 40 }, (_, index) => ({ seed: index + 1 })))(
    'comes to the outcome of a run whose process died now and then: seed $seed',
    async ({ seed }) => {
      const { store, outcome } = await randomLife(seed);
      const steps = await stepsOf({ store, runId });
      expect(steps.at(-1)?.outcome).toEqual(outcome);
    },
  );

  it.each(scenarios)('comes to the outcome of the live run: $name', async ({ live }) => {
    const { store, outcome } = await live();
    const steps = await stepsOf({ store, runId });
    expect(steps.at(-1)?.outcome).toEqual(outcome);
    const row = await store.runs.find(runId);
    expect(steps.map(({ seq }) => seq)).toEqual(Array.from({ length: row?.headSeq ?? 0 }, (_, at) => at + 1));
    const bundled = await stepsOf({ bundle: await exportRun(store, runId) });
    expect(bundled.at(-1)?.outcome).toEqual(outcome);
  });
});
