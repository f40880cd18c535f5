import { isRecord } from '../../../base/json.ts';
import type { StreamPart } from '../../../model/stream-part.ts';
import { parseToolArguments } from '../../../model/tool-arguments.ts';
import { wireText } from '../decode-json.ts';
import { createCallIds } from '../made-call-ids.ts';
import type { CallIds } from '../made-call-ids.ts';
import type { Fields } from '../openai-problem.ts';

/** The tool calls of one response while they arrive. */
export interface ChatCalls {
  readonly makeId: CallIds;
  /** The call that a delta with this index goes on with. */
  readonly byIndex: Map<number, Call>;
  readonly all: Call[];
  /** Where the last delta went: the call that a cut would go through. */
  lastWritten: Call | undefined;
}

interface Call {
  readonly callId: string;
  /** As the provider sent it; absent as long as it has not. */
  wireId: string | undefined;
  /** Empty until it is known. Then the call is announced. */
  name: string;
  /** Arguments that came before the name. */
  heldText: string;
  /** All arguments so far. */
  text: string;
}

interface CallDelta {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: unknown;
}

interface FunctionDelta {
  readonly name?: unknown;
  readonly arguments?: unknown;
}

/** Starts without calls. */
export function createChatCalls(): ChatCalls {
  return { makeId: createCallIds(), byIndex: new Map(), all: [], lastWritten: undefined };
}

/** Reads one entry of `tool_calls`, at its position in the list. Gives the parts that it means. */
export function readCallDelta(calls: ChatCalls, delta: Fields, position: number): readonly StreamPart[] {
  const { index, id, function: body }: CallDelta = delta;
  const fields: FunctionDelta = isRecord(body) ? body : {};
  const wireId = typeof id === 'string' && id !== '' ? id : undefined;
  const name = typeof fields.name === 'string' ? fields.name : '';
  const key = typeof index === 'number' ? index : undefined;

  const open = calls.byIndex.get(key ?? position);
  const text = argumentsTextOf(fields.arguments);
  const isSame =
    open !== undefined && !startsAnother(open, { wireId, name, text, hasIndex: key !== undefined });
  const call = isSame ? open : addCall(calls, key ?? position, wireId);
  call.wireId ??= wireId;
  calls.lastWritten = call;
  call.text += text;
  return write(call, { name, text });
}

/** Ends the calls. Where the answer was cut, the one that was being written and the last one may be incomplete. */
export function finishCalls(calls: ChatCalls, { isCut }: { readonly isCut: boolean }): StreamPart[] {
  const last = calls.all.at(-1);
  const parts: StreamPart[] = [];
  for (const call of calls.all) {
    const { callId, name, heldText } = call;
    if (isCut && (call === last || call === calls.lastWritten)) continue;
    // Nobody can run a call without a name, but it must be seen that there was one.
    if (name === '') {
      parts.push({ type: 'tool-call-started', callId, name });
      parts.push({ type: 'tool-call-delta', callId, text: heldText });
    }
    parts.push({ type: 'tool-call-finished', callId });
  }
  return parts;
}

interface Beginning {
  readonly wireId: string | undefined;
  readonly name: string;
  readonly text: string;
  readonly hasIndex: boolean;
}

/**
 * Some servers give every call the index 0, or none, and only a new id or name tells them apart; others repeat both with
 * every delta, or make up a new id for each. So a call begins with a name, and with an id that is not the one we know, or with an
 * object of arguments behind a whole one.
 */
function startsAnother(open: Call, { wireId, name, text, hasIndex }: Beginning): boolean {
  if (name === '' || open.name === '') return false;
  // Most pieces do not look so, and need not be parsed. The very same object may have been sent once more.
  const looksWhole = text.trimStart().startsWith('{') && open.text.trimEnd().endsWith('}');
  if (looksWhole && text !== open.text && parseToolArguments(open.text).type === 'parsed') return true;
  return wireId === undefined ? !hasIndex : open.wireId !== undefined && wireId !== open.wireId;
}

function addCall(calls: ChatCalls, index: number, wireId: string | undefined): Call {
  const call: Call = { callId: calls.makeId(wireId), wireId, name: '', heldText: '', text: '' };
  calls.byIndex.set(index, call);
  calls.all.push(call);
  return call;
}

function write(call: Call, { name, text }: { readonly name: string; readonly text: string }): StreamPart[] {
  const { callId } = call;
  if (call.name !== '') return text === '' ? [] : [{ type: 'tool-call-delta', callId, text }];
  call.heldText += text;
  if (name === '') return [];
  call.name = name;
  const started: StreamPart = { type: 'tool-call-started', callId, name };
  if (call.heldText === '') return [started];
  return [started, { type: 'tool-call-delta', callId, text: call.heldText }];
}

/** By the protocol a text; some servers send the object itself. */
function argumentsTextOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : wireText(value);
}
