/** Gathers what a failed call left behind, within bounds. Later entries come from deeper inside. */
export interface Collector {
  /** Error codes and types as written by the provider: `insufficient_quota`, `RESOURCE_EXHAUSTED`, `1302`. */
  readonly ids: string[];
  /** Names of error classes, from objects and from texts: `RateLimitError`. */
  readonly names: string[];
  /** `ECONNRESET`, `UND_ERR_HEADERS_TIMEOUT`, `CERT_HAS_EXPIRED`. */
  readonly errnos: string[];
  /** HTTP statuses found inside: in a body's `code`, an SDK's `status`, a text's `Error code: 429`. */
  readonly statuses: number[];
  /** Sentences, in their own spelling. */
  readonly messages: string[];
  /** Texts whose quotes do not match: searched for words, never quoted, for they may hold anything. */
  readonly raw: string[];
  /** Fields that state a wait, such as `retryDelay`. */
  readonly delays: DelayField[];
  readonly requestIds: string[];
  /** Headers that an SDK kept on its error. */
  readonly headers: Record<string, string>;
  /** Set where a web page was met. */
  isPage: boolean;
  /** How many fields may still be looked at, so that a circular or endless object ends. */
  remainingFields: number;
  /** How many characters may still be read, over all texts. */
  remainingCharacters: number;
}

export interface DelayField {
  /** As written: `retryDelay`. */
  readonly key: string;
  /** In lower case, without `_` and `-`: `retrydelay`. */
  readonly name: string;
  readonly value: string | number;
}

const maxEntries = 60;
const maxFields = 1000;
const maxCharacters = 200_000;

export function createCollector(): Collector {
  return {
    ids: [],
    names: [],
    errnos: [],
    statuses: [],
    messages: [],
    raw: [],
    delays: [],
    requestIds: [],
    headers: {},
    isPage: false,
    remainingFields: maxFields,
    remainingCharacters: maxCharacters,
  };
}

/** Takes one field from the budget; false when it is spent. */
export function spend(collector: Collector): boolean {
  collector.remainingFields -= 1;
  return collector.remainingFields >= 0;
}

export function add<T>(list: T[], value: T): void {
  if (list.length < maxEntries) list.push(value);
}

/** A code may be an HTTP status, a provider's own number, an errno or a word: sorts it to where it belongs. */
export function addCode(collector: Collector, value: string | number): void {
  const text = String(value).trim();
  if (text === '' || text.length > 200) return;
  if (isHttpStatus(text)) {
    add(collector.statuses, Number(text));
    return;
  }
  if (isErrno(text)) add(collector.errnos, text);
  else add(collector.ids, text);
}

const httpStatus = /^[2-5]\d\d$/;

export function isHttpStatus(text: string): boolean {
  return httpStatus.test(text);
}

const errno =
  /^(?:E[A-Z]{2,15}|EAI_[A-Z]+|UND_ERR_[A-Z_]+|HPE_[A-Z_]+|ERR_[A-Z0-9_]+|ABORT_ERR|CERT_[A-Z_]+|DEPTH_ZERO_[A-Z_]+|SELF_SIGNED_[A-Z_]+|UNABLE_TO_[A-Z_]+|CRL_[A-Z_]+|Z_[A-Z_]+|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH|PATH_LENGTH_EXCEEDED)$/;

function isErrno(text: string): boolean {
  return errno.test(text);
}
