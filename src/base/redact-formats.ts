import { markOf, wordStart } from './redact-marks.ts';

// Invariants of the table, on which linear time and idempotence rest:
// - An open quantifier stands last, or its characters exclude the start of the pattern, so no text is scanned twice.
// - A match runs to the end of the letters and digits it is made of, so that what follows it never becomes a new start.
// - Nothing here may match a mark: marks hold spaces and brackets, no shape does.

/** Replaces every key whose issuer gave it a recognisable shape. */
export function redactFormats(text: string): string {
  const isPossible = prefixAtWord.test(text) || (/[\\%[]/.test(text) && anyPrefix.test(text));
  const prefixed = isPossible ? compiledFormats.reduce(applyFormat, text) : text;
  const withoutBots = prefixed.includes(':AA') ? prefixed.replace(botToken, markOf('bot token')) : prefixed;
  return zhipuTail.test(withoutBots) ? withoutBots.replace(zhipuKey, markOf('zhipu key')) : withoutBots;
}

interface KeyFormat {
  /** What the mark says. */
  readonly kind: string;
  /** The literal texts it begins with. */
  readonly prefixes: readonly string[];
  /** The rest of it, as the source of a regular expression. */
  readonly rest: string;
  /** Where the shape alone also fits innocent text: decides about one match. */
  readonly accept?: (match: string) => boolean;
}

const keyFormats: readonly KeyFormat[] = [
  // Anthropic console: sk-ant-api03-…, sk-ant-admin01-…, and sk-ant-oat01-… of Claude Code.
  { kind: 'anthropic key', prefixes: ['sk-ant-'], rest: String.raw`[\w-]{8,}` },
  // OpenRouter: sk-or-v1- and 64 hex digits.
  { kind: 'openrouter key', prefixes: ['sk-or-'], rest: String.raw`[\w-]{8,}` },
  // OpenAI since 2024: project, service account, admin, and the odd "None" of user keys.
  {
    kind: 'openai key',
    prefixes: ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-None-'],
    rest: String.raw`[\w-]{8,}`,
  },
  // The older OpenAI form, which DeepSeek, Moonshot, DashScope and LiteLLM copied: no issuer can be named.
  { kind: 'api key', prefixes: ['sk-'], rest: String.raw`[\w-]{16,}`, accept: isPlainSkKey },
  // Google: API keys of 39 characters; OAuth access and refresh tokens; OAuth client secrets.
  { kind: 'google key', prefixes: ['AIza'], rest: String.raw`[\w-]{16,}` },
  { kind: 'google token', prefixes: ['ya29.', '1//0'], rest: String.raw`[\w-]{16,}` },
  { kind: 'google secret', prefixes: ['GOCSPX-'], rest: String.raw`[\w-]{16,}` },
  // AWS access key ids: long-term, and temporary ones of STS.
  { kind: 'aws key', prefixes: ['AKIA', 'ASIA'], rest: String.raw`[A-Z0-9]{16}[\w-]*` },
  // GitHub: personal, OAuth, server, user and refresh tokens; fine-grained ones.
  {
    kind: 'github token',
    prefixes: ['ghp_', 'gho_', 'ghs_', 'ghu_', 'ghr_', 'github_pat_'],
    rest: String.raw`\w{20,}`,
  },
  // GitLab: personal, deploy, runner, trigger and agent tokens.
  {
    kind: 'gitlab token',
    prefixes: ['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glagent-'],
    rest: String.raw`[\w-]{16,}`,
  },
  // Hugging Face: hf_ and 34 letters. An underscore is not part of it, or hf_hub_download_… would match.
  { kind: 'hugging face token', prefixes: ['hf_', 'api_org_'], rest: '[A-Za-z0-9]{20,}' },
  // Groq: gsk_ and 52 characters.
  { kind: 'groq key', prefixes: ['gsk_'], rest: '[A-Za-z0-9]{20,}' },
  // xAI: xai- and 80 characters.
  { kind: 'xai key', prefixes: ['xai-'], rest: '[A-Za-z0-9]{20,}' },
  // Perplexity: pplx- and 48 characters; pplx-70b-online is a model.
  { kind: 'perplexity key', prefixes: ['pplx-'], rest: '[A-Za-z0-9]{20,}' },
  // Replicate: r8_ and 37 characters.
  { kind: 'replicate token', prefixes: ['r8_'], rest: '[A-Za-z0-9]{20,}' },
  // Fireworks: fw_ and 22 to 24 characters.
  { kind: 'fireworks key', prefixes: ['fw_'], rest: '[A-Za-z0-9]{20,}' },
  // Cerebras: csk- and 48 characters.
  { kind: 'cerebras key', prefixes: ['csk-'], rest: '[A-Za-z0-9]{20,}' },
  // NVIDIA: nvapi- and 64 characters.
  { kind: 'nvidia key', prefixes: ['nvapi-'], rest: String.raw`[\w-]{20,}` },
  // Together: tgp_v1_ and 43 characters.
  { kind: 'together key', prefixes: ['tgp_v1_'], rest: String.raw`[\w-]{20,}` },
  // What agents search, store, trace and run code with: Tavily, Pinecone, LangSmith, E2B.
  { kind: 'tavily key', prefixes: ['tvly-'], rest: '(?:dev-|prod-)?[A-Za-z0-9]{16,}' },
  { kind: 'pinecone key', prefixes: ['pcsk_'], rest: String.raw`\w{20,}` },
  { kind: 'langsmith key', prefixes: ['lsv2_'], rest: String.raw`(?:pt|sk)_\w{20,}` },
  { kind: 'sandbox key', prefixes: ['e2b_'], rest: '[0-9a-f]{20}[A-Za-z0-9]*' },
  // Slack: bot, user, app-level, refresh and configuration tokens.
  {
    kind: 'slack token',
    prefixes: [
      'xoxa-',
      'xoxb-',
      'xoxc-',
      'xoxd-',
      'xoxe-',
      'xoxe.xox',
      'xoxo-',
      'xoxp-',
      'xoxr-',
      'xoxs-',
      'xapp-',
    ],
    rest: '[A-Za-z0-9-]{10,}',
  },
  // Stripe: secret and restricted keys, webhook secrets. A key that begins with pk_ is public.
  {
    kind: 'stripe key',
    prefixes: ['sk_live_', 'rk_live_', 'sk_test_', 'rk_test_'],
    rest: '[A-Za-z0-9]{10,}',
  },
  { kind: 'webhook secret', prefixes: ['whsec_'], rest: '[A-Za-z0-9+/=]{16,}' },
  // npm: npm_ and 36 characters; npm_config_… are settings.
  { kind: 'npm token', prefixes: ['npm_'], rest: '[A-Za-z0-9]{20,}' },
  // SendGrid: SG., 22 characters, a dot, 43 characters.
  { kind: 'sendgrid key', prefixes: ['SG.'], rest: String.raw`[\w-]{16,64}\.[\w-]{16,}` },
  // Databricks: dapi and 32 hex digits, sometimes with a shard number.
  { kind: 'databricks token', prefixes: ['dapi'], rest: String.raw`[0-9a-f]{32}[\w-]*` },
  // DigitalOcean, seen in "Invalid header value b'Bearer dop_v1_…\n'".
  { kind: 'digitalocean token', prefixes: ['dop_v1_', 'doo_v1_'], rest: '[0-9a-f]{20}[A-Za-z0-9]*' },
  // A JSON Web Token, or its encrypted kind of five parts; the later parts may be empty or cut off.
  {
    kind: 'json web token',
    prefixes: ['eyJ'],
    rest: String.raw`[\w-]*(?:\.[\w-]*){0,4}`,
    accept: isJsonWebToken,
  },
  // A PEM block in base64 once more, as in Kubernetes secrets.
  {
    kind: 'private key',
    prefixes: ['LS0tLS1CRUdJTi'],
    rest: '[A-Za-z0-9+/=_-]{20,}',
    accept: isEncodedPrivateKey,
  },
];

interface CompiledFormat {
  readonly prefixes: readonly string[];
  readonly pattern: RegExp;
  readonly replace: (match: string) => string;
}

const compiledFormats: readonly CompiledFormat[] = keyFormats.map(({ kind, prefixes, rest, accept }) => ({
  prefixes,
  pattern: new RegExp(`${wordStart}(?:${alternativesOf(prefixes)})${rest}`, 'g'),
  replace: (match) => (accept === undefined || accept(match) ? markOf(kind) : match),
}));

/** Every mark this file sets: no registered value may be a part of one. */
export const knownMarks: readonly string[] = [
  ...keyFormats.map(({ kind }) => kind),
  'bot token',
  'zhipu key',
].map(markOf);

/** One look at a text decides for nearly all of them that there is nothing to do; after an escape, a second look. */
const anyPrefix = new RegExp(alternativesOf(keyFormats.flatMap(({ prefixes }) => prefixes)));
const prefixAtWord = new RegExp(`(?<![A-Za-z0-9])(?:${anyPrefix.source})`);

function alternativesOf(prefixes: readonly string[]): string {
  return prefixes.map((prefix) => prefix.replaceAll('.', String.raw`\.`)).join('|');
}

function applyFormat(text: string, format: CompiledFormat): string {
  const isPossible = format.prefixes.some((prefix) => text.includes(prefix));
  return isPossible ? text.replace(format.pattern, format.replace) : text;
}

/** Telegram: the number of the bot, a colon, AA and 33 characters; in addresses it follows the word `bot`. */
const botToken = /(?:(?<!\d)|(?<=%[0-9A-Fa-f]{2}))\d{8,10}:AA[\w-]{30,}/g;

/** Zhipu: 32 hex digits, a dot, 16 characters. The first look is for the tail, for hex digits are everywhere. */
const zhipuTail = /\.[A-Za-z0-9]{16}/;
const zhipuKey = new RegExp(String.raw`${wordStart}[0-9a-f]{32}\.[A-Za-z0-9]{16}(?![\w-])`, 'g');

/** Keeps `sk-SK-Chirp3-HD-Achernar`, a Slovak voice, and `sk-learn-contrib-…`: a key is one run, or long and mixed. */
function isPlainSkKey(match: string): boolean {
  const body = match.slice('sk-'.length);
  if (/[A-Za-z0-9_]{16}/.test(body)) return true;
  return (
    !body.startsWith('SK-') &&
    body.length >= 20 &&
    /\d/.test(body) &&
    /[A-Z]/.test(body) &&
    /[a-z]/.test(body)
  );
}

function isJsonWebToken(match: string): boolean {
  return /^eyJ[\w-]{8,}\.[\w-]*\.?[\w-]{4}/.test(match);
}

/** A certificate is public: its encoding begins with the base64 of "-----BEGIN CERTIFI". */
function isEncodedPrivateKey(match: string): boolean {
  return !match.startsWith('LS0tLS1CRUdJTiBDRVJUSUZJ');
}
