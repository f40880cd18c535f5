import { isRecord } from '../base/json.ts';
import type { Json } from '../base/json.ts';
import type { Failure } from '../errors/failure.ts';
import { textOf } from '../model/message.ts';
import type { Message } from '../model/message.ts';
import type { RecoveryName } from './recovery.ts';
import type { ToolEnd } from './tool-call.ts';

// A conducted run has a function in the place of its model: a flow or a plan. Its calls are nodes, and what the function
// knows of them is what the conversation holds: this record, as JSON, is the content of every result.

/** What became of one call of a conducted run. */
export interface CallRecord {
  readonly status: 'ok' | 'failed' | 'retry' | 'denied' | 'unknown' | 'interrupted';
  /** What came back, as a text; of `retry` the hint, of `denied` the reason. */
  readonly content?: string;
  readonly failure?: Failure;
  /** How often the run had been gone on with, after a failure or a cancellation, when this was written. */
  readonly resumes: number;
  /** The run that the call was, where it was one. */
  readonly childId?: string;
  /** Of a failure: what was lost by it. */
  readonly lostMs?: number;
}

/** A call of a conducted run, in the order of the conversation. */
export interface RecordedCall {
  readonly callId: string;
  readonly name: string;
  readonly input: Json;
  /** The same for calls that were made side by side, higher for those after them. */
  readonly round: number;
  /** Absent while it has not ended. */
  readonly record?: CallRecord;
}

/** What a flow or a plan does about a failure that it goes on after. */
export interface Rung {
  readonly failure: Failure;
  readonly recovery: Extract<RecoveryName, 'skip' | 'fall-back' | 'replan' | 'reclassify'>;
  readonly reason: string;
  readonly lostMs?: number;
}

/** The content of a result in a conducted run. */
export function writeRecord({ type, content, failure, child, durationMs }: ToolEnd, resumes: number): string {
  const isBrokenOff = type === 'denied' && failure?.code === 'CANCELLED';
  const record: CallRecord = {
    status: isBrokenOff ? 'interrupted' : type,
    // Only a hook gives it in parts.
    ...(failure === undefined ? { content: typeof content === 'string' ? content : textOf(content) } : {}),
    ...(failure === undefined ? {} : { failure }),
    resumes,
    ...(child === undefined ? {} : { childId: child.runId }),
    ...(failure === undefined ? {} : { lostMs: durationMs }),
  };
  return JSON.stringify(record);
}

/** The content of the result of a call that was broken off. */
export function writeInterruption(resumes: number): string {
  return JSON.stringify({ status: 'interrupted', resumes } satisfies CallRecord);
}

/**
 * All calls of a conducted run, the oldest first. For a conversation that went on it is the same list, with what came since: a long
 * run is looked at after each of its steps, and what was read need not be read again.
 */
export function readCalls(messages: readonly Message[]): readonly RecordedCall[] {
  const [first] = messages;
  const last = messages.at(-1);
  if (first === undefined || last === undefined) return [];
  const before = readings.get(first);
  const goesOn =
    before !== undefined && before.count <= messages.length && messages[before.count - 1] === before.last;
  const reading: Reading = goesOn ? before : { count: 0, rounds: 0, last, calls: [], places: new Map() };
  for (let index = reading.count; index < messages.length; index += 1) {
    const message = messages[index];
    if (message !== undefined) addMessage(reading, message);
  }
  reading.count = messages.length;
  reading.last = last;
  if (!goesOn) readings.set(first, reading);
  return reading.calls;
}

interface Reading {
  count: number;
  rounds: number;
  last: Message;
  readonly calls: RecordedCall[];
  readonly places: Map<string, number>;
}

const readings = new WeakMap<Message, Reading>();

function addMessage(reading: Reading, message: Message): void {
  const { calls, places } = reading;
  const { made, ended } = readMessage(message);
  if (made.length > 0) reading.rounds += 1;
  for (const call of made) places.set(call.callId, calls.push({ ...call, round: reading.rounds }) - 1);
  for (const [callId, record] of ended) {
    const place = places.get(callId);
    const call = place === undefined ? undefined : calls[place];
    if (place !== undefined && call !== undefined) calls[place] = { ...call, record };
  }
}

interface ReadMessage {
  readonly made: readonly Omit<RecordedCall, 'round'>[];
  readonly ended: readonly (readonly [string, CallRecord])[];
}

function readMessage(message: Message): ReadMessage {
  const made: Omit<RecordedCall, 'round'>[] = [];
  const ended: (readonly [string, CallRecord])[] = [];
  const { role, content } = message;
  for (const part of typeof content === 'string' ? [] : content) {
    if (role === 'assistant' && part.type === 'tool-call')
      made.push({ callId: part.callId, name: part.name, input: inputOf(part.argumentsText) });
    if (part.type === 'tool-result') ended.push([part.callId, recordOf(part.content)]);
  }
  return { made, ended };
}

function inputOf(text: string): Json {
  return JSON.parse(text) as Json; // Written by a conductor.
}

function recordOf(content: unknown): CallRecord {
  const read: unknown = typeof content === 'string' ? JSON.parse(content) : undefined;
  if (!isRecord(read)) return { status: 'interrupted', resumes: 0 };
  return read as unknown as CallRecord; // Written by `writeRecord`.
}
