import { isRecord } from '../base/json.ts';
import type { Json } from '../base/json.ts';
import { classifyFailure } from '../errors/classify-failure.ts';
import type { FailureCode } from '../errors/codes.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { checkRequest } from '../model/check/check-request.ts';
import { someCapabilities } from '../model/capabilities.ts';
import type { Capabilities } from '../model/capabilities.ts';
import type { FinishReason } from '../model/finish.ts';
import type { Signature } from '../model/message.ts';
import type { AttemptOptions, Model } from '../model/model.ts';
import { aPrice } from '../model/price.ts';
import type { Price } from '../model/price.ts';
import type { ModelRequest } from '../model/request.ts';
import type { Usage } from '../model/usage.ts';
import { answerSteps, cutIntoPieces } from '../providers/simulated/answer-steps.ts';
import type { ScriptedCallText } from '../providers/simulated/answer-steps.ts';
import { playAttempt } from '../providers/simulated/play-attempt.ts';
import type { Player, Step } from '../providers/simulated/play-attempt.ts';
import { anyValue, checkOptions, oneOf } from '../model/check/check-options.ts';
import type { OptionRule } from '../model/check/check-options.ts';

/** A tool call in a script. `argumentsText` is sent as it is, so it need not be JSON. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, Json>>;
  readonly argumentsText?: string;
  readonly callId?: string;
  /** The call is begun and never finished. */
  readonly isUnfinished?: boolean;
}

interface Timing {
  /** The wait before the first part, by the clock of the call. `Infinity` never answers. */
  readonly delayMs?: number;
  /** The wait between two pieces of text. */
  readonly chunkDelayMs?: number;
}

/** An answer that arrives whole. */
export interface ScriptedAnswer extends Timing {
  /** A list is sent piece by piece as it stands; a text is cut into pieces of a few words. */
  readonly text?: string | readonly string[];
  readonly toolCalls?: readonly ScriptedCall[];
  readonly reasoning?: { readonly text: string; readonly signature?: Signature };
  /** Default: `tool-calls` where there are calls, else `stop`. */
  readonly finish?: FinishReason;
  /** Default: that of the model. `{}` is a provider that does not say. */
  readonly usage?: Usage;
}

/** A stream that ends after this text, without its closing event. */
export interface ScriptedBreak extends Timing {
  readonly brokenAfter: string | readonly string[];
  readonly toolCalls?: readonly ScriptedCall[];
}

/** A failure, after some text where there is one. */
export interface ScriptedFailure extends Timing {
  readonly failure: FailureCode | Failure;
  readonly text?: string | readonly string[];
}

/** What one call comes to. A plain string is an answer with that text. */
export type ScriptEntry = string | ScriptedAnswer | ScriptedBreak | ScriptedFailure;

/** An entry, or how to make it from the request. Calls are counted from 0. */
export type ScriptStep = ScriptEntry | ((request: ModelRequest, callIndex: number) => ScriptEntry);

/** What a scripted model was asked. */
export interface RecordedCall {
  readonly request: ModelRequest;
  readonly options: AttemptOptions;
}

/** A model that answers from a script, and remembers what it was asked. */
export interface ScriptedModel extends Model {
  /** Every call so far, the latest last. */
  readonly calls: readonly RecordedCall[];
}

/** Who the scripted model claims to be, and what it does when its script is over. */
export interface ScriptedModelOptions {
  /** Default: `scripted`. */
  readonly provider?: string;
  readonly name?: string;
  readonly quotaKey?: string;
  readonly capabilities?: Partial<Capabilities>;
  readonly price?: Price;
  /** The usage of answers that state none. */
  readonly usage?: Usage;
  /** After the end: `last` gives the last entry again, `all` begins anew. Without it a further call is an `INTERNAL` failure. */
  readonly repeat?: 'last' | 'all';
}

const everything: Capabilities = {
  tools: true,
  parallelToolCalls: true,
  structuredOutput: 'native',
  images: true,
  files: true,
  reasoningEffort: true,
  reasoningBudget: true,
  caching: 'automatic',
  sampling: ['temperature', 'topP', 'topK', 'frequencyPenalty', 'presencePenalty', 'stopSequences', 'seed'],
  continuation: 'prefill',
};

/**
 * A model whose every call answers with the next entry of a script; a function in its place answers every call.
 *
 * @example
 * const model = scriptedModel([{ failure: 'OVERLOADED' }, { toolCalls: [{ name: 'refund', arguments: { orderId: '17' } }] }, 'Done.']);
 */
const optionRules: Readonly<Record<keyof ScriptedModelOptions, OptionRule>> = {
  provider: anyValue,
  name: anyValue,
  quotaKey: anyValue,
  capabilities: someCapabilities,
  price: aPrice,
  usage: anyValue,
  repeat: oneOf('last', 'all'),
};

const entryNames: readonly string[] = [
  'text',
  'toolCalls',
  'reasoning',
  'finish',
  'usage',
  'brokenAfter',
  'failure',
  'delayMs',
  'chunkDelayMs',
];
const callNames: readonly (keyof ScriptedCall)[] = [
  'name',
  'arguments',
  'argumentsText',
  'callId',
  'isUnfinished',
];

export function scriptedModel(
  script: readonly ScriptStep[] | Extract<ScriptStep, (...given: never) => unknown>,
  options: ScriptedModelOptions = {},
): ScriptedModel {
  checkOptions({ of: 'scriptedModel()', rules: optionRules }, options);
  const { provider = 'scripted', name = 'scripted', usage = { inputTokens: 10, outputTokens: 5 } } = options;
  const calls: RecordedCall[] = [];
  const player = { provider, model: name, price: options.price };

  const described = {
    provider,
    name,
    quotaKey: options.quotaKey ?? provider,
    capabilities: { ...everything, ...options.capabilities },
    ...(options.price === undefined ? {} : { price: options.price }),
  };
  return {
    ...described,
    calls,
    call: (request, attempt = {}) => {
      // A test must not pass with a request that every real model refuses; nothing was asked then.
      const refused = attempt.isChecked === true ? undefined : checkRequest(described, request);
      if (refused !== undefined) return playAttempt([{ type: 'fail', failure: refused }], player, attempt);
      const callIndex = calls.push({ request, options: attempt }) - 1;
      const entry = readEntry(script, { request, callIndex, repeat: options.repeat });
      return playAttempt(safeSteps(stepsOf(entry, { callIndex, usage, player })), player, attempt);
    },
  };
}

interface Position {
  readonly request: ModelRequest;
  readonly callIndex: number;
  readonly repeat: ScriptedModelOptions['repeat'];
}

function readEntry(script: Parameters<typeof scriptedModel>[0], position: Position): ScriptEntry {
  const { request, callIndex } = position;
  try {
    const step = typeof script === 'function' ? script : stepAt(script, position);
    const entry: unknown = typeof step === 'function' ? step(request, callIndex) : step;
    if (typeof entry !== 'string' && !isRecord(entry)) return { failure: noEntryFailure(entry, callIndex) };
    if (isRecord(entry)) checkEntry(entry);
    return entry;
  } catch (thrown) {
    // A model never rejects, and what a test throws inside its script must still be seen.
    return { failure: classifyFailure(thrown, 'agent') };
  }
}

function checkEntry(entry: Readonly<Record<string, unknown>>): void {
  checkOptions({ of: 'an entry of the script', rules: entryNames }, entry);
  const calls = entry['toolCalls'];
  for (const call of Array.isArray(calls) ? calls : [])
    checkOptions({ of: 'a call of the script', rules: callNames }, call);
}

function stepAt(script: readonly ScriptStep[], { callIndex, repeat }: Position): ScriptStep {
  const index = repeat === 'all' ? callIndex % Math.max(1, script.length) : callIndex;
  const step = script[index] ?? (repeat === 'last' ? script.at(-1) : undefined);
  if (step !== undefined) return step;
  return {
    failure: createFailure('INTERNAL', {
      origin: 'agent',
      message: `The script of the model is over: it has ${script.length} entries, and this is call ${callIndex + 1}`,
      hint: 'Add an entry to the script, or set `repeat` if further calls are expected.',
    }),
  };
}

function noEntryFailure(entry: unknown, callIndex: number): Failure {
  return createFailure('CONFIG_ERROR', {
    origin: 'config',
    message: `The script of the model must say a text or an object for call ${callIndex + 1}, got ${JSON.stringify(entry) ?? typeof entry}`,
    hint: "Write 'Done.', { text }, { toolCalls }, { failure } or { brokenAfter }.",
  });
}

/** A field that cannot be told, such as a code that nobody knows, is a failure too: a model never rejects. */
function* safeSteps(steps: Iterable<Step>): Generator<Step> {
  try {
    yield* steps;
  } catch (thrown) {
    yield { type: 'fail', failure: classifyFailure(thrown, 'agent') };
  }
}

interface Telling {
  readonly callIndex: number;
  readonly player: Player;
  readonly usage: Usage;
}

function* stepsOf(given: ScriptEntry, { callIndex, usage, player }: Telling): Generator<Step> {
  const entry: Exclude<ScriptEntry, string> = typeof given === 'string' ? { text: given } : given;
  const timing = { delayMs: entry.delayMs ?? 0, chunkDelayMs: entry.chunkDelayMs ?? 0 };
  if ('failure' in entry) {
    if (entry.text !== undefined) {
      yield* answerSteps({ ...timing, text: piecesOf(entry.text), calls: [], usage: {} });
    } else if (timing.delayMs > 0) yield { type: 'wait', delayMs: timing.delayMs };
    yield { type: 'fail', failure: failureOf(entry.failure, player) };
    return;
  }
  const calls = (entry.toolCalls ?? []).map((call, index) => callOf(call, `call_${callIndex}_${index}`));
  if ('brokenAfter' in entry) {
    yield* answerSteps({ ...timing, text: piecesOf(entry.brokenAfter), calls, usage: {} });
    return;
  }
  yield* answerSteps({
    ...timing,
    text: piecesOf(entry.text ?? ''),
    calls,
    reasoning: entry.reasoning,
    usage: entry.usage ?? usage,
    finish: entry.finish ?? (calls.length > 0 ? 'tool-calls' : 'stop'),
  });
}

function piecesOf(text: string | readonly string[]): readonly string[] {
  return typeof text === 'string' ? cutIntoPieces(text) : text;
}

function callOf(call: ScriptedCall, callId: string): ScriptedCallText {
  return {
    callId: call.callId ?? callId,
    name: call.name,
    argumentsText: call.argumentsText ?? JSON.stringify(call.arguments ?? {}),
    isUnfinished: call.isUnfinished,
  };
}

function failureOf(failure: FailureCode | Failure, { provider, model }: Player): Failure {
  if (typeof failure !== 'string') return failure;
  const message = `The script of ${provider} (${model}) says: ${failure}`;
  return createFailure(failure, { origin: 'model', message, provider: { provider, model } });
}
