// Table: the variables from which the providers' own libraries read their address.
import type { Environment } from './api-key.ts';

/** The variable that names the address of a provider. */
export interface AddressVariable {
  readonly variable: string;
  /** The provider's own library takes the address without this and adds it below every path. */
  readonly versionPath?: string;
  /** Its value is read in forms that are no URL, by the provider's own file. */
  readonly isReadByProvider?: true;
}

/** By the name of the provider. A workspace's `.env` has no say in them. */
export const addressVariables = {
  openai: { variable: 'OPENAI_BASE_URL' },
  anthropic: { variable: 'ANTHROPIC_BASE_URL', versionPath: '/v1' },
  gemini: { variable: 'GOOGLE_GEMINI_BASE_URL', versionPath: '/v1beta' },
  groq: { variable: 'GROQ_BASE_URL', versionPath: '/openai/v1' },
  together: { variable: 'TOGETHER_BASE_URL' },
  cerebras: { variable: 'CEREBRAS_BASE_URL', versionPath: '/v1' },
  ollama: { variable: 'OLLAMA_HOST', isReadByProvider: true },
  azure: { variable: 'AZURE_OPENAI_ENDPOINT', isReadByProvider: true },
} as const satisfies Readonly<Record<string, AddressVariable>>;

/** The row of a provider, where there is one. */
export function addressVariableOf(provider: string): AddressVariable | undefined {
  const rows: Readonly<Record<string, AddressVariable>> = addressVariables;
  return Object.hasOwn(rows, provider) ? rows[provider] : undefined;
}

/** The address in the variable, with its version. An empty variable is how many tools write an absent one. */
export function addressIn(
  { variable, versionPath, isReadByProvider }: AddressVariable,
  environment: Environment,
): string | undefined {
  const text = (environment[variable] ?? '').trim();
  if (text === '') return undefined;
  if (isReadByProvider === true || versionPath === undefined || !URL.canParse(text)) return text;
  const { pathname, search, hash } = new URL(text);
  // A query is refused later, by name: nothing is put behind it.
  if (search !== '' || hash !== '' || /\/v\d\w*\/*$/.test(pathname)) return text;
  return text.replace(/\/+$/, '') + versionPath;
}
