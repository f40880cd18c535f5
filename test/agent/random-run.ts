import { planCompaction } from '../../src/context/plan-compaction.ts';
import type { Action } from '../../src/agent/action.ts';
import type { RunConfig, ToolFacts } from '../../src/agent/config.ts';
import type {
  Answer,
  AttemptedCall,
  BrokenOff,
  CompactionMade,
  MachineEvent,
  VerifiedCall,
} from '../../src/agent/event.ts';
import { messagesOf } from '../../src/agent/turn/history.ts';
import { defaultLimits } from '../../src/agent/limits.ts';
import type { RunLimits } from '../../src/agent/limits.ts';
import { defaultLoopRules } from '../../src/agent/turn/loop-guard.ts';
import type { Moved } from '../../src/agent/moved.ts';
import type { PersonRequest } from '../../src/agent/run-outcome.ts';
import type { ReadyCall, RunState } from '../../src/agent/state.ts';
import type { PreparedCall, ToolEnd } from '../../src/agent/tools/tool-call.ts';
import { transition } from '../../src/agent/transition.ts';
import type { Json } from '../../src/base/json.ts';
import { failureCodes } from '../../src/errors/codes.ts';
import type { FailureCode } from '../../src/errors/codes.ts';
import { createFailure } from '../../src/errors/failure.ts';
import type { Failure } from '../../src/errors/failure.ts';
import type { Message } from '../../src/model/message.ts';
import type { AttemptSituation, StepEnd } from '../../src/resilience/call-progress.ts';
import { decideNext } from '../../src/resilience/decide.ts';
import { kindOf } from '../../src/resilience/failure-kind.ts';
import { emptyLedger } from '../../src/resilience/ledger.ts';
import { retryPresets } from '../../src/resilience/retry-policy.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';

/** The work of a transition: what is left when everything has been told. */
export type Work = Exclude<Action, { type: 'tell' }>;

/** Who is asked, and how the chances stand. */
export interface Chances {
  readonly seed: number;
  /** How often a person comes back after a suspension or a failure. */
  readonly resumptions: number;
  /** Shares, from 0 to 1. */
  readonly shutdown: number;
  readonly failure: number;
  readonly calls: number;
  /** How often the tool "look" is down. */
  readonly outage: number;
  /** How many different arguments and results there are. */
  readonly variety: number;
}

/** A world that answers each action with a random event that could really follow. */
export interface World {
  readonly pick: <Item>(items: readonly Item[]) => Item;
  readonly happens: (share: number) => boolean;
  readonly chances: Chances;
  wallMs: number;
  resumptions: number;
  calls: number;
}

/** What a step of a random run looks like from outside. */
export interface Step {
  readonly before: RunState | undefined;
  readonly event: MachineEvent;
  readonly moved: Moved;
}

const toolFacts = {
  look: { effect: 'read', permission: 'allow', canVerify: false, onError: 'tell' },
  put: { effect: 'idempotent', permission: 'allow', canVerify: false, onError: 'tell', repeats: 'any' },
  pay: { effect: 'once', permission: 'allow', canVerify: true, onError: 'tell' },
  send: { effect: 'once', permission: 'ask', canVerify: false, onError: 'tell' },
  drop: { effect: 'once', permission: 'allow', canVerify: false, onError: 'abort' },
} as const satisfies Record<string, ToolFacts>;

const usual = ['look', 'put', 'pay', 'send', 'look', 'put', 'pay', 'send', 'look', 'put'] as const;
const toolNames = [...usual, ...usual, 'drop', 'ghost'] as const;

/** A small agent: its limits are reached often. */
export function smallConfig(changes: Partial<RunConfig> = {}, limits: Partial<RunLimits> = {}): RunConfig {
  const most = Number.MAX_SAFE_INTEGER;
  return {
    agent: 'small',
    models: [
      { provider: 'one', name: 'a', quotaKey: 'a' },
      { provider: 'two', name: 'b', quotaKey: 'b' },
    ],
    limits: {
      ...defaultLimits,
      maxTokens: most,
      maxCostUsd: most,
      maxRequests: most,
      maxTurns: 6,
      maxToolCalls: 9,
      maxCallsPerTurn: 3,
      ...limits,
    },
    retry: { ...retryPresets.standard, maxAttempts: 3 },
    loop: defaultLoopRules,
    salvage: true,
    inDoubt: 'ask',
    hasOutput: false,
    tools: toolFacts,
    ...changes,
  };
}

const old = { callId: 'old', name: 'look' };

/** Long enough that something can be left out. */
export const longHistory: readonly Message[] = [
  { role: 'user', content: 'Look.' },
  { role: 'assistant', content: [{ type: 'tool-call', ...old, argumentsText: '{}' }] },
  { role: 'tool', content: [{ type: 'tool-result', ...old, content: 'x'.repeat(9000) }] },
  ...['One.', 'Two.', 'Three.'].flatMap((content): readonly Message[] => [
    { role: 'assistant', content },
    { role: 'user', content: 'Go on.' },
  ]),
];

/** Plays a run to its end, or until nobody comes back to it, with at most `maxSteps` events. */
export function playRandomly(config: RunConfig, chances: Chances, maxSteps = 5000): readonly Step[] {
  const random = seededRandom(chances.seed);
  const world: World = {
    pick: (items) => items[Math.floor(random() * items.length)] as (typeof items)[number], // Never empty.
    happens: (share) => random() < share,
    chances,
    wallMs: 1_800_000_000_000,
    resumptions: chances.resumptions,
    calls: 0,
  };
  let event: MachineEvent | undefined = {
    type: 'run-started',
    runId: 'run',
    config,
    messages: longHistory,
    repairs: [],
  };
  const steps: Step[] = [];
  let state: RunState | undefined;
  while (event !== undefined && steps.length < maxSteps) {
    const moved: Moved = transition(state, event);
    steps.push({ before: state, event, moved });
    state = moved.state;
    event = nextEvent(world, moved.state, workOf(moved));
  }
  return steps;
}

/** What is to be done after a transition. */
export function workOf({ actions }: Moved): Work | undefined {
  return actions.find((action): action is Work => action.type !== 'tell');
}

/** Any failure. */
function anyFailure(world: Pick<World, 'pick' | 'happens'>, codes = failureCodes): Failure {
  const code = world.pick<FailureCode>(world.happens(0.6) ? passingCodes : codes);
  const text = { message: `It failed with ${code}` };
  return createFailure(
    code,
    world.happens(0.3) ? { ...text, retryAfterMs: world.pick([0, 500, 90_000]) } : text,
  );
}

/** Those that pass or can be talked about; among all of them most end a run at once. */
const passingCodes: readonly FailureCode[] = [
  'OVERLOADED',
  'RATE_LIMITED',
  'EMPTY_RESPONSE',
  'TOOL_CALL_INVALID',
  'CONTEXT_LENGTH_EXCEEDED',
  'TIMEOUT',
];

function nextEvent(world: World, state: RunState, work: Work | undefined): MachineEvent | undefined {
  const { chances, pick, happens } = world;
  if (work?.type !== 'finish' && happens(chances.shutdown)) {
    const shutdown = anyShutdown(world);
    return work?.type === 'call-model' && happens(0.5)
      ? { ...shutdown, step: anyStep(world, state, work.situation) }
      : shutdown;
  }
  switch (work?.type) {
    case 'call-model':
      if (work.isFirst && happens(0.01))
        return { type: 'answer-given', answer: textAnswer(pick(['Given.', ' '])) };
      if (work.isFirst && isWhole(state) && happens(0.02))
        return { type: 'compacted', made: anyCompaction(world, state), tookMs: pass(world, pick([0, 900])) };
      return finishedAttempt(world, state, work.situation);
    case 'wait':
      return { type: 'waited', tookMs: pass(world, work.delayMs) };
    case 'run-tools': {
      const ends = work.calls.map(({ index }) => anyToolEnd(world, state, index));
      return { type: 'tools-finished', ends, tookMs: pass(world, pick([0, 7, 40_000])) };
    }
    case 'verify-tools': {
      const found = work.indexes.map((index) => anyFinding(world, state, index));
      return { type: 'tools-verified', found, tookMs: pass(world, pick([0, 7])) };
    }
    case 'ask-person': {
      if (happens(0.4)) return { type: 'person-absent' };
      pass(world, pick([0, 60_000, 100_000_000]));
      return { type: 'person-answered', answer: anyAnswer(world, work.request), wallMs: world.wallMs };
    }
    default:
      return comeBack(world, state);
  }
}

function isWhole({ phase }: RunState): boolean {
  return phase.type === 'calling-model' && !phase.isCompacted;
}

function finishedAttempt(world: World, state: RunState, situation: AttemptSituation): MachineEvent {
  const step = anyStep(world, state, situation);
  const isTooLong = step.type === 'failure' && tooLongCodes.has(step.failure.code);
  const made = isTooLong && world.happens(0.8) ? { made: anyCompaction(world, state) } : {};
  return { type: 'attempt-finished', step, ...made, ...anyInjection(world) };
}

const tooLongCodes: ReadonlySet<string> = new Set(['CONTEXT_LENGTH_EXCEEDED', 'REQUEST_TOO_LARGE']);

/** A plan for the conversation as it is, or none; with a summary, without one, or with one that failed. */
function anyCompaction({ pick, happens }: World, { history }: RunState): CompactionMade {
  const compaction = planCompaction({
    messages: messagesOf(history),
    fixedTokens: 10,
    reason: { type: 'overflow' },
    rules: {
      strategies: pick([['clear-results'], ['window'], ['summary']] as const),
      keepLastTurns: pick([1, 2]),
    },
    summary: { type: 'ok', summary: 'They looked at something, and it was long.' },
  });
  const failure = createFailure('COMPACTION_FAILED', { message: 'No summary' });
  const charge = { ...emptyLedger, requests: 1, inputTokens: 7, outputTokens: 3 };
  return {
    ...(compaction === undefined ? {} : { compaction }),
    ...(happens(0.2) ? { failure } : {}),
    ...(happens(0.2) ? { charge } : {}),
  };
}

function anyShutdown(world: World): BrokenOff {
  const type = world.pick(['cancelled', 'broken', 'halted'] as const);
  return type === 'cancelled' ? { type } : { type, failure: anyFailure(world) };
}

function pass(world: World, tookMs: number): number {
  world.wallMs += tookMs;
  return tookMs;
}

/** Somebody resumes it, if it can be resumed and anybody still cares. */
function comeBack(world: World, state: RunState): MachineEvent | undefined {
  const { phase, config } = state;
  const isOver = phase.type === 'ended' && (phase.end === 'completed' || phase.end === 'stopped');
  if (isOver || world.resumptions === 0) return undefined;
  world.resumptions -= 1;
  pass(world, world.pick([0, 60_000, 100_000_000]));
  const request = phase.type === 'suspended' ? phase.request : undefined;
  return { type: 'resumed', answer: anyAnswer(world, request), wallMs: world.wallMs, config };
}

function anyAnswer(
  { pick, happens }: World,
  request: PersonRequest | undefined,
): Extract<MachineEvent, { type: 'person-answered' }>['answer'] {
  if (happens(0.1)) return { given: false };
  const values: readonly Json[] = [
    true,
    'yes',
    { approved: true, id: request?.id ?? '' },
    { approved: true, hash: 'another' },
    false,
    'maybe',
    null,
    [],
    { happened: true, result: { ok: 1 } },
    { happened: true },
    { happened: false },
    'did-not-happen',
    'did-not-happen',
  ];
  return { given: true, value: pick(values) };
}

function anyInjection({ happens }: World): object {
  return happens(0.1) ? { injected: [{ role: 'user', content: 'And hurry.' }] } : {};
}

function anyStep(world: World, state: RunState, situation: AttemptSituation): StepEnd<Answer> {
  const { pick, happens, chances } = world;
  const times = { waitedMs: pick([0, 3]), durationMs: pick([0, 20, 5000]) };
  pass(world, times.waitedMs + times.durationMs);
  const charge = pick([
    {},
    { inputTokens: 10, outputTokens: 5 },
    { inputTokens: 10, outputTokens: 5, costUsd: 0.01 },
  ]);
  const ended = { ...times, wallMs: world.wallMs, charge, isProbe: happens(0.1) };
  if (!happens(chances.failure)) return { ...ended, type: 'success', value: anySuccess(world, state) };
  const failure = happens(0.3)
    ? createFailure('OUTPUT_TRUNCATED', { message: 'Cut off', context: { isInsideCall: happens(0.2) } })
    : anyFailure(world);
  const attempts = situation.tries + 1;
  const sameKindBefore = situation.kinds[kindOf(failure)] ?? 0;
  const { leftMs, hasNextModel } = situation;
  const drawn = pick([0, 0.5, 0.99]);
  const decision = decideNext(
    { failure, attempts, sameKindBefore, leftMs, drawn, hasNextModel, spendRetry: () => happens(0.8) },
    { retry: state.config.retry, fallBackOnFilter: happens(0.5) },
  );
  const failed = { ...ended, type: 'failure', failure, decision, canSplice: happens(0.2) } as const;
  if (situation.tooEarly !== undefined || happens(0.1)) return { ...failed, wasAdmitted: false };
  return { ...failed, wasAdmitted: true, value: textAnswer(pick(['', 'Half a', `${opening}, and`])) };
}

const opening = 'It is a long answer that goes on';

/** An answer of text. */
export function textAnswer(text: string): Answer {
  return { content: text === '' ? [] : [{ type: 'text', text }], text, toolCalls: [], usage: {} };
}

function anySuccess(world: World, state: RunState): Answer {
  const { pick, happens, chances } = world;
  if (happens(chances.calls)) return callsAnswer(world, state);
  const answer = textAnswer(pick(['Done.', 'Done.', `${opening} to its end.`, '   ']));
  if (!state.config.hasOutput) return answer;
  const check = pick([
    { type: 'valid', value: { done: true } },
    { type: 'invalid', problem: '"done" is missing' },
    undefined,
  ] as const);
  return check === undefined ? answer : { ...answer, check };
}

function callsAnswer(world: World, state: RunState): Answer {
  const names = Array.from({ length: world.pick([1, 1, 2, 3]) }, () => world.pick(toolNames));
  const { limits } = state.config;
  let left = limits.maxToolCalls - state.toolCalls;
  const prepared = names.map((name): PreparedCall => {
    const callId = `call-${(world.calls += 1)}`;
    const isKnown = name !== 'ghost' && !Object.hasOwn(state.withdrawn, name);
    if (!isKnown || left <= 0 || world.happens(0.1)) {
      const failure = createFailure(isKnown ? 'VALIDATION_ERROR' : 'TOOL_NOT_FOUND', { message: 'No.' });
      const end: ToolEnd = {
        callId,
        name,
        type: 'failed',
        content: 'No.',
        failure,
        resultHash: 'no',
        durationMs: 0,
      };
      return { type: 'refused', callId, name, end };
    }
    left -= 1;
    const { effect, permission } = toolFacts[name];
    const n = anyNumber(world);
    return { type: 'ready', callId, name, input: { n }, effect, permission, hash: `${name}:${n}` };
  });
  const text = world.pick(['', 'Let me see.']);
  const toolCalls = prepared.map(({ callId, name }) => ({
    type: 'tool-call' as const,
    callId,
    name,
    argumentsText: '{}',
  }));
  const said = text === '' ? [] : [{ type: 'text' as const, text }];
  return { content: [...said, ...toolCalls], text, toolCalls, usage: {}, prepared };
}

function anyNumber({ pick, chances }: World): number {
  return pick(Array.from({ length: chances.variety }, (_, index) => index));
}

/** The call at this place of the turn. */
function readyCallAt({ phase }: RunState, index: number): ReadyCall {
  const call = phase.type === 'running-tools' ? phase.calls[index]?.call : undefined;
  if (call?.type !== 'ready') throw new Error(`There is no call ${index} in ${phase.type}`);
  return call;
}

function anyToolEnd(world: World, state: RunState, index: number): AttemptedCall {
  const { pick, happens } = world;
  const { callId, name } = readyCallAt(state, index);
  const drawn = pick([0, 0.5, 0.99]);
  const type = pick([
    'ok',
    'ok',
    'ok',
    'ok',
    'failed',
    'failed',
    'retry',
    'denied',
    'unknown',
    'unknown',
  ] as const);
  const bare = {
    callId,
    name,
    content: `${type} ${'x'.repeat(400)}`,
    resultHash: `${anyNumber(world)}`,
    durationMs: 5,
  };
  const end = happens(0.1) ? { ...bare, charge: { ...emptyLedger, requests: 1, outputTokens: 7 } } : bare;
  if (name === 'look' && happens(world.chances.outage)) {
    const failure = createFailure('SERVER_ERROR', { message: 'Down' });
    return { index, drawn, end: { ...end, type: 'failed', failure } };
  }
  if (type === 'ok' || type === 'retry') return { index, drawn, end: { ...end, type } };
  if (type === 'failed') return { index, drawn, end: { ...end, type, failure: anyFailure(world) } };
  const code = type === 'denied' ? 'PERMISSION_DENIED' : 'UNKNOWN_OUTCOME';
  return { index, drawn, end: { ...end, type, failure: createFailure(code, { message: type }) } };
}

function anyFinding({ pick }: World, state: RunState, index: number): VerifiedCall {
  const { callId, name } = readyCallAt(state, index);
  const type = pick(['happened', 'did-not-happen', 'did-not-happen', 'unknown'] as const);
  if (type === 'did-not-happen') return { index, found: { type } };
  if (type === 'unknown')
    return { index, found: { type, failure: createFailure('UNKNOWN_OUTCOME', { message: type }) } };
  const end = { callId, name, type: 'ok', content: 'Found.', resultHash: 'found', durationMs: 1 } as const;
  return { index, found: { type, end } };
}
