import { defined } from '../../../base/defined.ts';
import { isRecord } from '../../../base/json.ts';
import type { FinishReason } from '../../../model/finish.ts';
import type { StreamPart } from '../../../model/stream-part.ts';
import type { Usage } from '../../../model/usage.ts';
import type { DecodeResult, StreamDecoder } from '../../protocol.ts';
import {
  continueBlock,
  createBlocks,
  releaseCalls,
  releaseHeld,
  startBlock,
  stopBlock,
} from './anthropic-blocks.ts';
import type { Blocks } from './anthropic-blocks.ts';
import { inputUsage, noInputCounts, outputUsage, readInputCounts } from './anthropic-usage.ts';
import type { InputCounts } from './anthropic-usage.ts';
import { parseEventData, wireText } from '../decode-json.ts';
import { jsonText } from '../json-text.ts';
import { readMarker } from '../marker.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One message while it arrives. */
interface Reading {
  readonly blocks: Blocks;
  progress: 'waiting' | 'started' | 'stopped';
  counts: InputCounts;
  stopReason: string | undefined;
}

const nothing: DecodeResult = { type: 'parts', parts: [] };

/** Reads a stream of Anthropic's events. Kinds that it does not know it passes over, as Anthropic asks of its readers. */
export function createAnthropicDecoder(): StreamDecoder {
  const reading = createReading();
  return {
    event: ({ name, data }) => {
      // After its last event a message is complete, and nothing can be added to it.
      if (reading.progress === 'stopped') return nothing;
      // Sent to stay awake, by some gateways without any data.
      if (name === 'ping' || readMarker(data) !== undefined) return nothing;
      const parsed = parseEventData(data);
      // Gateways write errors of their own as they like; the classifier reads words too.
      if (parsed.type === 'problem' && name === 'error') return providerError(data);
      if (parsed.type === 'problem') return { ...parsed, parts: [] };
      const event = parsed.value;
      const type = typeof event['type'] === 'string' ? event['type'] : name;
      if (isError(type, event)) return providerError(data);
      const parts: StreamPart[] = [];
      const reason = readEvent(reading, { type, event }, parts);
      return reason === undefined ? { type: 'parts', parts } : malformed(reason, data, parts);
    },
    end: (why) => {
      const parts: StreamPart[] = [];
      // A server that stays connected and says nothing more has said all; one that closes without its last event was cut off.
      if (why === 'quiet' && isFinished(reading)) stopMessage(reading, parts);
      else if (reading.progress !== 'stopped') releaseHeld(reading.blocks, parts);
      return { type: 'parts', parts };
    },
    ending: () => (isFinished(reading) ? 'said' : 'open'),
  };
}

/** Reads an answer that came in one piece, as the events that it would have been. */
export function decodeAnthropicBody(body: unknown): DecodeResult {
  const parts: StreamPart[] = [];
  if (isRecord(body) && isError(body['type'], body)) return providerError(wireText(body));
  const reason = isRecord(body) ? readBody(createReading(), body, parts) : 'The body is not a JSON object';
  return reason === undefined ? { type: 'parts', parts } : malformed(reason, wireText(body), parts);
}

function createReading(): Reading {
  return { blocks: createBlocks(), progress: 'waiting', counts: noInputCounts, stopReason: undefined };
}

/** The message has said why it ends, and all of its blocks are whole. */
function isFinished({ progress, stopReason, blocks }: Reading): boolean {
  return progress === 'started' && stopReason !== undefined && blocks.speaking === blocks.inOrder.length;
}

function isError(type: unknown, event: Fields): boolean {
  const { type: ownType, error } = event;
  const isTold = isRecord(error) || (typeof error === 'string' && error !== '');
  return type === 'error' || (ownType === undefined && isTold);
}

function providerError(body: string): DecodeResult {
  return { type: 'problem', problem: { type: 'provider-error', body }, parts: [] };
}

function malformed(reason: string, data: string, parts: readonly StreamPart[]): DecodeResult {
  return { type: 'problem', problem: { type: 'malformed', reason, data }, parts };
}

interface TypedEvent {
  readonly type: string;
  readonly event: Fields;
}

/** What the event means; returns what is wrong with it, if anything is. */
function readEvent(reading: Reading, { type, event }: TypedEvent, parts: StreamPart[]): string | undefined {
  if (!knownEvents.has(type)) return undefined;
  if (type === 'message_start') return startMessage(reading, event['message'], parts);
  if (reading.progress === 'waiting') return `The stream begins with ${type} instead of message_start`;
  if (isLateCall(reading, event)) return `A tool call goes on after the stop_reason "${reading.stopReason}"`;
  switch (type) {
    case 'content_block_delta':
      return continueBlock(reading.blocks, event, parts);
    case 'content_block_start':
      return startBlock(reading.blocks, event, parts);
    case 'content_block_stop':
      return stopBlock(reading.blocks, event, parts);
    case 'message_delta':
      return changeMessage(reading, event, parts);
    default:
      return stopMessage(reading, parts);
  }
}

/** A call behind a reason that says that there is none: to run it would be a guess, and to drop it would be one too. */
function isLateCall({ stopReason, blocks }: Reading, { index, content_block: content }: Fields): boolean {
  if (stopReason === undefined || finishReasons.get(stopReason) === 'tool-calls') return false;
  const isCall = isRecord(content) && content['type'] === 'tool_use';
  return isCall || blocks.byIndex.get(index as number)?.type === 'call'; // A key that is no number is simply not there.
}

const knownEvents: ReadonlySet<string> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
]);

function startMessage(reading: Reading, message: unknown, parts: StreamPart[]): string | undefined {
  // A second beginning is a server that started over inside our stream: two answers must not become one.
  if (reading.progress !== 'waiting') return 'The message starts a second time in one stream';
  if (!isRecord(message)) return 'message_start holds no message';
  reading.progress = 'started';
  const { id, model } = message;
  parts.push({
    type: 'started',
    ...defined({
      responseId: typeof id === 'string' ? id : undefined,
      servedBy: typeof model === 'string' ? model : undefined,
    }),
  });
  reading.counts = readInputCounts(reading.counts, message['usage']);
  pushUsage(inputUsage(reading.counts), parts);
  return undefined;
}

function changeMessage(reading: Reading, event: Fields, parts: StreamPart[]): undefined {
  const { delta, usage } = event;
  const stopReason = isRecord(delta) ? delta['stop_reason'] : undefined;
  // A later reason does not take back that the answer was cut, refused or held back.
  if (typeof stopReason === 'string' && !isFinal(reading.stopReason)) reading.stopReason = stopReason;
  reading.counts = readInputCounts(reading.counts, usage);
  pushUsage({ ...inputUsage(reading.counts), ...outputUsage(usage) }, parts);
}

function isFinal(stopReason: string | undefined): boolean {
  const reason = stopReason === undefined ? undefined : finishReasons.get(stopReason);
  return reason !== undefined && reason !== 'stop' && reason !== 'tool-calls';
}

function pushUsage(usage: Usage, parts: StreamPart[]): void {
  if (Object.keys(usage).length > 0) parts.push({ type: 'usage', usage });
}

function stopMessage(reading: Reading, parts: StreamPart[]): undefined {
  reading.progress = 'stopped';
  const { stopReason: raw, blocks } = reading;
  const reason = raw === undefined ? undefined : (finishReasons.get(raw) ?? 'other');
  const isCut = reason === undefined || reason === 'length' || reason === 'refused';
  if (!isCut) releaseCalls(blocks, parts);
  releaseHeld(blocks, parts);
  if (raw !== undefined && reason !== undefined) parts.push({ type: 'finished', finish: { reason, raw } });
}

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'tool-calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'refused'],
  ['pause_turn', 'interrupted'],
  // Not Anthropic's own word, but gateways before other models use it.
  ['content_filter', 'filtered'],
]);

function readBody(reading: Reading, body: Fields, parts: StreamPart[]): string | undefined {
  const { content, usage, stop_reason } = body;
  if (!Array.isArray(content)) return 'The message has no list of content';
  const started = startMessage(reading, body, parts);
  if (started !== undefined) return started;
  for (const [index, block] of content.entries()) {
    const reason = readWholeBlock(reading.blocks, { index, content_block: block as unknown }, parts);
    if (reason !== undefined) return reason;
  }
  changeMessage(reading, { delta: { stop_reason }, usage }, parts);
  return stopMessage(reading, parts);
}

function readWholeBlock(blocks: Blocks, event: Fields, parts: StreamPart[]): string | undefined {
  const { index, content_block: content } = event;
  const reason = startBlock(blocks, event, parts);
  if (reason !== undefined) return reason;
  // In a stream the empty object is a placeholder; here it is what the model wrote.
  if (isRecord(content) && content['type'] === 'tool_use' && content['input'] !== undefined) {
    const partial_json = jsonText(content['input']);
    if (partial_json === undefined) return 'The input of a tool call is nested too deeply';
    continueBlock(blocks, { index, delta: { type: 'input_json_delta', partial_json } }, parts);
  }
  return stopBlock(blocks, { index }, parts);
}
