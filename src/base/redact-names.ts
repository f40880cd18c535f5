/**
 * Whether a name says that its value is a secret: `authorization`, `x-api-key`, `clientSecret`, `AWS_SECRET_ACCESS_KEY`.
 * Any case and any way to join words. Counts and kinds of tokens are none: `max_tokens`, `tokenizer`, `token_type`.
 */
export function isSecretName(name: string): boolean {
  const known = judged.get(name);
  if (known !== undefined) return known;
  const isSecret = judgeName(name);
  if (judged.size >= maxJudged) judged.clear();
  judged.set(name, isSecret);
  return isSecret;
}

/** The same few names come again and again. */
const judged = new Map<string, boolean>();
const maxJudged = 1000;

function judgeName(name: string): boolean {
  if (name.includes('[redacted')) return false; // What it was the name of is no longer known.
  if (name === 'PWD' || name === 'OLDPWD') return false; // The working directory in every dump of an environment.
  const words = wordsOf(name);
  while (ignoredLastWords.has(words.at(-1) ?? '')) words.pop();
  const last = words.at(-1) ?? '';
  const before = words.at(-2) ?? '';
  if (secretWords.test(last)) return true;
  if (last.endsWith('token')) return !harmlessBeforeToken.has(last === 'token' ? before : last.slice(0, -5));
  if (last === 'tokens') return secretBeforeTokens.has(before);
  if (last === 'key' || last === 'keys') return secretBeforeKey.test(before);
  if (last === 'signature') return before === 'amz' || before === 'goog';
  return last === 'auth' && /^_|basic|proxy/i.test(name);
}

/** Whether it is a password: typed by people, and so shorter and wordier than what machines make. */
export function isPasswordName(name: string): boolean {
  return /pass|pwd/i.test(name);
}

/** Whether it is a header of HTTP, whose value runs to the end of its line. */
export function isHeaderName(name: string): boolean {
  return /^(?:(?:proxy-)?authorization|(?:set-)?cookie2?|(?:\w{1,20}-){0,4}(?:api-key|auth-token|access-token))$/i.test(
    name,
  );
}

const maxNameCharacters = 128;

function wordsOf(name: string): string[] {
  return name
    .slice(-maxNameCharacters)
    .replaceAll(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
}

/** Words that say how a secret is written, not what it is of: `secret_value`, `passwordHash`, `authorization-header`. */
const ignoredLastWords: ReadonlySet<string> = new Set([
  'value',
  'string',
  'binary',
  'hash',
  'plain',
  'raw',
  'header',
  'base',
  'b',
]);

/** The end of the last word; written together as well: `dbpassword`, `clientsecret`, `xapikey`. */
const secretWords =
  /(?:password|passwd|passphrase|passcode|pwd|secrets?|credentials?|authorization|cookies?|bearer|jwt|(?:api|access|secret|private|signing|encryption|auth)keys?)$/;

/** Tokens of language models, of parsers and of pages. */
const harmlessBeforeToken: ReadonlySet<string> = new Set(
  (
    'max min per next prev previous num total input output cached prompt completion reasoning first last stop eos bos ' +
    'pad unk sep cls mask special page continuation sync unexpected each'
  ).split(' '),
);

const secretBeforeTokens: ReadonlySet<string> = new Set(
  'access api auth bearer id oauth refresh secret session'.split(' '),
);

/** What makes a key secret. `cache_key`, `primary_key`, `public_key` and `idempotency_key` are not. */
const secretBeforeKey =
  /(?:api|access|secret|private|auth|encryption|signing|subscription|account|storage|service|master|shared|ssh|openai|anthropic|gemini|google|azure|mistral|groq|deepseek|openrouter|cohere|huggingface)$/;
