import { collectValue } from './collect-body.ts';
import { collectError } from './collect-error.ts';
import { collectHeaders } from './collect-headers.ts';
import { add, createCollector } from './collector.ts';
import type { Collector, DelayField } from './collector.ts';
import { isKnownId } from './error-ids.ts';
import { clip, normalise, withoutModel, withoutNames, wordsOfId } from './normalise.ts';
import { canonicalProvider } from './provider-names.ts';
import { nameOf } from './safe-read.ts';
import { errnosByNumber, grpcStatuses } from './system-numbers.ts';

/** Headers as clients hold them: a record, a `Headers`, a list of pairs. */
export type ResponseHeaders =
  Readonly<Record<string, string | readonly string[] | undefined>> | Iterable<readonly [string, string]>;

/** What `classifyProviderFailure` is given. Whatever is known may be passed; nothing is required. */
export interface ProviderFailureInput {
  /** What the runtime called: `anthropic`, `openai`, `gemini` … */
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  /** The HTTP status of the answer. */
  readonly status?: number | undefined;
  readonly headers?: ResponseHeaders | undefined;
  /** The body as received, or one event of a stream: as text, as bytes or already parsed. */
  readonly body?: string | object | undefined;
  /** What was thrown, by a socket or by an SDK. */
  readonly error?: unknown;
  /** The wall clock in milliseconds, for dates in headers that come without a `Date` of their own. */
  readonly now?: number | undefined;
}

/** All that a failed call left behind, sorted and bounded, innermost first where order matters. */
export interface Evidence {
  readonly provider: string;
  /** The status that counts: the innermost one stated, else that of the answer. */
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly ids: readonly string[];
  /** The innermost code in its own spelling, for people. */
  readonly errorType: string | undefined;
  readonly names: readonly string[];
  /** The names as words: `ContextOverflowError` becomes 'context overflow error'. */
  readonly nameWords: string;
  /** A web page came instead of an answer. */
  readonly isPage: boolean;
  /** The name of what was thrown, in lower case. */
  readonly thrownName: string;
  readonly errnos: readonly string[];
  /** In their own spelling, outermost first. */
  readonly messages: readonly string[];
  /** All messages as the wording rules want them: lower case, without quotes and addresses, single spaces. */
  readonly text: string;
  /** Codes that no table knows, as words: `AccountBalanceNotEnough` becomes 'account balance not enough'. */
  readonly idWords: string;
  readonly delays: readonly DelayField[];
  readonly requestId: string | undefined;
}

export function gatherEvidence(input: ProviderFailureInput): Evidence {
  const collector = createCollector();
  const { status } = input;
  collectHeaders(collector.headers, input.headers);
  const awsError = collector.headers['x-amzn-errortype'];
  if (awsError !== undefined) add(collector.ids, awsError.split(':', 1)[0] ?? '');
  if (input.error !== undefined && input.error !== null) collectError(collector, input.error);
  collectValue(collector, ArrayBuffer.isView(input.body) ? textOf(input.body) : input.body, 0);
  for (const message of [...collector.raw, ...collector.messages]) collectNumbers(collector, message);
  // An answer over HTTP has said all this in its own fields; a gateway that failed may quote somebody else's.
  if (status === undefined || status >= 500 || input.error !== undefined) {
    for (const message of [...collector.raw, ...collector.messages]) collectFromWords(collector, message);
  }
  return {
    provider: canonicalProvider(input.provider),
    status: collector.statuses.findLast((inner) => inner >= 400) ?? status ?? collector.statuses.at(-1),
    headers: collector.headers,
    ids: collector.ids.map((id) => id.toLowerCase()).toReversed(),
    errorType: collector.ids.findLast((id) => id !== 'error'),
    isPage: collector.isPage || (collector.headers['content-type'] ?? '').startsWith('text/html'),
    names: collector.names.map((name) => name.toLowerCase()).toReversed(),
    nameWords: collector.names.map(wordsOfId).join(' | '),
    thrownName: (nameOf(input.error) ?? '').toLowerCase(),
    errnos: collector.errnos.toReversed(),
    messages: collector.messages,
    text: meaningfulText(collector, input.model),
    idWords: wordsOfIds(collector.ids),
    delays: collector.delays,
    requestId: collector.requestIds[0] ?? requestIdHeader(collector.headers),
  };
}

/** A body as bytes: `Buffer` is one too. Of a longer one only the head and the tail are read anyway. */
function textOf({ buffer, byteOffset, byteLength }: ArrayBufferView): string {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  const decode = (part: Uint8Array): string => new TextDecoder().decode(part);
  if (bytes.length <= 2 * maxBodyBytes) return decode(bytes);
  return `${decode(bytes.subarray(0, maxBodyBytes))} … ${decode(bytes.subarray(-maxBodyBytes))}`;
}

const maxBodyBytes = 65_536;

/** Names are taken out of sentences only: a text with broken quotes is one long quote. */
function meaningfulText({ raw, messages }: Collector, model: string | undefined): string {
  return withoutModel(normalise([...raw, ...messages.map(withoutNames)]), model);
}

function wordsOfIds(ids: readonly string[]): string {
  const unknown = ids.filter((id) => !isKnownId(id)).map(wordsOfId);
  return [...new Set(unknown)].filter((words) => words.includes(' ')).join(' | ');
}

const requestIdHeaders = [
  'request-id',
  'x-request-id',
  'x-amzn-requestid',
  'apim-request-id',
  'x-goog-request-id',
  'cf-ray',
] as const;

function requestIdHeader(headers: Readonly<Record<string, string>>): string | undefined {
  return requestIdHeaders.map((name) => headers[name]).find((value) => value !== undefined);
}

const maxScanLength = 2000;
const errnoInWords =
  /\b(?:ECONN[A-Z]{2,}|ENOTFOUND|EAI_[A-Z]+|ETIMEDOUT|ESOCKETTIMEDOUT|EPIPE|EHOST[A-Z]+|ENET[A-Z]+|EADDR[A-Z]+|EPROTO|UND_ERR_[A-Z_]+|HPE_[A-Z_]+|CERT_[A-Z]+_[A-Z_]+|DEPTH_ZERO_[A-Z_]+|SELF_SIGNED_[A-Z_]+|UNABLE_TO_[A-Z_]+|ERR_(?:TLS|SSL|STREAM|SOCKET|HTTP2|CANCELED|BAD|INVALID|NETWORK|CONNECTION)[A-Z_]*)\b/g;
const nameInWords = /\b(?:AI_)?[A-Za-z]{3,40}(?:Error|Exception|Timeout|Fault)\b/g;
/** `httpx.TooManyRedirects: …`, `io.netty.channel.AbstractChannel$AnnotatedConnectException: …`, `Net::ReadTimeout`. */
const qualifiedName =
  /(?:^|[\s(<'"])(?:[A-Za-z_]\w{0,40}(?:[.\\$]|::)){1,8}([A-Z][A-Za-z\d]{3,60})(?=[:(]|$)/g;
/** As clouds' clients write it: `An error occurred (ExpiredToken) when calling …`, `code:ResourceUnavailable.InArrears message:…`. */
const calledWith =
  /\berror occurred \(([A-Za-z]\w{3,60})\) when calling\b|\b[Cc]ode ?[:=] ?["']?([A-Z][a-z]\w{2,60}(?:\.\w{2,60}){0,3})\b/g;
const idInWords = /\b[a-z]{2,30}(?:_[a-z]{2,30}){1,5}\b/gi;
const mayHoldNumber = /[([]\d{4}|^\d{4}:|\bcode ?[:=] ?\d{2}/i;
const numberInBrackets = /[([](\d{4,5})[)\]]|^(\d{4}): |\bcode ?[:=] ?(\d{2}|\d{4,6})\b/gi;
const statusInWords =
  /^\W{0,3}(?:[a-z_.]{0,60}(?:error|exception)\]?:? ){0,2}\W{0,3}(?:http )?([45]\d\d)\b(?![,.]?\d)|(?:status(?: ?code)?|error code|http(?:\/[\d.]{1,3})?|got status|api error|server error|client error|response code|(?:server|api|endpoint|upstream|provider|gateway|backend|request) (?:returned|responded with|answered|replied with|failed with|rejected with))(?: was)?[:=]? ?['(<]?([45]\d\d)\b/gi;
const maxStatusScan = 600;
/** An answer in a log of the exchange, as curl and SDKs write it: `< 400 Bad Request`. */
const loggedStatus = /(?:^|\n)< (?:http\/[\d.]{1,3} )?([45]\d\d)\b/i;

/** A provider's own number, as in `insufficient balance (1008)`, `3040: capacity exceeded` or `code: 336501`. */
function collectNumbers(collector: Collector, message: string): void {
  const head = clip(message, maxScanLength);
  if (!mayHoldNumber.test(head)) return;
  for (const [, bracketed, leading, named] of head.matchAll(numberInBrackets)) {
    add(collector.ids, bracketed ?? leading ?? named ?? '');
  }
}

/** Errnos, class names, error codes and statuses that a wrapper left only in its text. */
function collectFromWords(collector: Collector, message: string): void {
  const head = clip(message, maxScanLength);
  for (const errno of errnosByNumber(head)) add(collector.errnos, errno);
  for (const status of grpcStatuses(head)) add(collector.ids, status);
  for (const [errno] of head.matchAll(errnoInWords)) add(collector.errnos, errno);
  for (const [name] of head.matchAll(nameInWords)) add(collector.names, name);
  for (const [, name = ''] of head.matchAll(qualifiedName)) add(collector.names, name);
  for (const [, called, coded] of head.matchAll(calledWith)) add(collector.ids, called ?? coded ?? '');
  for (const [id] of head.matchAll(idInWords)) {
    if (isKnownId(id.toLowerCase())) add(collector.ids, id);
  }
  const found = loggedStatus.exec(head) ?? [...head.slice(0, maxStatusScan).matchAll(statusInWords)].at(-1);
  if (found === undefined) return;
  const status = Number(found[1] ?? found[2]);
  // An object's own field says it better than the words around it, but a gateway's 5xx may quote what it was answered.
  if (collector.statuses.every((known) => known >= 500 && status < 500)) add(collector.statuses, status);
}
