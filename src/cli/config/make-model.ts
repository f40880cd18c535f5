import { defined } from '../../base/defined.ts';
import { printable } from '../../base/printable.ts';
import { redact } from '../../base/redact.ts';
import { canonicalProvider } from '../../errors/classify/provider-names.ts';
import type { ModelRegistry } from '../../providers/registry.ts';
import { addressedModel } from './addressed-model.ts';
import { baseURLOf, environmentAddress, wordsFor } from './provider-address.ts';
import type { AddressWish } from './provider-address.ts';
import type { ChosenModel } from './settings.ts';

/** What a model is made with. */
export interface Making {
  readonly registry: ModelRegistry;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly address: OwnedAddress | undefined;
}

/** Whose address it is; that of the first model where none is chosen yet. */
interface OwnedAddress extends AddressWish {
  readonly provider?: string;
}

/** Says whose the address is that was asked for. It is not used where it was written for another provider than the chosen one. */
export function addressFor(
  name: string,
  { registry, address }: Making,
): Pick<Making, 'address'> & { readonly notices: readonly string[] } {
  if (address === undefined) return { address, notices: [] };
  const { provider } = registry.describe(name);
  const place = wordsFor(address.from);
  if (provider === 'simulated') {
    return { address: undefined, notices: [`${place} was not used: the embedded model has no address`] };
  }
  const meant = providerOf(address.besideModel ?? name);
  // Its writer had the key of another provider in mind: this one's must not go there.
  if (meant !== providerOf(name)) {
    const notice = `${place} was not used: it is set beside a model of ${meant}, and ${printable(name)} was chosen. Type --base-url <url> to set one`;
    return { address: undefined, notices: [notice] };
  }
  return { address: { ...address, provider }, notices: [] };
}

function providerOf(name: string): string {
  return printable(canonicalProvider(name.trim().split(':', 1)[0] ?? ''));
}

/** Makes a model at the chosen address, or at its provider's own one. */
export function makeModel(name: string, { registry, env, address }: Making): ChosenModel {
  const { provider, keyVariables } = registry.describe(name);
  const chosen = address?.provider === provider ? address : environmentAddress(provider, env);
  if (chosen === undefined) return { name, model: registry.resolve(name) };
  const hasKey = keyVariables.some((variable) => (env[variable] ?? '').trim() !== '');
  const baseURL = baseURLOf(chosen, { provider, hasKey });
  const model = addressedModel((transport) => registry.resolve(name, { baseURL, transport }), chosen);
  const { url, from, isReadByProvider } = chosen;
  return { name, model, address: defined({ url, from, isReadByProvider }) };
}

/** ` at http://127.0.0.1:8000/v1 (--base-url)`, or nothing. */
export function whereWords({ address }: ChosenModel): string {
  if (address === undefined) return '';
  return ` at ${redact(printable(address.url))} (${printable(wordsFor(address.from))})`;
}
