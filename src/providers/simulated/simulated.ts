import type { Capabilities } from '../../model/capabilities.ts';
import type { FinishReason } from '../../model/finish.ts';
import type { Model } from '../../model/model.ts';
import type { Price } from '../../model/price.ts';
import type { ModelRequest } from '../../model/request.ts';
import { configError } from '../config-error.ts';
import { guardModel } from '../guarded-model.ts';
import { answerSteps, cutIntoPieces } from './answer-steps.ts';
import type { AnswerScript, ScriptedCallText } from './answer-steps.ts';
import { charactersPerToken, estimateTokens } from './estimate-tokens.ts';
import type { MindAnswer, MindCall } from './mind-answer.ts';
import { createMind } from './mind.ts';
import { playAttempt } from './play-attempt.ts';
import { checkOptions } from '../../model/check/check-options.ts';

/** One turn that a demonstration wants word for word. A plain string is a text. */
export type PlannedTurn = string | { readonly text?: string; readonly toolCalls?: readonly MindCall[] };

/** How the simulated model behaves. Nothing of it is needed. */
export interface SimulatedOptions {
  /** Chooses between phrases that mean the same. A request's own `seed` goes before it. */
  readonly seed?: number;
  /**
   * What to say, turn by turn: the first entry answers a conversation without an assistant's message, the second one with
   * one, and so on. So a turn that is asked for again, after a failure, is the same. After the plan the rules answer.
   */
  readonly plan?: readonly PlannedTurn[];
  /** The wait before the answer, and between two pieces of a few words. */
  readonly delayMs?: number;
  readonly chunkDelayMs?: number;
  /** Default: `simulated`. */
  readonly name?: string;
}

const optionNames = [
  'seed',
  'plan',
  'delayMs',
  'chunkDelayMs',
  'name',
] as const satisfies readonly (keyof SimulatedOptions)[];

const capabilities: Capabilities = {
  tools: true,
  parallelToolCalls: true,
  structuredOutput: 'native',
  images: false,
  files: false,
  // It thinks no longer for it, and no shorter; a program written for another model still runs.
  reasoningEffort: true,
  reasoningBudget: true,
  caching: 'automatic',
  // Taken and obeyed where they can change anything: rules have no temperature.
  sampling: ['temperature', 'topP', 'topK', 'frequencyPenalty', 'presencePenalty', 'stopSequences', 'seed'],
  continuation: 'prefill',
};

/** It costs nothing, which is known, and not unknown. */
const price: Price = { inputUsd: 0, outputUsd: 0, asOf: '2026-01-01' };

/**
 * The model that is built in: rules instead of a network. Offline, without a key, the same answer every time; it can talk
 * about Rerail, do sums, remember what it was told and use tools. It says that it is simulated when asked.
 *
 * @example const agent = createAgent({ name: 'demo', model: simulated() });
 */
export function simulated(options: SimulatedOptions = {}): Model {
  checkOptions({ of: 'simulated()', rules: optionNames }, options);
  const { seed = 0, plan = [], delayMs = 0, chunkDelayMs = 0, name = 'simulated' } = options;
  for (const turn of plan)
    if (typeof turn !== 'string')
      checkOptions({ of: 'a turn of "plan"', rules: ['text', 'toolCalls'] }, turn);
  checkDelay('delayMs', delayMs);
  checkDelay('chunkDelayMs', chunkDelayMs);
  const player = { provider: 'simulated', model: name, price };
  return guardModel({
    provider: 'simulated',
    name,
    quotaKey: 'simulated',
    capabilities,
    price,
    call: (request, attempt) => {
      const turn = request.messages.filter(({ role }) => role === 'assistant').length;
      const mind = createMind({ seed: request.seed ?? seed });
      const answer = planned(plan[turn]) ?? mind.answer(withBegun(request));
      const script = scriptOf(answer, { request, turn });
      const id = `simulated-${turn}`;
      const steps = answerSteps({ ...script, delayMs, chunkDelayMs, responseId: id, servedBy: name });
      return playAttempt(steps, player, attempt);
    },
  });
}

function checkDelay(option: string, delayMs: number): void {
  if (Number.isFinite(delayMs) && delayMs >= 0) return;
  throw configError(
    `Cannot make the simulated model: "${option}" must be a number of milliseconds from 0 on, got ${delayMs}`,
  );
}

/** The beginning of a broken answer, put where a provider wants it: as the assistant's own last words. */
function withBegun(request: ModelRequest): ModelRequest {
  const { continueFrom, messages } = request;
  if (continueFrom === undefined || continueFrom === '') return request;
  return { ...request, messages: [...messages, { role: 'assistant', content: continueFrom }] };
}

function planned(turn: PlannedTurn | undefined): MindAnswer | undefined {
  if (turn === undefined) return undefined;
  const { text, toolCalls = [] } = typeof turn === 'string' ? { text: turn } : turn;
  const characters = (text?.length ?? 0) + JSON.stringify(toolCalls).length;
  const usage = { inputTokens: 1, outputTokens: estimateTokens(characters) };
  return { ...(text === undefined ? {} : { text }), toolCalls, usage };
}

interface Asked {
  readonly request: ModelRequest;
  readonly turn: number;
}

type Spoken = Pick<AnswerScript, 'text' | 'calls' | 'usage' | 'finish'>;

function scriptOf(answer: MindAnswer, { request, turn }: Asked): Spoken {
  const calls = answer.toolCalls.map(({ name, arguments: given }, index) => ({
    callId: `call_${turn}_${index}`,
    name,
    argumentsText: JSON.stringify(given),
  }));
  const text = cutAt(answer.text ?? '', request.stopSequences ?? []);
  const { maxOutputTokens = Infinity } = request;
  if (answer.usage.outputTokens > maxOutputTokens)
    return cutShort(text, calls, { ...answer.usage, maxOutputTokens });
  const finish: FinishReason = calls.length > 0 ? 'tool-calls' : 'stop';
  return { text: cutIntoPieces(text), calls, usage: answer.usage, finish };
}

function cutAt(text: string, stops: readonly string[]): string {
  const places = stops.map((stop) => (stop === '' ? -1 : text.indexOf(stop))).filter((place) => place >= 0);
  return places.length === 0 ? text : text.slice(0, Math.min(...places));
}

interface Shortage {
  readonly inputTokens: number;
  readonly maxOutputTokens: number;
}

/** What fits into the tokens that are allowed, as a provider cuts it: in the middle of a word or of a call. */
function cutShort(text: string, calls: readonly ScriptedCallText[], shortage: Shortage): Spoken {
  const { inputTokens, maxOutputTokens } = shortage;
  const shown = text.slice(0, Math.max(0, maxOutputTokens) * charactersPerToken);
  const unfinished = calls.slice(0, 1).map((call) => ({ ...call, argumentsText: '{', isUnfinished: true }));
  const usage = { inputTokens, outputTokens: maxOutputTokens };
  return { text: cutIntoPieces(shown), calls: unfinished, usage, finish: 'length' };
}
