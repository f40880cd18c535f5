import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAgent, createFailure } from '../../src/index.ts';
import type {
  AgentOptions,
  Model,
  RunEvent,
  RunOutcome,
  StopReason,
  SuspendReason,
  RunAnswer,
  Tool,
} from '../../src/index.ts';
import type { RecoveryName } from '../../src/agent/turn/recovery.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { seededRandom, simulatedClock } from '../../src/testing/index.ts';
import type { ScriptStep, SimulatedClock } from '../../src/testing/index.ts';
import { asPool } from '../../src/model/key-pool.ts';
import { calling, eventsOf, plainTool, watchedModel, watchEverything } from './scene.ts';

watchEverything();

// Whatever is declared is reached: each event, each recovery, each reason to stop and to wait has a run in which it occurs. The
// compiler asks for a row where something new is declared.

interface Play {
  readonly script: Parameters<typeof watchedModel>[0];
  /** A second model, to fall back on. */
  readonly second?: readonly ScriptStep[];
  /** What the first model says when it is asked with another key. */
  readonly nextKey?: readonly ScriptStep[];
  readonly options?: Omit<Partial<AgentOptions>, 'output'>;
  readonly output?: AgentOptions<z.ZodType>['output'];
  readonly tools?: (clock: SimulatedClock) => readonly Tool[];
  readonly input?: Parameters<ReturnType<typeof createAgent>['run']>[0];
  /** What is done while it runs. */
  readonly meanwhile?: (clock: SimulatedClock, agent: ReturnType<typeof createAgent>) => void;
  readonly answer?: RunAnswer | undefined;
}

interface Played {
  readonly outcome: RunOutcome;
  readonly events: readonly RunEvent[];
}

const wait = (clock: SimulatedClock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.after(ms, resolve));
const hang = (): Promise<never> => new Promise(() => undefined);
const hour = 3_600_000;

async function play({
  script,
  second,
  nextKey,
  options,
  output,
  tools,
  input,
  meanwhile,
  answer,
}: Play): Promise<Played> {
  const clock = simulatedClock();
  const events: RunEvent[] = [];
  const keys = nextKey === undefined ? [] : [watchedModel(nextKey, { quotaKey: 'another key' })];
  const first: Model = asPool(watchedModel(script) as Model, keys);
  const models: readonly Model[] =
    second === undefined ? [first] : [first, watchedModel(second, { provider: 'second' })];
  const agent = createAgent({
    random: seededRandom(7),
    gates: createGates({ clock }),
    ...options,
    ...(output === undefined ? {} : { output: output as never }),
    tools: tools?.(clock) ?? [],
    model: models,
    clock,
    callbacks: { onEvent: (event) => void events.push(event), ...options?.callbacks },
  });
  const running = agent.run(input ?? 'Do it.', { runId: 'run-1' });
  meanwhile?.(clock, agent);
  const before = await clock.runUntil(running);
  const outcome = answer === undefined ? before : await clock.runUntil(agent.resume('run-1', { answer }));
  return { outcome, events };
}

const failing = (code: 'SERVER_ERROR', retryable: boolean): Tool =>
  plainTool({
    name: 'down',
    effect: 'read',
    execute: (_input, { fail }) => fail('down', { code, retryable }),
  });

const plays = {
  plain: { script: [{ text: 'Fine.', reasoning: { text: 'Let me think.' } }] },
  retried: { script: [{ failure: 'OVERLOADED' }, 'Fine.'] },
  splicedText: {
    script: [{ brokenAfter: 'The first half of a sentence that is long enough ' }, 'and its end.'],
  },
  takenBack: {
    script: [{ failure: 'SERVER_ERROR', text: 'The first half of ' }, 'Something else.'],
  },
  nextKey: { script: [{ failure: 'QUOTA_EXCEEDED' }], nextKey: ['Fine.'] },
  fallenBack: { script: [{ failure: 'QUOTA_EXCEEDED' }], second: ['Fine.'] },
  worked: {
    script: [calling('work'), 'Fine.'],
    tools: () => [
      plainTool({
        name: 'work',
        execute: (_input, { progress }) => {
          progress('half');
          return 'done';
        },
      }),
    ],
  },
  changedProcess: {
    script: [calling('set'), 'Fine.'],
    tools: () => [
      plainTool({
        name: 'set',
        execute: () => {
          process.env['RERAIL_TEST_OF_EVENTS'] = String(Math.random());
          return 'done';
        },
      }),
    ],
  },
  late: {
    script: [calling('slow'), 'Fine.'],
    tools: (clock) => [
      plainTool({
        name: 'slow',
        timeoutMs: 100,
        execute: () => wait(clock, 150),
        verify: async () => {
          await wait(clock, 90);
          return { happened: true };
        },
      }),
    ],
  },
  repairedCall: {
    script: [{ toolCalls: [{ name: 'look', argumentsText: '{"a": 1,}' }] }, 'Fine.'],
    tools: () => [plainTool({ name: 'look', effect: 'read', execute: () => 'seen' })],
  },
  outage: {
    script: (_request: unknown, index: number) => (index < 14 ? { failure: 'SERVER_ERROR' } : 'Fine.'),
    options: { policy: { retry: 'patient' } },
  },
  breaker: {
    script: [
      ...[1, 2, 3, 4, 5].map((time) => calling('down', { time })),
      calling('pause'),
      calling('pause', { again: true }),
      'Fine.',
    ],
    tools: (clock) => [
      failing('SERVER_ERROR', false),
      plainTool({
        name: 'pause',
        effect: 'read',
        execute: () => wait(clock, 20_000).then(() => clock.wallMs()),
      }),
    ],
  },
  brokenHistory: {
    script: ['Fine.'],
    input: [
      { role: 'user', content: 'Look.' },
      { role: 'tool', content: [{ type: 'tool-result', callId: 'a', name: 'look', content: 'seen' }] },
      { role: 'user', content: 'And?' },
    ],
  },
  tooLong: {
    script: [
      calling('read', { part: 1 }),
      calling('read', { part: 2 }),
      { failure: 'CONTEXT_LENGTH_EXCEEDED' },
      'Fine.',
    ],
    input: Array.from({ length: 21 }, (_, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: 'word '.repeat(2000),
    })),
    tools: () => [plainTool({ name: 'read', effect: 'read', execute: () => 'text '.repeat(2000) })],
  },
  injected: {
    script: [{ text: 'Blue.', delayMs: 1000 }, 'Red.'],
    meanwhile: (clock, agent) => void clock.after(500, () => void agent.inject('run-1', 'Red.')),
  },
  limited: {
    script: [calling('look'), 'What there is.'],
    options: { limits: { maxTurns: 1 } },
    tools: () => [plainTool({ name: 'look', effect: 'read', execute: () => 'seen' })],
  },
  asked: {
    script: [calling('pay'), 'Fine.'],
    tools: () => [plainTool({ name: 'pay', permission: 'ask', execute: () => 'paid' })],
    answer: true,
  },
  brokenHook: {
    script: ['Fine.'],
    options: {
      hooks: [
        {
          name: 'broken',
          kind: 'observer',
          on: {
            'before-model': () => {
              throw new Error('broken');
            },
          },
        },
      ],
    },
  },
  gaveUp: { script: [{ failure: 'INVALID_REQUEST' }] },
  nudged: { script: [{ text: '' }, 'Fine.'], options: { policy: { retry: 'none' } } },
  continued: { script: [{ text: 'The first half ', finish: 'length' }, 'and the second.'] },
  reasked: { script: ['No JSON.', '{"a":1}'], output: z.object({ a: z.number() }) },
  told: {
    script: [calling('nobody'), 'Fine.'],
    tools: () => [plainTool({ name: 'look', execute: () => 'seen' })],
  },
  looped: {
    script: (_request: unknown, index: number) => (index < 6 ? calling('look') : 'Fine.'),
    tools: () => [plainTool({ name: 'look', effect: 'read', execute: () => 'seen' })],
  },
  doubtful: {
    script: [calling('deaf'), 'Fine.'],
    tools: () => [
      plainTool({ name: 'deaf', timeoutMs: 100, execute: hang, verify: () => ({ happened: 'unknown' }) }),
    ],
    answer: 'happened',
  },
  noCredit: { script: [{ failure: 'QUOTA_EXCEEDED' }] },
  noKey: { script: [{ failure: 'AUTHENTICATION_ERROR' }] },
  longWait: {
    script: [
      {
        failure: createFailure('RATE_LIMITED', {
          origin: 'model',
          message: 'wait',
          retryable: true,
          retryAfterMs: hour,
        }),
      },
    ],
  },
  refused: { script: [{ failure: 'CONTENT_FILTERED' }] },
  explained: {
    script: [
      calling('burn'),
      '{"summary": "It failed.", "claims": [{ "text": "It failed.", "facts": [1] }], "nextSteps": []}',
    ],
    tools: () => [
      plainTool({
        name: 'burn',
        onError: 'abort',
        execute: () => {
          throw new Error('on fire');
        },
      }),
    ],
    options: { explain: 'auto' },
  },
  endlessLoop: {
    script: () => calling('look'),
    tools: () => [plainTool({ name: 'look', effect: 'read', execute: () => 'seen' })],
  },
  overBudget: {
    script: [calling('look'), 'Never.'],
    options: { limits: { maxTokens: 15 } },
    tools: () => [plainTool({ name: 'look', effect: 'read', execute: () => 'seen' })],
  },
  overdue: { script: [{ text: 'late', delayMs: hour }], options: { limits: { timeoutMs: 1000 } } },
  rejected: {
    script: (_request: unknown, index: number) => calling('pay', { cents: index }),
    tools: () => [plainTool({ name: 'pay', permission: 'ask', execute: () => 'paid' })],
    options: { callbacks: { onApproval: () => false } },
  },
  guarded: {
    script: [],
    options: {
      hooks: [
        { name: 'no', kind: 'guardrail', on: { 'before-model': () => ({ action: 'halt', reason: 'no' }) } },
      ],
    },
  },
} satisfies Readonly<Record<string, Play>>;

type Name = keyof typeof plays;

/** Those that need a store are reached in stores.test.ts, those of runs below in test/flow/rungs.test.ts, `events-dropped` in
 * sharing.test.ts, `request-noted` in test/wire. */
const byEvent: Readonly<
  Record<
    Exclude<
      RunEvent['type'],
      | 'agent-changed'
      | 'history-selected'
      | 'storage-failed'
      | 'storage-restored'
      | 'child-event'
      | 'events-dropped'
      | 'request-noted'
    >,
    Name
  >
> = {
  'run-started': 'plain',
  'run-resumed': 'asked',
  'turn-started': 'plain',
  'attempt-started': 'plain',
  'text-delta': 'plain',
  'text-retracted': 'takenBack',
  'reasoning-delta': 'plain',
  'tool-call-started': 'worked',
  'tool-call-delta': 'worked',
  'model-finished': 'plain',
  'tool-started': 'worked',
  'tool-progress': 'worked',
  'tool-finished': 'worked',
  'tool-late': 'late',
  'tool-warning': 'changedProcess',
  'arguments-repaired': 'repairedCall',
  failure: 'retried',
  recovery: 'retried',
  'breaker-changed': 'outage',
  'breaker-awaited': 'outage',
  'tool-withdrawn': 'breaker',
  'tool-restored': 'breaker',
  'history-repaired': 'brokenHistory',
  'history-compacted': 'tooLong',
  'messages-injected': 'injected',
  'limit-reached': 'limited',
  'approval-requested': 'asked',
  'approval-answered': 'asked',
  'hook-failed': 'brokenHook',
  'run-suspended': 'asked',
  explained: 'explained',
  'run-finished': 'plain',
};

/** With how the run ends that it was to save, or could not. Those of flows and plans are reached in test/flow/rungs.test.ts. */
const byRecovery: Readonly<
  Record<Exclude<RecoveryName, 'skip' | 'replan' | 'reclassify'>, readonly [Name, RunOutcome['type']]>
> = {
  retry: ['retried', 'completed'],
  splice: ['splicedText', 'completed'],
  'next-key': ['nextKey', 'completed'],
  'fall-back': ['fallenBack', 'completed'],
  nudge: ['nudged', 'completed'],
  continue: ['continued', 'completed'],
  're-ask': ['reasked', 'completed'],
  compact: ['tooLong', 'completed'],
  'tell-model': ['told', 'completed'],
  'withdraw-tool': ['looped', 'completed'],
  verify: ['late', 'completed'],
  'ask-person': ['doubtful', 'completed'],
  salvage: ['limited', 'stopped'],
  suspend: ['noCredit', 'suspended'],
  stop: ['refused', 'stopped'],
  fail: ['gaveUp', 'failed'],
};

const byStop: Readonly<Record<StopReason, Name>> = {
  'max-turns': 'limited',
  budget: 'overBudget',
  deadline: 'overdue',
  loop: 'endlessLoop',
  rejected: 'rejected',
  guardrail: 'guarded',
  refused: 'refused',
};

/** The other reasons need a store, or a plan: they are reached in stores.test.ts and in test/flow/plan-people.test.ts. */
const bySuspension: Readonly<Record<Exclude<SuspendReason, 'storage' | 'released' | 'clarification'>, Name>> =
  {
    approval: 'asked',
    'in-doubt': 'doubtful',
    'long-wait': 'longWait',
    credit: 'noCredit',
    credentials: 'noKey',
  };

const entries = <Key extends string, Value>(
  table: Readonly<Record<Key, Value>>,
): readonly (readonly [Key, Value])[] =>
  Object.entries(table) as unknown as readonly (readonly [Key, Value])[]; // Object.entries loses the key type.

describe('whatever is declared is reached', () => {
  it.each(entries(byEvent))('the event %s, in the play "%s"', async (type, name) => {
    const { events } = await play(plays[name]);
    expect(events.map((event) => event.type)).toContain(type);
  });

  it.each(entries(byRecovery))('the recovery %s, in the play %j', async (recovery, [name, end]) => {
    const { events, outcome } = await play(plays[name]);
    expect(eventsOf(events, 'recovery').map((event) => event.recovery)).toContain(recovery);
    expect(outcome.type).toBe(end);
  });

  it.each(entries(byStop))('the reason to stop %s, in the play "%s"', async (reason, name) => {
    const { outcome } = await play(plays[name]);
    expect(outcome).toMatchObject({ type: 'stopped', reason });
  });

  it.each(entries(bySuspension))('the reason to wait %s, in the play "%s"', async (reason, name) => {
    const { outcome, events } = await play({ ...plays[name], answer: undefined });
    expect(outcome).toMatchObject({ type: 'suspended', reason });
    expect(eventsOf(events, 'run-suspended')).toMatchObject([{ reason }]);
  });
});
