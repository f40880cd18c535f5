import { unreachable } from '../base/assert.ts';
import type { Action } from '../agent/action.ts';
import type { HookPoint } from '../agent/hooks/hook.ts';
import type {
  AttemptedCall,
  CompactionMade,
  MachineEvent,
  PersonAnswer,
  SettledCall,
  VerifiedCall,
} from '../agent/event.ts';
import { isEnded } from '../agent/tools/tool-call.ts';
import type { Provenance } from '../agent/approval/provenance.ts';
import type { RunState } from '../agent/state.ts';
import { defined } from '../base/defined.ts';
import { isRecord } from '../base/json.ts';
import type { Json } from '../base/json.ts';
import type { AgentParts } from './agent-parts.ts';
import { isOverBudget } from './run/compact-effect.ts';
import { deaf } from './record/durable.ts';
import type { Durable, DurableCallOptions, Outcome } from './record/durable.ts';
import { afterModel, afterTools, aroundAsking, beforeModel, beforeTools } from './hooks/hook-steps.ts';
import { publish } from './run/live-run.ts';
import type { LiveRun } from './run/live-run.ts';
import type { ModelEffectInput, ModelEffectValue } from './model-call/model-effect.ts';
import type { Intent } from './tool-call/intent.ts';
import { mayBegin, noteTook } from './tool-call/quick-tools.ts';
import { needsSelection } from './run/select-effect.ts';
import type { ToolEffectInput, ToolEffectValue } from './tool-call/tool-effects.ts';

/** What an action needs to be performed. */
export interface Performing {
  readonly parts: AgentParts;
  readonly live: LiveRun;
  readonly durable: Durable;
}

/** Whether hooks are asked here: as it was, where that is on record, whatever hooks the agent has now. */
export function asksHooks({ parts, durable }: Performing, point: HookPoint): boolean {
  const recorded = durable.upcoming?.();
  if (recorded === undefined) return parts.hooks.has(point);
  return recorded.effect === 'hook' && isRecord(recorded.input) && recorded.input['point'] === point;
}

type Work = Exclude<Action, { type: 'tell' | 'finish' | 'suspend' }>;

/**
 * Performs one action as durable steps and says what happened. Rejects only with the engine's control errors: whatever else goes
 * wrong is an event, so that the journal is never behind.
 */
export function perform(performing: Performing, action: Work): Promise<MachineEvent> {
  switch (action.type) {
    case 'call-model':
      return performCall(performing, action);
    case 'wait':
      return performWait(performing, action.delayMs);
    case 'run-tools':
      return performTools(performing, action.calls);
    case 'verify-tools':
      return performChecks(performing, action.indexes);
    case 'ask-person':
      return performQuestion(performing, action);
    default:
      return unreachable(action);
  }
}

/** What each effect gives back. */
interface EffectValues {
  readonly model: ModelEffectValue;
  readonly conduct: Extract<MachineEvent, { type: 'answer-given' | 'halted' | 'broken' }>;
  readonly intend: Intent;
  readonly tool: ToolEffectValue;
  readonly verify: Pick<VerifiedCall, 'found'> & { readonly tookMs: number };
  readonly select: { readonly target: number; readonly tookMs: number };
  readonly compact: { readonly made: CompactionMade; readonly tookMs: number };
  readonly ask:
    | { readonly answer: PersonAnswer; readonly wallMs: number; readonly provenance?: Provenance }
    /** The function of the caller gave what cannot be an answer. */
    | { readonly isRefused: true };
}

type Read<Value> = { readonly value: Value } | { readonly broken: MachineEvent };

/** The value of an effect, or the event that its failure is. Read where it is awaited: a function that waits costs a promise. */
function read<Name extends keyof EffectValues>(_effect: Name, outcome: Outcome): Read<EffectValues[Name]> {
  if (outcome.type === 'failed') return { broken: { type: 'broken', failure: outcome.failure } };
  return { value: outcome.value as unknown as EffectValues[Name] }; // Each effect has one form of value.
}

async function performCall(
  performing: Performing,
  { turn, isFirst, situation }: Extract<Action, { type: 'call-model' }>,
): Promise<MachineEvent> {
  const { durable, live } = performing;
  live.inputs = undefined;
  if (performing.parts.conductor !== undefined) return performDecision(performing, turn);
  if (isFirst) {
    // To clear a set is to make it a new table, also where it is empty.
    if (live.tokens.size > 0) live.tokens.clear();
    if (live.issued.size > 0) live.issued.clear();
    live.changes = undefined;
  }
  if (isFirst && needsRoom(performing)) return performCompaction(performing, turn);
  if (isFirst && needsSelection(performing)) return performSelection(performing, turn);
  const before =
    isFirst && asksHooks(performing, 'before-model') ? await beforeModel(performing, turn) : undefined;
  if (before?.event !== undefined) return before.event;
  if (before !== undefined) live.changes = before.changes;
  const input: ModelEffectInput = { turn, isFirst, situation };
  const given = read('model', await durable.call('model', asJson(input), lagging));
  if ('broken' in given) return given.broken;
  const { step, injected, made, overspent } = given.value;
  if (overspent !== undefined) return { type: 'halted', reason: 'budget', failure: overspent };
  const event: MachineEvent =
    injected === undefined && made === undefined
      ? { type: 'attempt-finished', step }
      : { type: 'attempt-finished', step, ...defined({ injected, made }) };
  if (step.type === 'failure' || !asksHooks(performing, 'after-model')) return event;
  return afterModel(performing, event);
}

async function performSelection({ durable }: Performing, turn: number): Promise<MachineEvent> {
  const given = read('select', await durable.call('select', { turn }, deaf));
  return 'broken' in given ? given.broken : { type: 'model-selected', ...given.value };
}

/** A function decides in the place of a model; what it decided is on record. */
async function performDecision({ durable }: Performing, turn: number): Promise<MachineEvent> {
  const given = read('conduct', await durable.call('conduct', { turn }, deaf));
  return 'broken' in given ? given.broken : given.value;
}

/** Whether too little room is left for an answer, by the estimate. It is looked at once per call. */
function needsRoom({ parts, live, durable }: Performing): boolean {
  const recorded = durable.upcoming?.();
  if (recorded !== undefined) return recorded.effect === 'compact';
  if (parts.context.budget === undefined) return false;
  const state = live.state as RunState; // Only a run that has begun calls a model.
  if (state.phase.type !== 'calling-model' || state.phase.isCompacted) return false;
  return parts.context.isCounted === true || isOverBudget(parts, state);
}

async function performCompaction({ durable }: Performing, turn: number): Promise<MachineEvent> {
  const given = read('compact', await durable.call('compact', { turn }, deaf));
  return 'broken' in given ? given.broken : { type: 'compacted', ...given.value };
}

async function performWait({ durable }: Performing, delayMs: number): Promise<MachineEvent> {
  await durable.sleep(delayMs);
  return { type: 'waited', tookMs: delayMs };
}

type Calls = Extract<Action, { type: 'run-tools' }>['calls'];

/** In rounds, so that every position in the journal is the same on a replay: hooks, intents, calls, hooks. */
async function performTools(performing: Performing, calls: Calls): Promise<MachineEvent> {
  const { live, durable } = performing;
  const { turn } = live.state as RunState; // Tools belong to a turn.
  const settled = asksHooks(performing, 'before-tool') ? await beforeTools(performing, calls) : noneSettled;
  const running = settled.size === 0 ? calls : calls.filter(({ index }) => !settled.has(index));
  for (const { index, end } of settled.values()) {
    const attempt = calls.find((call) => call.index === index)?.attempt ?? 1;
    publish(live, { type: 'tool-finished', turn, attempt, end, callId: end.callId, name: end.name });
  }
  const once = onceCalls(performing, running);
  const intents = once.length === 0 ? noIntents : await writeIntents(performing, once);
  if ('broken' in intents) return intents.broken;
  const call = ({ index, attempt }: Calls[number]): Promise<Outcome> => {
    const intent = intents.get(index);
    const input: ToolEffectInput =
      intent === undefined ? { turn, index, attempt } : { turn, index, attempt, intent };
    return durable.call('tool', asJson(input), mayLead(performing, index) ? harmless : deaf);
  };
  // what a previous process of the run has seen says nothing of this process.
  const isLive = durable.isVolatile !== true && durable.isReplaying?.() !== true;
  const [only] = running;
  const outcomes =
    only !== undefined && running.length === 1 ? [await call(only)] : await Promise.all(running.map(call));
  let tookMs = 0;
  const ends: AttemptedCall[] = settled.size === 0 ? [] : [...settled.values()];
  for (let place = 0; place < running.length; place += 1) {
    const given = read('tool', outcomes[place] as Outcome); // One for each that was called.
    if ('broken' in given) return given.broken;
    const { end, drawn } = given.value;
    tookMs = Math.max(tookMs, given.value.tookMs);
    if (isLive) noteTook(performing.parts.registry.get(end.name), given.value.tookMs);
    ends.push({ index: running[place]?.index ?? 0, end, drawn });
  }
  const final = asksHooks(performing, 'after-tool') ? await afterTools(performing, ends) : ends;
  return { type: 'tools-finished', ends: final, tookMs };
}

/** Continues before it is on record: what it asks for waits, unless that only reads. */
const lagging: DurableCallOptions = { mayLag: true };

/** Begins before what led to it is on record. */
const harmless: DurableCallOptions = { isHarmless: true, isDeaf: true };

function mayLead({ parts, live }: Performing, index: number): boolean {
  const { phase } = live.state as RunState; // Tools belong to a turn.
  const call = phase.type === 'running-tools' ? phase.calls[index]?.call : undefined;
  return call?.type === 'ready' && mayBegin(parts, call);
}

const noneSettled: ReadonlyMap<number, SettledCall> = new Map();
const noIntents: ReadonlyMap<number, Intent> = new Map();

/** Calls that must not happen twice, where another process may continue after this one. */
function onceCalls({ live, durable }: Performing, calls: Calls): Calls {
  if (durable.isVolatile === true) return noCalls;
  const { phase } = live.state as RunState; // Tools belong to a turn.
  const states = phase.type === 'running-tools' ? phase.calls : [];
  return calls.filter(({ index }) => {
    const call = states[index]?.call;
    // A person's words are the result: nothing happens that could happen twice.
    return call?.type === 'ready' && call.effect === 'once' && call.replies?.at(-1)?.isResult !== true;
  });
}

const noCalls: Calls = [];

/** What must not happen twice is written down first, all of it in one step. */
async function writeIntents(
  { parts, live, durable }: Performing,
  once: Calls,
): Promise<ReadonlyMap<number, Intent> | { readonly broken: MachineEvent }> {
  const { phase } = live.state as RunState; // Tools belong to a turn.
  const states = phase.type === 'running-tools' ? phase.calls : [];
  const timeouts = once.map(
    ({ index }) => parts.registry.get(states[index]?.call.name ?? '')?.timeoutMs ?? 0,
  );
  const given = read('intend', await durable.call('intend', { timeoutMs: Math.max(...timeouts) }, harmless));
  // What could not be written down is not begun.
  if ('broken' in given) return given;
  const { token, deadlineMs } = given.value;
  return new Map(once.map(({ index }) => [index, { token: `${token}:${index}`, deadlineMs }]));
}

async function performChecks(performing: Performing, indexes: readonly number[]): Promise<MachineEvent> {
  const { live, durable } = performing;
  const { turn } = live.state as RunState; // Tools belong to a turn.
  const outcomes = await Promise.all(
    indexes.map((index) =>
      durable.call('verify', asJson({ turn, index, attempt: 1 } satisfies ToolEffectInput), deaf),
    ),
  );
  let tookMs = 0;
  const found: VerifiedCall[] = [];
  for (const [place, outcome] of outcomes.entries()) {
    const given = read('verify', outcome);
    if ('broken' in given) return given.broken;
    tookMs = Math.max(tookMs, given.value.tookMs);
    found.push({ index: indexes[place] ?? 0, found: given.value.found });
  }
  const told = asksHooks(performing, 'after-tool') ? await afterChecks(performing, found) : found;
  return { type: 'tools-verified', found: told, tookMs };
}

/** What a check found is a result like any other. */
async function afterChecks(
  performing: Performing,
  found: readonly VerifiedCall[],
): Promise<readonly VerifiedCall[]> {
  const ends = found.flatMap(({ index, found: verified }) =>
    verified.type === 'happened' ? [{ index, end: verified.end, drawn: 0 }] : [],
  );
  const told = new Map((await afterTools(performing, ends)).map(({ index, end }) => [index, end]));
  return found.map((check): VerifiedCall => {
    const end = told.get(check.index);
    return end === undefined || !isEnded(end) ? check : { ...check, found: { type: 'happened', end } };
  });
}

async function performQuestion(
  performing: Performing,
  { request }: Extract<Action, { type: 'ask-person' }>,
): Promise<MachineEvent> {
  const { parts, durable } = performing;
  if (asksHooks(performing, 'approval')) {
    const denied = await aroundAsking(performing, request);
    if (denied !== undefined) return denied;
  }
  const recorded = durable.upcoming?.();
  const isAsked = recorded === undefined ? parts.approve !== undefined : recorded.effect === 'ask';
  if (!isAsked) return { type: 'person-absent' };
  const given = read('ask', await durable.call('ask', asJson({ request }), deaf));
  if ('broken' in given) return given.broken;
  return 'isRefused' in given.value ? { type: 'person-absent' } : { type: 'person-answered', ...given.value };
}

/** Inputs of effects are JSON by their types, which the compiler cannot see through optional fields. */
export function asJson(input: object): Json {
  return input as Json;
}
