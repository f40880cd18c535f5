import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { temporal } from '../../../src/engines/temporal/temporal.ts';
import { replayHistory } from '../../../src/engines/temporal/replay.ts';
import type { Effect } from '../../../src/runtime/record/durable.ts';
import { createAgent } from '../../../src/runtime/create-agent.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { tool } from '../../../src/tools/tool.ts';
import { openProgram, testBundle } from './backend.ts';
import { bundleForTemporal } from './bundle.ts';
import type { BundledWorkflow } from './bundle.ts';
import { exportHistory } from './export-history.ts';
import { installTemporal } from './find-temporal.ts';
import { startServer } from './server/start-server.ts';
import type { History, SimulatedServer } from './server/start-server.ts';

// Histories are generated: the real worker does its work, and a simulated server writes down what Temporal would. Then the real
// replayer must come to the same commands from the history alone, and must refuse every history that is another program's.

let server: SimulatedServer;
let own: BundledWorkflow;
let tests: BundledWorkflow;
const folder = installTemporal();
const histories = new Map<string, readonly History[]>();

beforeAll(async () => {
  own = await bundleForTemporal(folder);
  tests = await bundleForTemporal(folder, testBundle);
  server = await startServer(folder);
  histories.set('agent', await agentHistories());
  histories.set('programs', await programHistories());
  // Once in a while, for examples/temporal: RERAIL_WRITE_HISTORY=examples/temporal/history.json npx vitest run test/engines/temporal/replay
  const file = process.env['RERAIL_WRITE_HISTORY'];
  if (file !== undefined)
    writeFileSync(file, JSON.stringify(exportHistory(folder, historyOf('agent')), null, 2));
}, 240_000);
afterAll(() => {
  server.close();
});

const options = () => ({ address: server.address, packagesFrom: folder, limits: { cancelGraceMs: 300 } });

/** A model call, one that is tried again after a pause, a tool, a question to a person, its answer. */
async function agentHistories(): Promise<readonly History[]> {
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    permission: 'ask',
    execute: () => 'paid',
  });
  const steps = [
    { toolCalls: [{ name: 'pay', arguments: { to: 'Ann' } }] },
    { failure: 'OVERLOADED' },
    'Ann is paid.',
  ] as const;
  const agent = createAgent({
    name: 'replayed',
    model: scriptedModel(steps),
    tools: [pay],
    policy: { retry: { baseDelayMs: 10 } },
    engine: temporal({ ...options(), workflowBundle: { code: own.code } }),
  });
  await agent.run('Pay Ann', { runId: 'run' });
  expect(await agent.resume('run', { answer: { approved: true } })).toMatchObject({ text: 'Ann is paid.' });
  await agent.close();
  return server.historiesOf('rerail:replayed:run');
}

/** Calls beside each other, timers, a timeout, a signal, and a generation after another. */
async function programHistories(): Promise<readonly History[]> {
  const name = `replayed-${randomUUID()}`;
  const effects = { effect: () => ({ type: 'done', value: 'x' }) as const };
  const engine = await openProgram(
    { ...options(), workflowBundle: { code: tests.code } },
    { name, facts: { program: 'everything' }, effects },
  );
  await engine.start(null, { runId: 'run', version: '1' });
  const shows = (wanted: object): Promise<void> =>
    vi.waitFor(async () => expect(await engine.status('run')).toMatchObject(wanted), { timeout: 20_000 });
  await shows({ signal: 'go' });
  await engine.signal('run', 'go', { id: 'go-1', payload: null });
  await shows({ result: 'all done' });
  await engine.close();
  return server.historiesOf(`rerail:${name}:run`);
}

/** Cancelled while two calls are under way beside each other, after two others. */
async function cancelledHistory(): Promise<History> {
  const name = `cancelled-${randomUUID()}`;
  let underWay = 0;
  const effect: Effect = (input, { signal }) => {
    if (Number(input) < 3) return { type: 'done', value: input };
    underWay += 1;
    return new Promise((resolve) =>
      signal.addEventListener('abort', () => resolve({ type: 'done', value: 'stopped' })),
    );
  };
  const engine = await openProgram(
    { ...options(), workflowBundle: { code: tests.code } },
    { name, facts: { program: 'pairs' }, effects: { effect } },
  );
  await engine.start(null, { runId: 'run', version: '1' });
  await vi.waitFor(() => expect(underWay).toBe(2), { timeout: 20_000 });
  await engine.cancel('run', 'enough');
  await vi.waitFor(async () => expect((await engine.status('run')).type).not.toBe('running'), {
    timeout: 20_000,
  });
  await engine.close();
  const [history] = server.historiesOf(`rerail:${name}:run`);
  if (history === undefined) throw new Error('No history was generated');
  return history;
}

/** As somebody has exported it: JSON, and copied before it is changed. */
function historyOf(kind: string, index = 0): History {
  const history = histories.get(kind)?.[index];
  if (history === undefined) throw new Error(`No history of ${kind} was generated`);
  return structuredClone(history);
}

function replay(kind: string, history: History): Promise<void> {
  const code = kind === 'agent' ? own.code : tests.code;
  return replayHistory(exportHistory(folder, history), { packagesFrom: folder, workflowBundle: { code } });
}

/** Changes the one text that fits, in every event: what an event says as bytes is JSON. */
function changed(history: History, [before, after]: readonly [string | RegExp, string]): History {
  let count = 0;
  const changeText = (text: string): string => {
    const next = text.replace(before, after);
    if (next !== text) count += 1;
    return next;
  };
  const change = (value: unknown): unknown => {
    if (value instanceof Uint8Array) return Buffer.from(changeText(Buffer.from(value).toString()));
    if (typeof value === 'string') return changeText(value);
    if (Array.isArray(value)) return value.map(change);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member)]));
  };
  const result = change(history) as History;
  if (count === 0) throw new Error(`The history does not say "${String(before)}"`);
  return result;
}

describe('the replay of generated histories by Temporal’s own replayer', { timeout: 60_000 }, () => {
  it('has histories with everything in them', () => {
    const types = ['agent', 'programs'].flatMap((kind) =>
      (histories.get(kind) ?? []).flatMap(({ events }) => events.map(({ eventType }) => eventType)),
    );
    for (const type of [
      'ACTIVITY_TASK_COMPLETED',
      'TIMER_STARTED',
      'TIMER_FIRED',
      'TIMER_CANCELED',
      'WORKFLOW_EXECUTION_SIGNALED',
      'WORKFLOW_EXECUTION_CONTINUED_AS_NEW',
      'WORKFLOW_EXECUTION_COMPLETED',
    ])
      expect(types).toContain(`EVENT_TYPE_${type}`);
  });

  it.each([
    ['of an agent', 'agent', 0],
    ['of a program up to its next generation', 'programs', 0],
    ['of the generation after it', 'programs', 1],
  ] as const)('accepts the history %s', async (_words, kind, index) => {
    await expect(replay(kind, historyOf(kind, index))).resolves.toBeUndefined();
  });

  it('accepts it with the one file that is published, which is bundled with the SDK at hand', async () => {
    const history = exportHistory(folder, historyOf('agent'));
    const replaying = replayHistory(history, { packagesFrom: folder, workflowsPath: own.file });
    await expect(replaying).resolves.toBeUndefined();
  });

  it('accepts the history of an agent that an earlier version has carried', async () => {
    const history: unknown = JSON.parse(readFileSync('examples/temporal/history.json', 'utf8'));
    const replaying = replayHistory(history, { packagesFrom: folder, workflowBundle: { code: own.code } });
    await expect(replaying).resolves.toBeUndefined();
  });

  it.each(['ACTIVITY_TASK_COMPLETED', 'TIMER_FIRED', 'WORKFLOW_EXECUTION_SIGNALED'])(
    'accepts a history that ends after its first %s: the run is under way',
    async (type) => {
      const { events } = historyOf('programs');
      const first = events.findIndex(({ eventType }) => eventType === `EVENT_TYPE_${type}`);
      const started = events.findIndex(
        ({ eventType }, index) => index > first && eventType === 'EVENT_TYPE_WORKFLOW_TASK_STARTED',
      );
      await expect(replay('programs', { events: events.slice(0, started + 1) })).resolves.toBeUndefined();
    },
  );

  it.each([
    ['another program', 'programs', ['"program":"everything"', '"program":"steps"']],
    ['another effect', 'agent', [':tool:', ':tools:']],
    ['another input of an effect', 'programs', [/^0:effect:\d/, '0:effect:0']],
    ['another state after the restart', 'programs', ['"input":"again"', '"input":"once more"']],
    ['a tool that asks nobody', 'agent', ['"permission":"ask"', '"permission":"allow"']],
  ] as const)('refuses the history of %s', async (_words, kind, change) => {
    const index = String(change[0]).includes('again') ? 1 : 0;
    const history = changed(historyOf(kind, index), change);
    // What the workflow asked for stands in the history as the id of the activity, with a digest of the input.
    await expect(replay(kind, history)).rejects.toMatchObject({ code: 'INVALID_STATE' });
  });

  it('accepts the history of a run that was cancelled: just the calls under way were, although they take over the scopes of others', async () => {
    const { events } = await cancelledHistory();
    const idsOf = (type: string): readonly number[] =>
      events.flatMap((event) => {
        const { scheduledEventId } = (event['activityTaskCancelRequestedEventAttributes'] ?? event) as {
          readonly scheduledEventId?: number;
        };
        return event.eventType === `EVENT_TYPE_${type}` ? [scheduledEventId ?? event.eventId] : [];
      });
    const scheduled = idsOf('ACTIVITY_TASK_SCHEDULED');
    expect(scheduled).toHaveLength(4);
    expect(idsOf('ACTIVITY_TASK_CANCEL_REQUESTED')).toEqual(scheduled.slice(2));
    await expect(replay('programs', { events })).resolves.toBeUndefined();
  });

  it('refuses a history from which a step was taken', async () => {
    const { events } = historyOf('agent');
    const scheduled = events.filter(({ eventType }) => eventType === 'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED');
    const second = scheduled[1]?.eventId ?? 0;
    const attributes = events[second - 1]?.['activityTaskScheduledEventAttributes'] as { activityId: string };
    attributes.activityId = `9${attributes.activityId}`;
    await expect(replay('agent', { events })).rejects.toThrow(/something else than its history holds/);
  });
});
