import { defined } from '../../base/defined.ts';
import { addressIn, addressVariableOf } from '../../providers/address-variables.ts';
import { readBaseURL } from '../../providers/base-url.ts';
import type { GivenValue, Layers } from './given-value.ts';

/** A chosen address of a provider. */
export interface ChosenAddress {
  readonly url: string;
  /** `flag --base-url`, `rerail.config.json:3`, `environment OPENAI_BASE_URL`. */
  readonly from: string;
  /** Our own provider reads the variable itself, in forms that are no address. */
  readonly isReadByProvider?: true;
}

/** An address that was asked for without saying whose it is: that of the first model. */
export interface AddressWish extends ChosenAddress {
  /** The model that was named beside it, or by a setting of lower priority. */
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

/** What the environment says of a provider's address. */
export function environmentAddress(
  provider: string,
  env: Readonly<Record<string, string | undefined>>,
): ChosenAddress | undefined {
  const row = addressVariableOf(provider);
  const url = row === undefined ? undefined : addressIn(row, env);
  if (row === undefined || url === undefined) return undefined;
  return defined({ url, from: `environment ${row.variable}`, isReadByProvider: row.isReadByProvider });
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

/** What to write in place of the former address, as the end of a sentence. */
export function toType(url: string, from: string): string {
  if (from.startsWith('flag ')) return `type --base-url "${url}".`;
  if (from.startsWith('environment ')) return `set ${wordsFor(from)} to "${url}".`;
  return `write "baseURL": "${url}" (${from}).`;
}
