import { notConfiguredError } from './config-error.ts';

/** Variables of the environment, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a key may come from, and whether the provider works without one. */
export interface KeySource {
  readonly provider: string;
  /** What was handed in, one or a pool. It wins over the environment. */
  readonly apiKey?: string | readonly string[] | undefined;
  /** The first that is set counts. */
  readonly variables: readonly string[];
  readonly environment: Environment;
  readonly isRequired: boolean;
  /** A server of the user's own may take the key of anybody. */
  readonly isOwnServer: boolean;
  readonly origin: 'model' | 'embedding';
}

const maxKeys = 100;

/**
 * The keys to send, one or a pool, each known to be one that a header can carry. Throws a `PROVIDER_NOT_CONFIGURED` that says what is wrong
 * and never shows a key.
 */
export function readApiKeys(source: KeySource): readonly [string | undefined, ...string[]] {
  const found = findKeys(source);
  const [first, ...rest] = found.map(({ key, place }) => {
    const fault = findKeyFault(key, source);
    if (fault !== undefined) throw notConfiguredError(`${place} of ${source.provider} ${fault}`, source);
    return key;
  });
  if (first === undefined && source.isRequired) throw notConfiguredError(missingSentence(source), source);
  // A key that stands there twice is one account.
  return [first, ...new Set(rest.filter((key) => key !== first))];
}

/** Throws where an access token cannot be sent. It never shows the token. */
export function checkToken(token: unknown, provider: string): void {
  const fault =
    typeof token === 'string'
      ? keyFaults.find(({ isFault }) => isFault(token))?.sentence
      : noTextSentence(token);
  if (fault === undefined) return;
  throw notConfiguredError(`The option "accessToken" of ${provider} ${fault}`, { provider, origin: 'model' });
}

interface FoundKey {
  readonly key: string;
  /** How to speak of it. */
  readonly place: string;
}

function findKeys({ apiKey, variables, environment, ...source }: KeySource): readonly FoundKey[] {
  if (Array.isArray(apiKey)) {
    const keys: readonly string[] = apiKey;
    if (keys.length === 0 || keys.length > maxKeys) {
      const fault = `has ${keys.length} keys: hand in 1 to ${maxKeys}, or leave it out`;
      throw notConfiguredError(`The option "apiKey" of ${source.provider} ${fault}`, source);
    }
    return keys.map((key, index) => ({ key, place: `Key ${index + 1} in the option "apiKey"` }));
  }
  // What is no list is one key, or, from code without types, anything: `findKeyFault` looks at it.
  if (apiKey !== undefined) return [{ key: apiKey as string, place: 'The option "apiKey"' }];
  // An empty variable is how many tools write an absent one.
  const variable = variables.find((name) => (environment[name] ?? '').trim() !== '');
  const key = variable === undefined ? undefined : environment[variable];
  return key === undefined ? [] : [{ key, place: `The key in ${variable}` }];
}

function missingSentence({ provider, variables }: KeySource): string {
  const names = variables.join(' or ');
  return variables.length === 0
    ? `${provider} has no API key: hand in the option "apiKey"`
    : `${provider} has no API key: set ${names} in the environment, or hand in the option "apiKey"`;
}

const maxKeyCharacters = 16_384;

/** The rest of a sentence about the key, or nothing where the key may be one. No rule may quote the key. */
function findKeyFault(key: unknown, source: KeySource): string | undefined {
  if (typeof key !== 'string') return noTextSentence(key);
  const fault = keyFaults.find(({ isFault }) => isFault(key));
  if (fault !== undefined) return fault.sentence;
  const owner = source.isOwnServer ? undefined : ownerOf(key);
  if (owner === undefined || owner.provider === source.provider) return undefined;
  return `begins with "${owner.prefix}" and so belongs to ${owner.name}: hand in a key of ${source.provider}, or ask ${owner.name} instead`;
}

function noTextSentence(given: unknown): string {
  return `must be a text, got ${given === null ? 'null' : typeof given}: hand in the key itself, or leave it out`;
}

interface KeyFault {
  readonly isFault: (key: string) => boolean;
  readonly sentence: string;
}

/** In this order: the outermost mistake is named first, because mending it often mends the rest. */
const keyFaults: readonly KeyFault[] = [
  { isFault: (key) => key.trim() === '', sentence: 'is empty: put the key there, or leave it out' },
  {
    isFault: (key) => key.length > maxKeyCharacters,
    sentence: `is longer than ${maxKeyCharacters} characters: put only the key there`,
  },
  {
    isFault: (key) => /[\r\n]\s*$/.test(key) && !/[\r\n]/.test(key.trim()),
    sentence: 'ends in a line break: remove it, for example with trim()',
  },
  { isFault: (key) => /[\r\n]/.test(key), sentence: 'has a line break in it: put the key on one line' },
  {
    isFault: (key) => /^\s*(["'`]).*\1\s*$/.test(key) || /^["'`]|["'`]$/.test(key),
    sentence: 'has quotes around it: remove them',
  },
  {
    isFault: (key) => /^\s*(?:authorization\s*:\s*)?bearer\s/i.test(key),
    sentence: 'begins with "Bearer": put only the key there, Rerail adds that word itself',
  },
  {
    isFault: (key) => /^\s*(?:export\s+)?[A-Z][A-Z0-9_]*(?:KEY|TOKEN)\s*=/.test(key),
    sentence: 'is a whole line of an .env file: put only what stands after the "=" there',
  },
  {
    isFault: (key) =>
      /^(?:<.*>|\$\{?\w+\}?|\{\{.*\}\}|%\w+%|your[-_ ]?[\w -]*(?:key|token).*|change[-_ ]?me|undefined|null|process\.env.*|.*(?:\.{3}|…|\*{3}).*)$/i.test(
        key.trim(),
      ),
    sentence: 'is a placeholder: put the real key there',
  },
  { isFault: (key) => key !== key.trim(), sentence: 'has spaces around it: remove them' },
  { isFault: (key) => /\s/.test(key), sentence: 'has a space in it: put only the key there' },
  {
    isFault: (key) => !/^[\u0021-\u007e]*$/.test(key),
    sentence:
      'has a character in it that no key has, perhaps an invisible one from copying: copy the key again',
  },
];

interface KeyOwner {
  readonly prefix: string;
  readonly provider: string;
  readonly name: string;
}

/** Keys that say themselves who issued them. The plain `sk-` of several providers is not among them. */
const keyOwners: readonly KeyOwner[] = [
  { prefix: 'sk-ant-', provider: 'anthropic', name: 'Anthropic' },
  { prefix: 'sk-or-', provider: 'openrouter', name: 'OpenRouter' },
  { prefix: 'sk-proj-', provider: 'openai', name: 'OpenAI' },
  { prefix: 'sk-svcacct-', provider: 'openai', name: 'OpenAI' },
  { prefix: 'gsk_', provider: 'groq', name: 'Groq' },
  { prefix: 'xai-', provider: 'xai', name: 'xAI' },
  { prefix: 'AIza', provider: 'gemini', name: 'Google' },
  { prefix: 'pplx-', provider: 'perplexity', name: 'Perplexity' },
  { prefix: 'fw_', provider: 'fireworks', name: 'Fireworks AI' },
  { prefix: 'csk-', provider: 'cerebras', name: 'Cerebras' },
  { prefix: 'tgp_v1_', provider: 'together', name: 'Together AI' },
  { prefix: 'hf_', provider: 'huggingface', name: 'Hugging Face' },
  { prefix: 'nvapi-', provider: 'nvidia', name: 'NVIDIA' },
  { prefix: 'r8_', provider: 'replicate', name: 'Replicate' },
  { prefix: 'github_pat_', provider: 'github', name: 'GitHub' },
  { prefix: 'ghp_', provider: 'github', name: 'GitHub' },
  { prefix: 'AKIA', provider: 'bedrock', name: 'AWS' },
  { prefix: 'ya29.', provider: 'vertex', name: 'Google Vertex AI' },
];

function ownerOf(key: string): KeyOwner | undefined {
  return keyOwners.find(({ prefix }) => key.startsWith(prefix));
}
