import { defined } from '../../../base/defined.ts';
import { isRecord } from '../../../base/json.ts';
import type { StreamPart } from '../../../model/stream-part.ts';
import type { DecodeProblem, DecodeResult, StreamDecoder, StreamEnding } from '../../protocol.ts';
import { parseEventData } from '../decode-json.ts';
import { readMarker } from '../marker.ts';
import { createChatCalls, finishCalls, readCallDelta } from './openai-chat-calls.ts';
import type { ChatCalls } from './openai-chat-calls.ts';
import { readContent, readReasoning } from './openai-chat-content.ts';
import { finishOf, finishReasonOf, problemOfReason } from './openai-chat-finish.ts';
import { readChatUsage } from './openai-chat-usage.ts';
import {
  findProviderError,
  malformed,
  nothing,
  problemOfErrorEvent,
  problemResult,
  providerError,
} from '../openai-problem.ts';
import type { Fields } from '../openai-problem.ts';

/** What must be remembered of a response while it arrives. */
export interface ChatState {
  readonly calls: ChatCalls;
  /** What the chunk at hand means; a new list for each. */
  parts: StreamPart[];
  phase: 'waiting' | 'answering' | 'closed';
  hasContent: boolean;
  isRefused: boolean;
  /** The `finish_reason`, once it was seen. */
  rawReason: string | undefined;
  /** More of the answer came after the reason. */
  goesOn: boolean;
  /** The reason came with the first piece of the answer. */
  isEarly: boolean;
}

interface Chunk {
  readonly id?: unknown;
  readonly model?: unknown;
  readonly choices?: unknown;
  readonly usage?: unknown;
  readonly x_groq?: unknown;
}

interface Choice {
  readonly index?: unknown;
  readonly delta?: unknown;
  readonly message?: unknown;
  readonly finish_reason?: unknown;
  readonly error?: unknown;
  /** Moonshot tells it here. */
  readonly usage?: unknown;
}

interface Delta {
  readonly content?: unknown;
  readonly refusal?: unknown;
  readonly tool_calls?: unknown;
  readonly function_call?: unknown;
}

/** A decoder for one stream of chunks. */
export function createChatDecoder(): StreamDecoder {
  const state = createChatState();
  return {
    event: (event) => readEvent(state, event),
    end: () => finishChat(state),
    ending: () => endingOf(state),
  };
}

/** Nothing has arrived. */
export function createChatState(): ChatState {
  return {
    calls: createChatCalls(),
    parts: [],
    phase: 'waiting',
    hasContent: false,
    isRefused: false,
    rawReason: undefined,
    goesOn: false,
    isEarly: false,
  };
}

function endingOf({ rawReason, goesOn, isEarly }: ChatState): StreamEnding {
  if (rawReason === undefined || goesOn) return 'open';
  return isEarly && finishReasonOf(rawReason) === 'stop' ? 'likely' : 'said';
}

function readEvent(
  state: ChatState,
  { name, data }: { readonly name: string; readonly data: string },
): DecodeResult {
  if (state.phase === 'closed') return nothing;
  const marker = readMarker(data);
  if (marker !== undefined) return marker === 'done' ? finishChat(state) : nothing;
  if (name === 'error') return problemResult(problemOfErrorEvent(data));
  const parsed = parseEventData(data);
  return parsed.type === 'problem' ? problemResult(parsed.problem) : readChunk(state, parsed.value);
}

/** Reads one chunk, or a whole answer, which differs only in calling its delta a message. */
export function readChunk(state: ChatState, chunk: Fields): DecodeResult {
  const error = findProviderError(chunk);
  if (error !== undefined) return problemResult(error);
  const parts: StreamPart[] = [];
  state.parts = parts;
  const problem = readFields(state, chunk);
  return problem === undefined ? { type: 'parts', parts } : { type: 'problem', problem, parts };
}

/** The end of the stream. Only an answer whose reason to stop was told is finished. */
export function finishChat(state: ChatState): DecodeResult {
  const { rawReason, calls, isRefused, phase } = state;
  state.phase = 'closed';
  if (phase === 'closed' || rawReason === undefined) return nothing;
  const finish = finishOf(rawReason, { hasCalls: calls.all.length > 0, isRefused });
  const reason = finishReasonOf(rawReason);
  const parts = finishCalls(calls, { isCut: reason === 'length' || reason === 'filtered' });
  parts.push({ type: 'finished', finish });
  return { type: 'parts', parts };
}

function readFields(state: ChatState, chunk: Fields): DecodeProblem | undefined {
  const { choices, usage, x_groq: groq }: Chunk = chunk;
  if (choices !== undefined && choices !== null && !Array.isArray(choices)) {
    return malformed('"choices" must be a list', chunk);
  }
  const choice = findChoice(choices ?? []);
  if (state.phase === 'waiting') start(state, chunk, choice);
  const problem = choice === undefined ? undefined : readChoice(state, choice);
  pushUsage(state, usage);
  if (!isRecord(groq)) return problem;
  pushUsage(state, groq['usage']);
  const { error } = groq;
  return (
    problem ?? (typeof error === 'string' && error !== '' ? providerError({ message: error }) : undefined)
  );
}

/** We ask for one answer; where someone asked for more by the provider's options, the first counts. */
function findChoice(choices: readonly unknown[]): Fields | undefined {
  for (const choice of choices) {
    // Some servers leave the index out, or write it as text.
    if (isRecord(choice) && Number(choice['index'] ?? 0) === 0) return choice;
  }
  return undefined;
}

/** Azure begins with a chunk that holds only the verdict on the prompt: no id, no model, no choice. */
function start(state: ChatState, { id, model }: Chunk, choice: Fields | undefined): void {
  const responseId = typeof id === 'string' && id !== '' ? id : undefined;
  const servedBy = typeof model === 'string' && model !== '' ? model : undefined;
  if (responseId === undefined && servedBy === undefined && choice === undefined) return;
  state.phase = 'answering';
  if (responseId !== undefined && servedBy !== undefined) {
    state.parts.push({ type: 'started', responseId, servedBy }); // The usual one, and the rest takes time.
    return;
  }
  state.parts.push({ type: 'started', ...defined({ responseId, servedBy }) });
}

function readChoice(state: ChatState, choice: Fields): DecodeProblem | undefined {
  const { delta, message, finish_reason: reason, error, usage }: Choice = choice;
  if (isRecord(error)) return providerError(error);
  // A server that answers a stream in one piece sends a message; beside deltas it only repeats them.
  const body = delta ?? (state.hasContent ? undefined : message);
  if (body !== undefined && body !== null && !isRecord(body))
    return malformed('"delta" must be an object', choice);
  const hadContent = state.hasContent;
  const problem = isRecord(body) ? (findLateCall(state, body) ?? readDelta(state, body)) : undefined;
  if (usage !== undefined) pushUsage(state, usage);
  if (problem !== undefined || typeof reason !== 'string' || reason === '') return problem;
  if (finishReasonOf(reason) === 'error') return problemOfReason(reason);
  if (state.rawReason === undefined) state.isEarly = state.hasContent && !hadContent;
  // A later `stop` does not take back that the answer was cut or filtered.
  if (state.rawReason === undefined || !isFinal(state.rawReason)) state.rawReason = reason;
  return undefined;
}

/** A call behind a reason that says that there is none: to run it would be a guess, and to drop it would be one too. */
function findLateCall({ rawReason }: ChatState, delta: Fields): DecodeProblem | undefined {
  if (rawReason === undefined || finishReasonOf(rawReason) === 'tool-calls') return undefined;
  const { tool_calls: calls, function_call: call }: Delta = delta;
  const hasCall = (Array.isArray(calls) && calls.length > 0) || isRecord(call);
  return hasCall ? malformed(`A tool call came after the finish_reason "${rawReason}"`, delta) : undefined;
}

function isFinal(rawReason: string): boolean {
  return !['stop', 'tool-calls', 'other'].includes(finishReasonOf(rawReason));
}

function readDelta(state: ChatState, delta: Fields): DecodeProblem | undefined {
  const { content, refusal, tool_calls: calls, function_call: call }: Delta = delta;
  const before = state.parts.length;
  readReasoning(delta, state.parts);
  if (content !== undefined && content !== null && !readContent(content, state.parts)) {
    return malformed('"content" must be text', delta);
  }
  if (typeof refusal === 'string' && refusal !== '') {
    state.isRefused = true;
    state.parts.push({ type: 'text-delta', text: refusal });
  }
  if (calls !== undefined && calls !== null && !Array.isArray(calls)) {
    return malformed('"tool_calls" must be a list', delta);
  }
  if (Array.isArray(calls) && calls.length > 0) readCalls(state, calls);
  // What `tool_calls` replaced: one call, without an id. Some servers send it in both forms.
  else if (isRecord(call)) state.parts.push(...readCallDelta(state.calls, { index: 0, function: call }, 0));
  if (state.parts.length === before) return undefined;
  state.hasContent = true;
  if (state.rawReason !== undefined) state.goesOn = true;
  return undefined;
}

function readCalls(state: ChatState, calls: readonly unknown[]): void {
  for (const [position, call] of calls.entries()) {
    if (isRecord(call)) state.parts.push(...readCallDelta(state.calls, call, position));
  }
}

function pushUsage(state: ChatState, value: unknown): void {
  const usage = readChatUsage(value);
  if (usage !== undefined) state.parts.push({ type: 'usage', usage });
}
