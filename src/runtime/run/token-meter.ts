import type { Clock } from '../../base/clock.ts';
import type { TokenCounter } from '../../context/context-options.ts';
import { countConversation, countMessage } from '../../context/estimate-tokens.ts';
import type { EstimatedConversation } from '../../context/estimate-tokens.ts';
import { estimateTextTokens } from '../../context/text-tokens.ts';
import { describeThrown } from '../../errors/classify/safe-read.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { Message } from '../../model/message.ts';
import { showValue } from '../../model/check/show-value.ts';
import { ownerNamed } from '../../model/stray-errors.ts';
import type { StrayErrors } from '../../model/stray-errors.ts';
import { callHook } from '../hooks/hook-call.ts';
import type { HookCallEnd } from '../hooks/hook-call.ts';
import { publish } from './live-run.ts';
import type { LiveRun } from './live-run.ts';

/** Counts tokens with a function of the caller; what it does not count is estimated. */
export interface TokenMeter {
  /** Counts what was not counted yet, before a plan is made. Never rejects: where the function fails, the estimate is used and that is reported. */
  readonly measure: (
    live: LiveRun,
    messages: readonly Message[],
    options: { readonly signal: AbortSignal },
  ) => Promise<void>;
  readonly tokensOf: (message: Message) => number;
  /** Of instructions, tools and the schema of the answer. */
  readonly fixedTokens: () => number;
}

interface MeterOptions {
  readonly counter: TokenCounter;
  readonly fixed: Omit<EstimatedConversation, 'messages'>;
  readonly clock: Clock;
  readonly strayErrors: StrayErrors;
}

/** How long all that is counted before one call of a model may take. */
const maxMeasureMs = 10_000;
const maxTokens = 1_000_000_000;

interface Meter extends MeterOptions {
  readonly counted: WeakMap<Message, number>;
  /** Runs that know of a failure: it would be the same at every turn. */
  readonly told: WeakSet<LiveRun>;
  fixedTokens: number | undefined;
  /** One that gave a promise is not asked while a plan is made: notes and shortened texts are estimated then. */
  isPrompt: boolean;
}

/** A meter that has counted nothing. */
export function createTokenMeter(options: MeterOptions): TokenMeter {
  const meter: Meter = {
    ...options,
    counted: new WeakMap(),
    told: new WeakSet(),
    fixedTokens: undefined,
    isPrompt: true,
  };
  return {
    measure: (live, messages, { signal }) => measure(meter, live, { messages, signal }),
    tokensOf: (message) =>
      meter.counted.get(message) ?? countMessage(message, (text) => countNow(meter, text)),
    fixedTokens: () => meter.fixedTokens ?? countConversation(options.fixed, estimateTextTokens),
  };
}

interface Measuring {
  readonly messages: readonly Message[];
  readonly signal: AbortSignal;
}

async function measure(meter: Meter, live: LiveRun, { messages, signal }: Measuring): Promise<void> {
  const { counted, fixed, clock } = meter;
  const left = messages.filter((message) => !counted.has(message));
  const texts = new Set(left.flatMap((message) => textsIn((count) => countMessage(message, count))));
  if (meter.fixedTokens === undefined)
    for (const text of textsIn((count) => countConversation(fixed, count))) texts.add(text);
  const counts = new Map<string, number>();
  const endMs = clock.monotonicMs() + maxMeasureMs;
  for (const text of texts) {
    const asked = ask(meter, text, { live, signal, timeoutMs: Math.max(1, endMs - clock.monotonicMs()) });
    if (asked instanceof Promise) meter.isPrompt = false;
    const end = asked instanceof Promise ? await asked : asked;
    const reading = readCount(end);
    if (typeof reading === 'number') counts.set(text, reading);
    else tell(meter, live, counterFailed(reading));
    // What it had no time for is asked again before the next call.
    if (end.type === 'timed-out' || end.type === 'aborted') return;
  }
  const count = (text: string): number => counts.get(text) ?? estimateTextTokens(text);
  for (const message of left) counted.set(message, countMessage(message, count));
  meter.fixedTokens ??= countConversation(fixed, count);
}

/** Of a text that came up only now. */
function countNow(meter: Meter, text: string): number {
  const asked = meter.isPrompt ? ask(meter, text, { timeoutMs: 1 }) : undefined;
  const reading = asked === undefined || asked instanceof Promise ? undefined : readCount(asked);
  return typeof reading === 'number' ? reading : estimateTextTokens(text);
}

interface Limits {
  readonly live?: LiveRun;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

function ask(meter: Meter, text: string, { live, ...limits }: Limits): HookCallEnd | Promise<HookCallEnd> {
  const { counter, clock, strayErrors } = meter;
  const report = (failure: Failure): void => tell(meter, live, failure);
  const owner = ownerNamed('The token counter', { strayErrors, report });
  return callHook((context) => counter(text, context), { clock, owner, ...limits });
}

function tell({ told }: Meter, live: LiveRun | undefined, failure: Failure): void {
  if (live === undefined || told.has(live)) return;
  told.add(live);
  publish(live, { type: 'hook-failed', hook: 'tokenCounter', point: 'before-model', failure });
}

/** The texts that a count is made of, found by counting. */
function textsIn(count: (countText: (text: string) => number) => number): readonly string[] {
  const texts: string[] = [];
  count((text) => {
    texts.push(text);
    return 0;
  });
  return texts;
}

interface Miscount {
  readonly why: string;
  readonly thrown?: unknown;
}

function readCount(end: HookCallEnd): number | Miscount {
  if (end.type === 'threw') return { why: `threw: ${describeThrown(end.thrown)}`, thrown: end.thrown };
  if (end.type !== 'answered') return { why: `gave no answer within ${maxMeasureMs / 1000} s` };
  const { answer } = end;
  const isCount = typeof answer === 'number' && answer >= 0 && answer <= maxTokens;
  return isCount ? Math.ceil(answer) : { why: `gave ${showValue(answer)}, which is no number of tokens` };
}

function counterFailed({ why, thrown: cause }: Miscount): Failure {
  return createFailure('HOOK_FAILED', {
    origin: 'hook',
    message: `The token counter ${why}: the built-in estimate is used in its place`,
    context: { hook: 'tokenCounter' },
    cause,
  });
}
