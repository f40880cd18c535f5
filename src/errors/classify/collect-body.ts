import { collectHeaders } from './collect-headers.ts';
import { add, addCode, isHttpStatus, spend } from './collector.ts';
import type { Collector } from './collector.ts';
import { isDelayField } from './delay-fields.ts';
import { parseLoosely } from './loose-object.ts';
import { isKnownId } from './error-ids.ts';
import { isList, readEntries, readProperty } from './safe-read.ts';

/**
 * Reads what an answer or an SDK wrote: JSON, JSON inside JSON, a Python repr, an event of a stream, an HTML page, prose.
 * Fields that may echo a prompt or a model's output are never looked at.
 */
export function collectText(collector: Collector, raw: string, depth = 0): void {
  const text = raw.slice(0, Math.min(maxTextLength, collector.remainingCharacters)).trim();
  collector.remainingCharacters -= text.length;
  if (text === '' || depth > maxDepth) return;
  // What a long text ends with is read first: what it begins with is the closer evidence.
  if (raw.length > maxTextLength)
    collectText(collector, raw.slice(Math.max(maxTextLength, raw.length - maxEndLength)), depth + 1);
  if (isHtml(text)) {
    collectHtml(collector, text);
    return;
  }
  const body = isEvent(text) ? unframe(text) : text;
  const whole = parseJson(body);
  if (whole === undefined) collectProse(collector, body, depth);
  else collectValue(collector, whole, depth);
}

/** Walks a parsed body. Depth, width and the number of collected entries are bounded. */
export function collectValue(collector: Collector, value: unknown, depth: number): void {
  if (depth > maxDepth) return;
  if (typeof value === 'string') {
    collectText(collector, value, depth + 1);
    return;
  }
  const entries = readEntries(value, maxWidth);
  const hasError = entries.some(([key]) => key === 'error');
  for (const [key, inner] of entries) {
    if (!spend(collector)) return;
    // Beside an error, `metadata` is the caller's own; inside one it is the provider's.
    if (hasError && key === 'metadata') continue;
    collectField(collector, { key, inner, depth });
  }
}

const maxTextLength = 32_768;
const maxEndLength = 8192;
const maxDepth = 12;
const maxWidth = 60;
const maxKeyLength = 300;

type FieldKind = 'message' | 'code' | 'request-id' | 'skip';

/** What the fields of error bodies mean; names are compared in lower case, without `_` and `-`. */
const fieldKinds: Readonly<Record<string, FieldKind>> = {
  message: 'message',
  msg: 'message',
  error: 'message',
  errors: 'message',
  detail: 'message',
  details: 'message',
  errormessage: 'message',
  errormsg: 'message',
  errordescription: 'message',
  statusmsg: 'message',
  failurereason: 'message',
  blockreasonmessage: 'message',
  finishmessage: 'message',
  title: 'message',
  raw: 'message',
  body: 'message',
  err: 'message',
  data: 'message',
  code: 'code',
  type: 'code',
  status: 'code',
  reason: 'code',
  errorcode: 'code',
  errortype: 'code',
  errno: 'code',
  name: 'code',
  statuscode: 'code',
  httpcode: 'code',
  httpstatus: 'code',
  httpstatuscode: 'code',
  exceptiontype: 'code',
  limitsource: 'code',
  blockreason: 'code',
  finishreason: 'code',
  stopreason: 'code',
  quotaid: 'message',
  quotametric: 'message',
  requestid: 'request-id',
  // What may hold a prompt or a model's output.
  failedgeneration: 'skip',
  input: 'skip',
  inputs: 'skip',
  prompt: 'skip',
  messages: 'skip',
  content: 'skip',
  request: 'skip',
  requestbody: 'skip',
  requestbodyvalues: 'skip',
  config: 'skip',
  loc: 'skip',
  stack: 'skip',
  tools: 'skip',
  toolchoice: 'skip',
  text: 'skip',
  format: 'skip',
  output: 'skip',
  instructions: 'skip',
  reasoning: 'skip',
  safetyratings: 'skip',
  usage: 'skip',
};

interface Field {
  readonly key: string;
  readonly inner: unknown;
  readonly depth: number;
}

function collectField(collector: Collector, { key, inner, depth }: Field): void {
  const name = key.toLowerCase().replaceAll(/[_:-]/g, '');
  // A frame of an AWS stream: `{ "modelStreamErrorException": { … } }`.
  if (name.endsWith('exception')) addCode(collector, key);
  if (name === 'headers') collectHeaders(collector.headers, inner);
  // Some servers put the sentence where the name belongs: `{ "error parsing tool call": … }`.
  if (key.includes(' ')) addMessage(collector, key.slice(0, maxKeyLength));
  const kind = Object.hasOwn(fieldKinds, name) ? fieldKinds[name] : undefined;
  if (kind === 'skip') return;
  if (isDelayField(name)) addDelay(collector, { key, name, inner });
  if (isList(inner)) {
    // The items of a list are what its name says: `{ "errors": ["…", "…"] }`.
    if (depth >= maxDepth) return;
    for (const [, item] of readEntries(inner, maxWidth)) {
      if (!spend(collector)) return;
      collectField(collector, { key, inner: item, depth: depth + 1 });
    }
    return;
  }
  if (typeof inner === 'object') {
    collectValue(collector, inner, depth + 1);
    return;
  }
  if (typeof inner !== 'string' && typeof inner !== 'number') return;
  if (kind === 'code') addCodeField(collector, name, inner);
  if (kind === 'request-id') add(collector.requestIds, String(inner));
  if (typeof inner === 'string' && kind !== 'code')
    collectWords(collector, { name, kind, text: inner, depth });
}

interface WordsField {
  readonly name: string;
  readonly kind: FieldKind | undefined;
  readonly text: string;
  readonly depth: number;
}

/** A text that is one word may be an error code, whatever its field is called: `{ "errorInfo": "rateLimitExceeded" }`. */
function collectWords(collector: Collector, { name, kind, text, depth }: WordsField): void {
  if (kind === 'request-id') return;
  const isMessage = kind === 'message' || messageName.test(name);
  if (codeWord.test(text) && (isKnownId(text) || (isMessage && kind === undefined))) addCode(collector, text);
  else if (isMessage) collectText(collector, text, depth + 1);
}

/** How the names of fields end that hold a sentence about what happened. */
const messageName =
  /(?:messages?|msg|errors?|details?|descriptions?|reasons?|cause|explanation|fault|info|problem|failure)$/;
const codeWord = /^[a-z][\w.:#/-]{2,80}$/i;

/** A wait as one value, or as protobuf writes it: `{ seconds: 7, nanos: 500000000 }`. */
function addDelay(
  collector: Collector,
  field: { readonly key: string; readonly name: string; readonly inner: unknown },
): void {
  const { key, name, inner } = field;
  if (typeof inner === 'string' || typeof inner === 'number')
    add(collector.delays, { key, name, value: inner });
  const seconds = readProperty(inner, 'seconds');
  if (seconds === undefined) return;
  const value = Number(seconds) + Number(readProperty(inner, 'nanos') ?? 0) / 1e9;
  add(collector.delays, { key, name, value });
}

/** `reason` and its like may be whole sentences: those are read as words. A `name` counts only where it names an error. */
function addCodeField(collector: Collector, name: string, value: string | number): void {
  if (typeof value === 'string' && value.includes(' ') && !isHttpStatus(value)) {
    if (name !== 'name') collectText(collector, value, maxDepth);
    return;
  }
  if (name === 'name' && !/(?:error|exception)$/i.test(String(value))) return;
  if (name === 'blockreason' && !/unspecified/i.test(String(value))) addCode(collector, 'PROMPT_BLOCKED');
  addCode(collector, value);
}

/** Prose, perhaps around an object: `Error code: 429 - {'error': …}`. What stands outside the object stays prose. */
function collectProse(collector: Collector, text: string, depth: number): void {
  const start = depth >= maxDepth ? -1 : text.search(objectOpening);
  if (start === -1) {
    addMessage(collector, text);
    return;
  }
  addMessage(collector, text.slice(0, start));
  const before = collector.messages.length + collector.ids.length;
  const { value, end, broken } = parseLoosely(text, start);
  if (broken) add(collector.raw, text.slice(start, start + maxTail));
  collectValue(collector, value, depth + 1);
  const foundNothing = collector.messages.length + collector.ids.length === before;
  // Searched for words but never quoted: an object without any field of an error may be the request.
  if (foundNothing) add(collector.raw, text.slice(start, start + maxTail));
  else collectProse(collector, text.slice(end), depth + 1);
}

const maxTail = 2000;
/** Where an object begins in a text. */
export const objectOpening = /\{\s{0,20}\\?["'a-z_$]/i;

function addMessage(collector: Collector, text: string): void {
  const message = text.trim();
  if (message.length < 2) return;
  add(collector.messages, message);
}

function parseJson(text: string): unknown {
  if (!/^[[{"]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return value === null ? undefined : value;
  } catch {
    return undefined; // Not JSON as a whole: read as prose that may hold an object.
  }
}

function isEvent(text: string): boolean {
  return /^(?:event|data|id|retry):/.test(text);
}

/** The data of a server-sent event, without its framing. An event called `error` is kept as a word. */
function unframe(text: string): string {
  return text.replaceAll(/^(?:data|event|id|retry):[ ]?/gm, '').trim();
}

function isHtml(text: string): boolean {
  return text.startsWith('<') && /^<(?:!doctype|!--|html|head|body|center|h1|div|title|\?xml)/i.test(text);
}

const maxPageLength = 8000;

/** The words of a page, without its markup: the title and the first headings tell what it is. */
function collectHtml(collector: Collector, page: string): void {
  collector.isPage = true;
  const words = page
    .slice(0, maxPageLength)
    .replaceAll(/<(script|style)\b[^>]{0,500}>[^<]{0,5000}/gi, ' ')
    .replaceAll(/<[^<>]{0,1000}>/g, ' ')
    .replaceAll(/\s+/g, ' ');
  addMessage(collector, words.slice(0, maxTail));
}
