// Table: the variables from which the providers' own libraries read their address, and what an address is taken from here.
import { readBaseURL } from '../../providers/base-url.ts';
import type { GivenValue, Layers } from './given-value.ts';

/** An address that somebody chose for a provider. */
export interface ChosenAddress {
  readonly url: string;
  /** `flag --base-url`, `rerail.config.json:3`, `environment OPENAI_BASE_URL`. */
  readonly from: string;
  /** Our own provider reads the variable itself, in forms that are no address. */
  readonly isReadByProvider?: true;
}

/** An address that was asked for without saying whose it is: that of the first model. */
export interface AddressWish extends ChosenAddress {
  /** The model that was named beside it, or by somebody with less of a say. */
  readonly besideModel: string | undefined;
}

/** The strongest word on the address, with the model that its writer had in mind. */
export function addressWish({
  flags,
  environment,
  workspace,
  user,
}: Omit<Layers, 'defaults'>): AddressWish | undefined {
  const layers = [flags, environment, workspace, user];
  const index = layers.findIndex((layer) => valueAt(layer, 'baseURL') !== undefined);
  const given = layers[index] === undefined ? undefined : valueAt(layers[index], 'baseURL');
  if (given === undefined) return undefined;
  const [model] = layers.slice(index).flatMap((layer) => [valueAt(layer, 'model')?.value ?? []].flat());
  return {
    url: String(given.value).trim(),
    from: given.from,
    besideModel: typeof model === 'string' ? model : undefined,
  };
}

function valueAt(layer: readonly GivenValue[], path: string): GivenValue | undefined {
  return layer.find((given) => given.path === path);
}

interface AddressVariable {
  readonly variable: string;
  /** The provider's own library takes the address without this and adds it below every path. */
  readonly versionPath?: string;
  readonly isReadByProvider?: true;
}

/** By the name of the provider. A workspace's `.env` has no say in them. */
export const addressVariables: Readonly<Record<string, AddressVariable>> = {
  openai: { variable: 'OPENAI_BASE_URL' },
  anthropic: { variable: 'ANTHROPIC_BASE_URL', versionPath: '/v1' },
  gemini: { variable: 'GOOGLE_GEMINI_BASE_URL', versionPath: '/v1beta' },
  groq: { variable: 'GROQ_BASE_URL', versionPath: '/openai/v1' },
  together: { variable: 'TOGETHER_BASE_URL' },
  cerebras: { variable: 'CEREBRAS_BASE_URL', versionPath: '/v1' },
  ollama: { variable: 'OLLAMA_HOST', isReadByProvider: true },
  azure: { variable: 'AZURE_OPENAI_ENDPOINT', isReadByProvider: true },
};

/** What the environment says of a provider's address. An empty variable is how many tools write an absent one. */
export function environmentAddress(
  provider: string,
  env: Readonly<Record<string, string | undefined>>,
): ChosenAddress | undefined {
  const row = Object.hasOwn(addressVariables, provider) ? addressVariables[provider] : undefined;
  const text = row === undefined ? '' : (env[row.variable] ?? '').trim();
  if (row === undefined || text === '') return undefined;
  const from = `environment ${row.variable}`;
  return row.isReadByProvider === true
    ? { url: text, from, isReadByProvider: true }
    : { url: withVersion(text, row.versionPath), from };
}

function withVersion(text: string, versionPath: string | undefined): string {
  if (versionPath === undefined || !URL.canParse(text)) return text;
  const { pathname, search, hash } = new URL(text);
  // A query is refused later, by name: nothing is put behind it.
  if (search !== '' || hash !== '' || /\/v\d\w*\/*$/.test(pathname)) return text;
  return text.replace(/\/+$/, '') + versionPath;
}

/** The option for a provider. Throws where it can be no address, or where a key would travel unencrypted over the public network. */
export function baseURLOf(
  { url, from, isReadByProvider }: ChosenAddress,
  { provider, hasKey }: { readonly provider: string; readonly hasKey: boolean },
): string | undefined {
  if (isReadByProvider === true) return undefined;
  readBaseURL(url, { provider, place: wordsFor(from), hasKey, allowInsecure: false, isAlone: true });
  return url;
}

/** `--base-url`, `OPENAI_BASE_URL`, `baseURL in rerail.config.json:3`. */
export function wordsFor(from: string): string {
  return /^(?:flag|environment) /.test(from) ? from.slice(from.indexOf(' ') + 1) : `baseURL in ${from}`;
}

/** What somebody writes where they wrote the address before, as the end of a sentence. */
export function toType(url: string, from: string): string {
  if (from.startsWith('flag ')) return `type --base-url "${url}".`;
  if (from.startsWith('environment ')) return `set ${wordsFor(from)} to "${url}".`;
  return `write "baseURL": "${url}" (${from}).`;
}
