import { isRecord } from '../base/json.ts';
import type { Json } from '../base/json.ts';
import { deepFreeze } from '../base/plain-copy.ts';
import type { Failure } from '../errors/failure.ts';
import { textOf } from '../model/message.ts';
import type { Message, ToolCallPart } from '../model/message.ts';
import type { RecoveryName } from './turn/recovery.ts';
import type { ChildUse, ToolEnd } from './tools/tool-call.ts';

// A conducted run has a function in the place of its model: a flow or a plan. Its calls are nodes, and what the function
// knows of them is what the conversation holds: this record, as JSON, is the content of every result.

/** What became of one call of a conducted run. */
export interface CallRecord {
  readonly status: 'ok' | 'failed' | 'retry' | 'denied' | 'unknown' | 'interrupted';
  /** What came back, as a text; of `retry` the hint, of `denied` the reason. */
  readonly content?: string;
  readonly failure?: Failure;
  /** How often the run had been continued, after a failure or a cancellation, when this was written. */
  readonly resumes: number;
  /** The run that the call was, where it was one. */
  readonly childId?: string;
  /** What that run did: see `ChildUse`. */
  readonly effects?: ChildUse['effects'];
  readonly handed?: ChildUse['handed'];
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

/** What a flow or a plan does about a failure that it continues after. */
export interface Rung {
  readonly failure: Failure;
  readonly recovery: Extract<RecoveryName, 'skip' | 'fall-back' | 'replan' | 'reclassify'>;
  readonly reason: string;
  readonly lostMs?: number;
}

/** The content of a result in a conducted run. */
export function writeRecord({ type, content, failure, child, durationMs }: ToolEnd, resumes: number): string {
  const isBrokenOff = type === 'denied' && failure?.code === 'CANCELLED';
  const status = isBrokenOff ? 'interrupted' : type;
  const { runId: childId, effects, handed } = child ?? {};
  // What is undefined is left out of the text.
  const record: Unwritten<CallRecord> =
    failure === undefined
      ? // Only a hook gives it in parts.
        {
          status,
          content: typeof content === 'string' ? content : textOf(content),
          resumes,
          childId,
          effects,
          handed,
        }
      : { status, failure, resumes, childId, lostMs: durationMs, effects, handed };
  const text = JSON.stringify(record);
  if (failure === undefined) written = { text, record: record as CallRecord }; // Read from the text it would be the same.
  return text;
}

/** What was written last is nearly always what is read next. */
let written: { readonly text: string; readonly record: CallRecord } | undefined;

type Unwritten<Value> = { readonly [Key in keyof Value]: Value[Key] | undefined };

/** The content of the result of a call that was broken off. */
export function writeInterruption(resumes: number, child?: ChildUse): string {
  const { runId: childId, effects, handed } = child ?? {};
  const record: Unwritten<CallRecord> = { status: 'interrupted', resumes, childId, effects, handed };
  return JSON.stringify(record);
}

/**
 * All calls of a conducted run from its first message on that is not its task, the oldest first. For a conversation that went on it is the same list, with what came since: a long
 * run is looked at after each of its steps, and what was read need not be read again.
 */
export function readCalls(messages: readonly Message[], from: number): readonly RecordedCall[] {
  const first = messages[from];
  const last = messages.at(-1);
  if (first === undefined || last === undefined) return [];
  const before = readings.get(first);
  const goesOn =
    before !== undefined && before.count <= messages.length && messages[before.count - 1] === before.last;
  const reading: Reading = goesOn ? before : { count: from, rounds: 0, last, calls: [], places: new Map() };
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

function addMessage(reading: Reading, { role, content }: Message): void {
  if (typeof content === 'string') return;
  const round = reading.rounds + 1;
  for (const part of content) {
    if (part.type === 'tool-call' && role === 'assistant') {
      reading.rounds = round;
      addCall(reading, part);
    } else if (part.type === 'tool-result') addRecord(reading, part.callId, recordOf(part.content));
  }
}

function addCall({ calls, places, rounds }: Reading, { callId, name, argumentsText }: ToolCallPart): void {
  if (lately.text !== argumentsText)
    lately = { text: argumentsText, input: deepFreeze(JSON.parse(argumentsText) as Json) }; // Written by a conductor.
  const { input } = lately;
  places.set(callId, calls.push({ callId, name, input, round: rounds }) - 1);
}

/** What was read last: nearly all nodes are given the same. */
let lately: { readonly text: string; readonly input: Json } = { text: 'null', input: null };

function addRecord({ calls, places }: Reading, ended: string, record: CallRecord): void {
  const place = places.get(ended);
  const call = place === undefined ? undefined : calls[place];
  if (place === undefined || call === undefined) return;
  const { callId, name, input, round } = call;
  calls[place] = { callId, name, input, round, record };
}

/** The record in a result, if it is one: a conversation that was handed in may hold any. */
export function recordIn(content: unknown): CallRecord | undefined {
  try {
    const read: unknown = typeof content === 'string' ? JSON.parse(content) : undefined;
    return isRecord(read) && typeof read['resumes'] === 'number'
      ? (read as unknown as CallRecord)
      : undefined; // Written by `writeRecord`.
  } catch {
    return undefined; // The text of a tool.
  }
}

function recordOf(content: unknown): CallRecord {
  if (written !== undefined && written.text === content) return written.record;
  const read: unknown = typeof content === 'string' ? JSON.parse(content) : undefined;
  if (!isRecord(read)) return { status: 'interrupted', resumes: 0 };
  return read as unknown as CallRecord; // Written by `writeRecord`.
}
