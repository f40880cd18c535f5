import { isKnownId } from './error-ids.ts';

const maxNormalLength = 6000;

/** What is matched by words: without quotes, for providers quote names in four ways, and without addresses to read more. */
export function normalise(messages: readonly string[]): string {
  const text = innermost(messages).join(' | ').toLowerCase();
  const plain = withoutNoise(text);
  return plain
    .replaceAll(/["'`\u2018\u2019\u201c\u201d]/g, '')
    .replaceAll(/\s{2,}|[\n\t\r\u00a0]/g, ' ')
    .trim();
}

/** The model's own name says nothing about what happened to it. */
export function withoutModel(text: string, model: string | undefined): string {
  return model === undefined || model.length < 4 ? text : text.replaceAll(model.toLowerCase(), 'x');
}

/** Addresses to read more, and the tail that LiteLLM appends: both name things that did not happen. */
function withoutNoise(text: string): string {
  const plain = text.includes('://') ? text.replaceAll(/https?:\/\/[^\s"'<>)\]]{1,300}/g, ' ') : text;
  if (!plain.includes('model group')) return plain;
  return plain.replaceAll(/(?:received|available) model group(?: fallbacks)?=\S{0,200}/g, ' ');
}

const quotedName = /(["'`\u2018\u2019\u201c\u201d])([a-z0-9][\w.:/-]{1,80})["'`\u2018\u2019\u201c\u201d]/gi;

/** Words of the protocols that a sentence may quote and mean. */
const protocolWord =
  /^(?:tools?|tool[_-]?\w+|functions?|function[_-]?\w+|max_?\w*tokens?|inputs?|messages?|role|assistant|user|system|developer|prompt|thinking|redacted_thinking|signature|finish_reason|failed_generation|content|json|stream|model|api[_-]?key|x-api-key|authorization|n_ctx|n_keep|response\.completed|message_stop|response\.text|estimated_time|retry\w*|resets?_\w+|max_(?:seq|model)_len)$/i;

/** A path into a schema: `tools.0.custom.input_schema.properties.rate_limit.type`. */
const pathMark = /\.\d+\.|\[\w|properties\./;
const schemaPath = /\b[a-z_]+(?:\.\w+|\[\w{1,40}\]){2,}/gi;

/** A quoted name says nothing about what happened: a model called `overload-1`, a parameter called 'rate_limit'. */
export function withoutNames(message: string): string {
  const head = withoutPaths(clip(message, maxSentenceLength));
  if (!/["'`\u2018\u201c]/.test(head)) return head;
  return head.replaceAll(quotedName, (whole: string, _quote: string, name: string) => {
    const isMeant = protocolWord.test(name) || isKnownId(name.toLowerCase()) || !/[\d_.:/-]/.test(name);
    return isMeant ? whole : 'x';
  });
}

function withoutPaths(message: string): string {
  if (!pathMark.test(message)) return message;
  return message.replaceAll(schemaPath, (path) => (pathMark.test(path) ? 'x' : path));
}

const maxSentenceLength = 2000;
const compound = /[A-Za-z]{2,40}(?:[a-z][A-Z]|_)[A-Za-z_]{2,80}/g;
const maxTokens = 40;

/** The names in messages that are made of several words, taken apart. */
export function tokenWords(messages: readonly string[]): string {
  const tokens = messages.flatMap((message) => clip(message, maxSentenceLength).match(compound) ?? []);
  return tokens.slice(0, maxTokens).map(wordsOfId).join(' | ');
}

/** The beginning and the end of a long text: some say at the end what happened. */
export function clip(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const endLength = Math.floor(maxLength / 4);
  return `${text.slice(0, maxLength - endLength - 3)} … ${text.slice(-endLength)}`.slice(0, maxLength);
}

/** A code as the words it is made of: `DEPLOYMENT_SCALING_UP`, `quotaExhausted`. */
export function wordsOfId(id: string): string {
  return id
    .slice(0, 120)
    .replaceAll(/([a-z\d])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3 $2$4')
    .replaceAll(/[^A-Za-z\d]+/g, ' ')
    .trim()
    .toLowerCase();
}

/** As many messages as fit, counted from the innermost: a long wrapper must not push out what it wraps. */
function innermost(messages: readonly string[]): readonly string[] {
  const kept: string[] = [];
  let remaining = maxNormalLength;
  for (const message of messages.toReversed()) {
    const head = clip(message, maxSentenceLength);
    remaining -= head.length;
    if (remaining < 0) break;
    kept.push(head);
  }
  return kept.toReversed();
}
