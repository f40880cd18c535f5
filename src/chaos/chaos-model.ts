import type { Random } from '../base/clock.ts';
import { wait } from '../base/abort.ts';
import { systemClock } from '../base/system.ts';
import type { FailureCode } from '../errors/codes.ts';
import { failureTraits } from '../errors/codes.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import type { Model, ModelResponse } from '../model/model.ts';
import type { ModelRequest } from '../model/request.ts';
import type { StreamPart } from '../model/stream-part.ts';
import { chaosConfigError } from './config-error.ts';
import { breakStream } from './break-stream.ts';
import { randomFor } from './seeded.ts';
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
export function chaos(model: Model, { seed = 1, faults }: ChaosModelOptions): ChaoticModel {
  const next = createNext(faults, seed);
  const delivered: DeliveredModelFault[] = [];
  let calls = 0;
  return {
    provider: model.provider,
    name: model.name,
    quotaKey: model.quotaKey,
    capabilities: model.capabilities,
    ...(model.price === undefined ? {} : { price: model.price }),
    delivered,
    callCount: () => calls,
    call: async (request, options = {}) => {
      const callIndex = calls;
      calls += 1;
      const fault = next(request, callIndex);
      if (fault === undefined) return model.call(request, options);
      return callWithFault(fault, { model, request, options }, () => {
        delivered.push({ callIndex, fault });
        if (delivered.length > maxDelivered) delivered.shift();
      });
    },
  };
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
      onDelivered();
      return settleParts([], model, failureOf(fault, model));
    }
    case 'delay': {
      const { clock = systemClock, signal } = options;
      const waited = await wait(fault.delayMs, { clock, signal });
      onDelivered();
      if (waited === 'aborted') return settleParts([], model, cancelled(model));
      return model.call(request, options);
    }
    case 'empty-answer': {
      const end: StreamPart = { type: 'finished', finish: { reason: 'stop', raw: 'stop' } };
      onDelivered();
      await options.onPart?.(end);
      return settleParts([end], model);
    }
    case 'broken-stream':
      return breakStream(call, { ...fault, onDelivered });
    case 'truncated-arguments':
    default:
      return truncateArguments(call, onDelivered);
  }
}

function failureOf(fault: Extract<ModelFault, { readonly name: 'failure' }>, model: Model): Failure {
  const { code, retryAfterMs, when } = fault;
  return createFailure(code, {
    origin: 'model',
    message: `Chaos: the call to ${model.provider} (${model.name}) fails with ${code} on purpose`,
    provider: { provider: model.provider, model: model.name },
    sideEffect: when === 'after' ? 'possible' : 'none',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function cancelled(model: Model): Failure {
  const message = `The call to ${model.provider} (${model.name}) was cancelled while chaos held it up`;
  return createFailure('CANCELLED', { origin: 'model', message, sideEffect: 'none' });
}

type Next = (request: ModelRequest, callIndex: number) => ModelFault | undefined;

/** Checks the schedule when it is given. */
function createNext(faults: ModelFaultSchedule, seed: number): Next {
  if (typeof faults === 'function') return (request, callIndex) => faults(request, callIndex) ?? undefined;
  if ('script' in faults) {
    const { script, repeat } = faults;
    for (const fault of script) if (fault !== null) checkFault(fault);
    const at = (index: number): ModelFault | null | undefined =>
      script[repeat === true ? index % Math.max(1, script.length) : index];
    return (_request, callIndex) => at(callIndex) ?? undefined;
  }
  const { rate, kinds = everyday } = faults;
  if (!(rate >= 0 && rate <= 1) || kinds.length === 0) {
    throw chaosConfigError(
      `chaos() needs a rate from 0 to 1 and at least one kind of fault, got ${rate} and ${kinds.length}`,
      'Give { rate: 0.3 } for 30 % of everyday faults',
    );
  }
  for (const fault of kinds) checkFault(fault);
  return (_request, callIndex) => draw(kinds, { rate, random: randomFor(seed, `model-${callIndex}`) });
}

function draw(
  kinds: readonly ModelFault[],
  { rate, random }: { readonly rate: number; readonly random: Random },
): ModelFault | undefined {
  return random() < rate ? kinds[Math.floor(random() * kinds.length)] : undefined;
}

const names: Readonly<Record<ModelFault['name'], true>> = {
  failure: true,
  'broken-stream': true,
  'empty-answer': true,
  delay: true,
  'truncated-arguments': true,
};

function checkFault(fault: ModelFault): void {
  if (!Object.hasOwn(names, fault.name)) {
    const known = Object.keys(names).join(', ');
    throw chaosConfigError(`chaos() knows no fault "${fault.name}"`, `There are: ${known}`);
  }
  if ('code' in fault && fault.code !== undefined && !Object.hasOwn(failureTraits, fault.code)) {
    throw chaosConfigError(
      `chaos() knows no failure code "${fault.code}"`,
      'See docs/errors.md for the codes',
    );
  }
}
