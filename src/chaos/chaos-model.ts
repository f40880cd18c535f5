import { unreachable } from '../base/assert.ts';
import { defined } from '../base/defined.ts';
import { isRecord } from '../base/json.ts';
import { checkOptions } from '../model/check/check-options.ts';
import type { FailureCode } from '../errors/codes.ts';
import { failureTraits } from '../errors/codes.ts';
import { classifyFailure } from '../errors/classify-failure.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import type { Model, ModelResponse } from '../model/model.ts';
import type { ModelRequest } from '../model/request.ts';
import type { StreamPart } from '../model/stream-part.ts';
import { completeTimeouts } from '../model/stream-watch.ts';
import { playAttempt } from '../providers/simulated/play-attempt.ts';
import type { Player, Step } from '../providers/simulated/play-attempt.ts';
import { breakStream } from './break-stream.ts';
import { chaosConfigError } from './config-error.ts';
import { randomFor } from './seeded.ts';
import { scheduleNames } from './schedule.ts';
import { drawKind, entryAt } from './slots.ts';
import { truncateArguments } from './truncate-arguments.ts';
import { settleParts } from './wrapped-call.ts';
import type { WrappedCall } from './wrapped-call.ts';

/** What may go wrong at the port of a model. */
export type ModelFault =
  /** The call fails with this code. `before`: the model is not called at all. `after`: it is, and its answer is lost. */
  | {
      readonly name: 'failure';
      readonly code: FailureCode;
      readonly when?: 'before' | 'after';
      readonly retryAfterMs?: number;
    }
  /** The stream breaks after so many parts (2 where absent). */
  | { readonly name: 'broken-stream'; readonly afterParts?: number; readonly code?: FailureCode }
  /** Neither text nor calls. The model is not called. */
  | { readonly name: 'empty-answer' }
  /** The answer is good and comes late. */
  | { readonly name: 'delay'; readonly delayMs: number }
  /** The arguments of every tool call stop in the middle. */
  | { readonly name: 'truncated-arguments' };

/** Which call gets which fault: a share of all, one entry for each call, or whatever a function says. */
export type ModelFaultSchedule =
  | { readonly rate: number; readonly kinds?: readonly ModelFault[] }
  | { readonly script: readonly (ModelFault | null)[]; readonly repeat?: boolean }
  | ((request: ModelRequest, callIndex: number) => ModelFault | null | undefined);

/** What was really done to a call. Calls are counted from 0. */
export interface DeliveredModelFault {
  readonly callIndex: number;
  readonly fault: ModelFault;
}

/** The wrapped model, and what was done to it. */
export interface ChaoticModel extends Model {
  /** The latest deliveries, oldest first; at most 10,000 are kept. */
  readonly delivered: readonly DeliveredModelFault[];
  readonly callCount: () => number;
}

export interface ChaosModelOptions {
  readonly seed?: number;
  readonly faults: ModelFaultSchedule;
}

const maxDelivered = 10_000;

/** What any provider does now and then. */
const everyday: readonly ModelFault[] = [
  { name: 'failure', code: 'RATE_LIMITED', retryAfterMs: 1000 },
  { name: 'failure', code: 'OVERLOADED' },
  { name: 'failure', code: 'SERVER_ERROR' },
  { name: 'failure', code: 'NETWORK_ERROR', when: 'after' },
  { name: 'broken-stream', afterParts: 2 },
  { name: 'empty-answer' },
  { name: 'truncated-arguments' },
];

/**
 * Wraps any model and breaks its calls at the port, without sockets. Everything else about the model stays.
 *
 * @example const shaky = chaos(openai('gpt-5.2'), { seed: 7, faults: { rate: 0.3 } });
 */
export function chaos(model: Model, given: ChaosModelOptions): ChaoticModel {
  checkGiven(model, given);
  const { seed = 1, faults } = given;
  const next = createNext(faults, seed);
  const delivered: DeliveredModelFault[] = [];
  let calls = 0;
  return {
    provider: model.provider,
    name: model.name,
    quotaKey: model.quotaKey,
    capabilities: model.capabilities,
    ...defined({ price: model.price }),
    delivered,
    callCount: () => calls,
    call: async (request, options = {}) => {
      const callIndex = calls;
      calls += 1;
      const chosen = choose(() => next(request, callIndex));
      if (chosen.type === 'failure') return settleParts([], model, chosen.failure);
      const { fault } = chosen;
      if (fault === undefined) return model.call(request, options);
      return callWithFault(fault, { model, request, options }, () => {
        delivered.push({ callIndex, fault });
        if (delivered.length > maxDelivered) delivered.shift();
      });
    },
  };
}

/** A caller without types may leave out what there is no default for. */
function checkGiven(model: unknown, given: unknown): void {
  if (!isRecord(model) || typeof model['call'] !== 'function') {
    throw chaosConfigError(
      'chaos() needs a model',
      "Write chaos(openai('gpt-5.2'), { faults: { rate: 0.3 } })",
    );
  }
  if (isRecord(given)) checkOptions({ of: 'chaos()', rules: ['seed', 'faults'] }, given);
  const faults = isRecord(given) ? given['faults'] : undefined;
  if (isRecord(faults)) checkOptions({ of: '"faults"', rules: scheduleNames }, faults);
  const isSchedule = isRecord(faults) && ('rate' in faults || Array.isArray(faults['script']));
  if (typeof faults === 'function' || isSchedule) return;
  throw chaosConfigError(
    'chaos() must be told its faults, as { script: […] } or { rate: 0.3 }, or by a function',
    "Write chaos(model, { faults: { script: [{ name: 'failure', code: 'OVERLOADED' }, null] } })",
  );
}

type Chosen =
  | { readonly type: 'chosen'; readonly fault: ModelFault | undefined }
  | { readonly type: 'failure'; readonly failure: Failure };

/** A model never rejects, and what a test throws inside its schedule must still be seen. */
function choose(next: () => ModelFault | undefined): Chosen {
  try {
    return { type: 'chosen', fault: next() };
  } catch (thrown) {
    return { type: 'failure', failure: classifyFailure(thrown, 'agent') };
  }
}

async function callWithFault(
  fault: ModelFault,
  call: WrappedCall,
  onDelivered: () => void,
): Promise<ModelResponse> {
  const { model, request, options } = call;
  switch (fault.name) {
    case 'failure': {
      if (fault.when === 'after') await model.call(request, { ...options, onPart: undefined });
      return failWith(failureOf(fault, model), call, onDelivered);
    }
    case 'delay':
      return delayCall(fault.delayMs, call, onDelivered);
    case 'empty-answer': {
      const end: StreamPart = { type: 'finished', finish: { reason: 'stop', raw: 'stop' } };
      const response = await playAttempt([{ type: 'part', part: end }], playerOf(model), options);
      if (response.type === 'failure' && response.failure.code === 'EMPTY_RESPONSE') onDelivered();
      return response;
    }
    case 'broken-stream':
      return breakStream(call, { ...fault, onDelivered });
    case 'truncated-arguments':
      return truncateArguments(call, onDelivered);
    default:
      return unreachable(fault);
  }
}

/** Where the caller has cancelled, or its timeouts make no sense, that is the truth, and the fault did not happen. */
async function failWith(
  failure: Failure,
  { model, options }: WrappedCall,
  onDelivered: () => void,
): Promise<ModelResponse> {
  const response = await playAttempt([{ type: 'fail', failure }], playerOf(model), options);
  if (response.type === 'failure' && response.failure === failure) onDelivered();
  return response;
}

/** The wait is part of the attempt: its timeouts end it, and the model gets what it has left of the time. */
async function delayCall(
  delayMs: number,
  { model, request, options }: WrappedCall,
  onDelivered: () => void,
): Promise<ModelResponse> {
  const waited = createFailure('TIMEOUT', { origin: 'model', message: 'Chaos: the delay is over' });
  const steps: readonly Step[] = [
    { type: 'wait', delayMs },
    { type: 'fail', failure: waited },
  ];
  const response = await playAttempt(steps, playerOf(model), options);
  if (response.type === 'failure' && response.failure.code === 'TIMEOUT') onDelivered();
  // Only the failure that stands after the wait says that all of it was waited for.
  if (response.type === 'success' || response.failure !== waited) return response;
  const totalMs = Math.max(0, completeTimeouts(options.timeouts).totalMs - delayMs);
  return model.call(request, { ...options, timeouts: { ...options.timeouts, totalMs } });
}

function playerOf({ provider, name, price }: Model): Player {
  return { provider, model: name, price };
}

function failureOf(fault: Extract<ModelFault, { readonly name: 'failure' }>, model: Model): Failure {
  const { code, retryAfterMs, when } = fault;
  return createFailure(code, {
    origin: 'model',
    message: `Chaos: the call to ${model.provider} (${model.name}) fails with ${code} on purpose`,
    provider: { provider: model.provider, model: model.name },
    sideEffect: when === 'after' ? 'possible' : 'none',
    ...defined({ retryAfterMs }),
  });
}

type Next = (request: ModelRequest, callIndex: number) => ModelFault | undefined;

/** Checks the schedule when it is given. */
function createNext(faults: ModelFaultSchedule, seed: number): Next {
  if (typeof faults === 'function') {
    return (request, callIndex) => {
      const fault = faults(request, callIndex) ?? undefined;
      if (fault !== undefined) checkFault(fault);
      return fault;
    };
  }
  if ('script' in faults) {
    for (const fault of faults.script) if (fault !== null) checkFault(fault);
    return (_request, callIndex) => entryAt(faults, callIndex) ?? undefined;
  }
  const { rate, kinds = everyday } = faults;
  if (!(rate >= 0 && rate <= 1) || kinds.length === 0) {
    throw chaosConfigError(
      `chaos() needs a rate from 0 to 1 and at least one kind of fault, got ${rate} and ${kinds.length}`,
      'Give { rate: 0.3 } for 30 % of everyday faults',
    );
  }
  for (const fault of kinds) checkFault(fault);
  return (_request, callIndex) => drawKind(kinds, { rate, random: randomFor(seed, `model-${callIndex}`) });
}

const names = {
  failure: true,
  'broken-stream': true,
  'empty-answer': true,
  delay: true,
  'truncated-arguments': true,
} as const satisfies Record<ModelFault['name'], true>;

function checkFault(fault: ModelFault): void {
  const name: unknown = isRecord(fault) ? fault.name : undefined;
  if (typeof name !== 'string') {
    throw chaosConfigError(
      `chaos() takes faults as objects with a "name", got ${JSON.stringify(fault)}`,
      "Write { name: 'failure', code: 'OVERLOADED' }; the names of the chaos server are another list",
    );
  }
  if (!Object.hasOwn(names, name)) {
    const known = Object.keys(names).join(', ');
    throw chaosConfigError(`chaos() knows no fault "${name}"`, `There are: ${known}`);
  }
  checkOptions({ of: `the fault "${name}"`, rules: ['name', ...Object.keys(fieldRules)] }, fault);
  checkFields(fault);
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isDelay = (value: unknown): boolean => Number.isFinite(value) && Number(value) >= 0;

/** Every field that a fault may have; a caller without types may write anything there. */
const fieldRules: Readonly<
  Record<string, { readonly isLegal: (value: unknown) => boolean; readonly rule: string }>
> = {
  code: {
    isLegal: (value) => typeof value === 'string' && Object.hasOwn(failureTraits, value),
    rule: 'one of the codes in docs/errors.md',
  },
  when: { isLegal: (value) => value === 'before' || value === 'after', rule: '"before" or "after"' },
  retryAfterMs: { isLegal: isDelay, rule: 'a finite number of milliseconds from 0' },
  delayMs: { isLegal: isDelay, rule: 'a finite number of milliseconds from 0' },
  afterParts: { isLegal: isCount, rule: 'a whole number from 0' },
};

const required: Readonly<Record<string, string>> = { failure: 'code', delay: 'delayMs' };

function checkFields(fault: ModelFault): void {
  const given: Readonly<Record<string, unknown>> = { ...fault };
  for (const [field, { isLegal, rule }] of Object.entries(fieldRules)) {
    const value = given[field];
    const mayBeAbsent = required[fault.name] !== field;
    if ((value === undefined && mayBeAbsent) || isLegal(value)) continue;
    throw chaosConfigError(
      `chaos() needs as "${field}" of the fault "${fault.name}" ${rule}, got ${JSON.stringify(value) ?? 'nothing'}`,
      `Give "${field}" such a value${mayBeAbsent ? ', or leave it out' : ''}`,
    );
  }
}
