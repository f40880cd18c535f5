import { isRecord } from '../../base/json.ts';
import { defined } from '../../base/defined.ts';
import type { Finish, FinishReason } from '../../model/finish.ts';
import type { Signature } from '../../model/message.ts';
import { showValue } from '../../model/check/show-value.ts';
import { isProgress } from '../../model/stream-part.ts';
import type { StreamPart } from '../../model/stream-part.ts';
import { readCount } from '../../model/usage.ts';
import type { Usage } from '../../model/usage.ts';
import { maxAnswerCharacters, maxAnswerParts } from '../answer-bounds.ts';

/** What one yielded value means: parts of the answer, or why it is none. */
export type ReadParts =
  | { readonly type: 'parts'; readonly parts: readonly StreamPart[] }
  | { readonly type: 'problem'; readonly reason: string };

/** Reads what a stream yields. Nothing of it is trusted: a program without types may yield anything. */
export interface PartReader {
  readonly read: (value: unknown) => ReadParts;
  /** Whether the end was announced. */
  readonly isFinished: () => boolean;
  /** The last parts of an answer whose end was announced; none otherwise. Calls that were left open are closed. */
  readonly finish: () => readonly StreamPart[];
}

interface Reading {
  /** Calls that are being written: the id that the stream gave, and ours. */
  readonly open: Map<string, string>;
  readonly usedIds: Set<string>;
  parts: number;
  characters: number;
  finish: Finish | undefined;
}

/** Nothing was read yet. */
export function createPartReader(): PartReader {
  const reading: Reading = {
    open: new Map(),
    usedIds: new Set(),
    parts: 0,
    characters: 0,
    finish: undefined,
  };
  return {
    read: (value) => {
      try {
        return readBounded(reading, value);
      } catch (problem) {
        // A getter of the value threw, or what it holds is no part: both are sentences for the author of the stream.
        return { type: 'problem', reason: problem instanceof Error ? problem.message : 'it cannot be read' };
      }
    },
    isFinished: () => reading.finish !== undefined,
    finish: () => lastParts(reading),
  };
}

function readBounded(reading: Reading, value: unknown): ReadParts {
  const parts = readValue(reading, value);
  reading.parts += 1;
  for (const part of parts) if ('text' in part) reading.characters += part.text.length;
  const { characters } = reading;
  if (reading.parts > maxAnswerParts || characters > maxAnswerCharacters)
    throw new Error(
      `the answer is too large: ${characters} characters in ${reading.parts} parts, at most ${maxAnswerCharacters} in ${maxAnswerParts}`,
    );
  if (reading.finish !== undefined && parts.some(isProgress))
    throw new Error(`"${parts.find(isProgress)?.type}" came after "finished", which must be the last part`);
  return { type: 'parts', parts };
}

function readValue(reading: Reading, value: unknown): readonly StreamPart[] {
  if (!isRecord(value)) throw new Error(`a part must be an object with a "type", got ${showValue(value)}`);
  const { type } = value;
  switch (type) {
    case 'text-delta':
    case 'reasoning-delta':
      return [{ type, text: readDelta(value) }];
    case 'text-finished':
      return isLate(reading) ? [] : [{ type, ...readSignature(value) }];
    case 'reasoning-finished':
      if (isLate(reading)) return [];
      return [{ type, ...readSignature(value), ...(value['isRedacted'] === true && { isRedacted: true }) }];
    case 'tool-call-started':
      return [startCall(reading, value)];
    case 'tool-call-delta':
      return [{ type, callId: openCall(reading, value), text: readDelta(value) }];
    case 'tool-call-finished':
      return finishCall(reading, value);
    case 'tool-call':
      return readWholeCall(reading, value);
    case 'usage':
      return [{ type, usage: readUsage(value['usage']) }];
    case 'started':
      return isLate(reading) ? [] : [{ type, ...readStarted(value) }];
    case 'finished':
      reading.finish ??= readFinish(value['finish']);
      return [];
    default:
      throw new Error(`there is no part of the type ${showValue(type)}`);
  }
}

/** What closes a block after the announced end closes nothing. */
function isLate({ finish }: Reading): boolean {
  return finish !== undefined;
}

/** A delta without text is a sign of life: many servers send `null` there. One with its piece under another name is a mistake. */
function readDelta(value: Readonly<Record<string, unknown>>): string {
  const text = value['text'] ?? '';
  const other =
    value['text'] === undefined ? Object.keys(value).find((key) => !deltaKeys.has(key)) : undefined;
  if (other !== undefined)
    throw new Error(`"${String(value['type'])}" has no "text", but "${other}": the piece goes into "text"`);
  if (typeof text !== 'string')
    throw new Error(`"text" of "${String(value['type'])}" must be a text, got ${showValue(text)}`);
  return text;
}

const deltaKeys: ReadonlySet<string> = new Set(['type', 'callId', 'text']);

function readSignature(value: Readonly<Record<string, unknown>>): { readonly signature?: Signature } {
  const { signature } = value;
  // Handed back to this model only, as it came.
  return isRecord(signature) ? { signature: signature as unknown as Signature } : {};
}

function startCall(reading: Reading, value: Readonly<Record<string, unknown>>): StreamPart {
  const { callId, name } = value;
  if (typeof name !== 'string' || name === '')
    throw new Error(`"name" of "${String(value['type'])}" must name a tool, got ${showValue(name)}`);
  const given = callId === undefined || callId === null ? '' : callId;
  if (typeof given !== 'string')
    throw new Error(`"callId" of "${String(value['type'])}" must be a text, got ${showValue(callId)}`);
  const own = given === '' || reading.usedIds.has(given) ? freeId(reading) : given;
  reading.usedIds.add(own);
  reading.open.set(given, own);
  return { type: 'tool-call-started', callId: own, name };
}

/** Two calls never share an id: a result would belong to both. */
function freeId({ usedIds }: Reading): string {
  let number = usedIds.size;
  // Ends: among more numbers than there are ids one is free.
  while (usedIds.has(`call_${number}`)) number += 1;
  return `call_${number}`;
}

function openCall({ open }: Reading, value: Readonly<Record<string, unknown>>): string {
  const { callId } = value;
  const own = open.get(typeof callId === 'string' ? callId : '');
  if (own !== undefined) return own;
  throw new Error(
    `"${String(value['type'])}" is for the call ${showValue(callId)}, which was not started or is finished`,
  );
}

function finishCall(reading: Reading, value: Readonly<Record<string, unknown>>): readonly StreamPart[] {
  const callId = openCall(reading, value);
  reading.open.delete(typeof value['callId'] === 'string' ? value['callId'] : '');
  return [{ type: 'tool-call-finished', callId, ...readSignature(value) }];
}

function readWholeCall(reading: Reading, value: Readonly<Record<string, unknown>>): readonly StreamPart[] {
  const given = value['arguments'];
  if (typeof given !== 'string' && !isRecord(given))
    throw new Error(`"arguments" of "tool-call" must be an object or a text, got ${showValue(given)}`);
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  const started = startCall(reading, value);
  const callId = openCall(reading, value);
  return [started, { type: 'tool-call-delta', callId, text }, ...finishCall(reading, value)];
}

const counts = [
  'inputTokens',
  'outputTokens',
  'reasoningTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
] as const satisfies readonly (keyof Usage)[];

/** A count that is none is unknown, and never 0. */
function readUsage(given: unknown): Usage {
  if (!isRecord(given)) return {};
  return defined(Object.fromEntries(counts.map((name) => [name, readCount(given[name])])));
}

function readStarted(value: Readonly<Record<string, unknown>>): {
  readonly responseId?: string;
  readonly servedBy?: string;
} {
  const { responseId, servedBy } = value;
  return {
    ...(typeof responseId === 'string' && { responseId }),
    ...(typeof servedBy === 'string' && { servedBy }),
  };
}

const finishReasons: Readonly<Record<FinishReason, true>> = {
  stop: true,
  'tool-calls': true,
  length: true,
  filtered: true,
  refused: true,
  'malformed-call': true,
  interrupted: true,
  other: true,
};

/** An unknown reason is refused: `max_tokens` taken for `stop` would be half an answer that looks whole. */
function readFinish(given: unknown): Finish {
  const reason = isRecord(given) ? given['reason'] : given;
  const raw = isRecord(given) ? given['raw'] : given;
  if (typeof reason !== 'string' || !Object.hasOwn(finishReasons, reason))
    throw new Error(
      `"finish" of "finished" must be one of ${Object.keys(finishReasons).join(', ')}, or { reason, raw } with one of them, got ${showValue(given)}`,
    );
  return { reason: reason as FinishReason, raw: typeof raw === 'string' ? raw : reason }; // Looked up just now.
}

function lastParts({ finish, open, usedIds }: Reading): readonly StreamPart[] {
  if (finish === undefined) return [];
  // Only an answer that ended by itself has finished what it was writing.
  const isWhole = finish.reason === 'stop' || finish.reason === 'tool-calls';
  const closed = isWhole ? [...open.values()] : [];
  const isCalling = finish.reason === 'stop' && usedIds.size > 0;
  return [
    ...closed.map((callId) => ({ type: 'tool-call-finished', callId }) as const),
    { type: 'finished', finish: isCalling ? { ...finish, reason: 'tool-calls' } : finish },
  ];
}
