import { configError } from '../../errors/config-error.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { createModelRegistry } from '../../providers/registry.ts';
import type { ModelRegistry } from '../../providers/registry.ts';
import { printable } from '../../base/printable.ts';
import type { LocalServer } from './local-server.ts';
import { addressFor, makeModel, whereWords } from './make-model.ts';
import type { Making } from './make-model.ts';
import { wordsFor } from './provider-address.ts';
import type { AddressWish } from './provider-address.ts';
import type { ChosenModel } from './settings.ts';

/** Models, and why these. */
export interface ModelChoice {
  readonly models: readonly [ChosenModel, ...ChosenModel[]];
  /** One line for people. */
  readonly line: string;
  /** For the list of origins: `environment ANTHROPIC_API_KEY`. */
  readonly from: string;
  readonly notices: readonly string[];
}

export interface WantedModel {
  readonly names: readonly string[];
  /** `flag --model`, `rerail.config.json:2`. */
  readonly from: string;
}

export interface ChooseOptions {
  /** The model that was requested. */
  readonly wanted: WantedModel | undefined;
  /** Where the provider of the first model is to be asked. */
  readonly address?: AddressWish | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether a variable of `env` comes from the `.env` of the workspace. */
  readonly isFromFile?: (variable: string) => boolean;
  readonly findLocal: () => Promise<LocalServer | undefined>;
}

/**
 * Chooses by what was asked for, then by the keys in the environment, then by a server on this machine, and takes the embedded
 * model last. A key that cannot be one throws here, before anything is sent.
 */
export async function chooseModel(options: ChooseOptions): Promise<ModelChoice> {
  const { wanted, address, env, isFromFile = () => false, findLocal } = options;
  const registry = createModelRegistry({ environment: env });
  const making: Making = { registry, env, address };
  if (wanted !== undefined) return chooseWanted(wanted, making);
  const keys = findKeys(registry, { env, isFromFile });
  if (address !== undefined) refuseAmbiguous(address, keys);
  return chooseByKeys(keys, making) ?? (await chooseLocal(registry, findLocal)) ?? chooseEmbedded(keys);
}

/** An address alone does not say whose it is: a key could go to the wrong server. */
function refuseAmbiguous({ from }: AddressWish, keys: readonly FoundKey[]): void {
  const usable = keys.filter(({ name }) => name !== undefined);
  if (usable.length === 1) return;
  const why =
    usable.length === 0
      ? 'no key in the environment says it either'
      : `${usable.map(({ variable }) => variable).join(' and ')} are set`;
  throw configError(`${wordsFor(from)} says where to ask, but no model is named, and ${why}`, {
    hint: 'Name the model, as in --model openai:<model>, or --model vllm:<model> for a server of your own that needs no key.',
  });
}

/** A good middle of each provider, in the order in which they are taken. A test holds that each is known. */
export const defaultModels: readonly { readonly provider: string; readonly model: string }[] = [
  { provider: 'anthropic', model: 'claude-sonnet-5' },
  { provider: 'openai', model: 'gpt-5.4' },
  { provider: 'gemini', model: 'gemini-2.5-pro' },
  { provider: 'mistral', model: 'mistral-large-latest' },
  { provider: 'xai', model: 'grok-4.6' },
  { provider: 'deepseek', model: 'deepseek-v4-pro' },
  { provider: 'groq', model: 'openai/gpt-oss-120b' },
];

/** Providers without a model that everybody would want: a key alone decides nothing. */
const undecided = ['openrouter', 'together', 'fireworks', 'cerebras', 'moonshot'] as const;

const embeddedName = 'simulated:embedded';
const playsPart = 'the embedded one, which only plays a part';

function chooseWanted({ names, from }: WantedModel, making: Making): ModelChoice {
  const [first, ...rest] = names.map((name) =>
    /^(?:simulated|embedded)$/i.test(name.trim()) ? embeddedName : name.trim(),
  );
  if (first === undefined) throw configError(`${from} names no model`);
  const { address, notices: said } = addressFor(first, making);
  const notices = [...said];
  const standing = { ...making, address };
  const others = rest.flatMap((name): readonly ChosenModel[] => {
    const missing = missingKey(name, making);
    if (missing === undefined) return [makeModel(name, standing)];
    notices.push(`${printable(name)} is no fallback here: ${missing} is not set`);
    return [];
  });
  const models = [makeModel(first, standing), ...others] as const;
  return { models, from, notices, line: `Model: ${shownChain(models)}, because ${reasonOf(from)}.` };
}

/** The variable of a key that is needed and not there. What is wrong with a key that is there is thrown later. */
function missingKey(name: string, { registry, env }: Making): string | undefined {
  const { provider, keyVariables } = registry.describe(name);
  const isNeeded = [...defaultModels.map((each) => each.provider), ...undecided, 'perplexity'].includes(
    provider,
  );
  return isNeeded && keyVariables.every((variable) => !isSet(env[variable])) ? keyVariables[0] : undefined;
}

function shownChain([first, ...others]: readonly [ChosenModel, ...ChosenModel[]]): string {
  const shown = first.name.startsWith('simulated:') ? playsPart : printable(first.name) + whereWords(first);
  const then = others.map((other) => printable(other.name) + whereWords(other)).join(', then ');
  return then === '' ? shown : `${shown} (and ${then} as fallback)`;
}

function reasonOf(from: string): string {
  return `${from.replace(/^(?:flag|environment) /, '')} says so`;
}

interface FoundKey {
  readonly variable: string;
  readonly isFromFile: boolean;
  readonly provider: string;
  /** Nothing where a key alone decides nothing. */
  readonly name: string | undefined;
}

function findKeys(
  registry: ModelRegistry,
  { env, isFromFile }: Required<Pick<ChooseOptions, 'env' | 'isFromFile'>>,
): readonly FoundKey[] {
  const candidates = [
    ...defaultModels.map(({ provider, model }) => ({ provider, name: `${provider}:${model}` })),
    ...undecided.map((provider) => ({ provider, name: undefined })),
  ];
  return candidates.flatMap(({ provider, name }) => {
    const { keyVariables } = registry.describe(name ?? `${provider}:any`);
    const variable = keyVariables.find((each) => isSet(env[each]));
    return variable === undefined ? [] : [{ provider, variable, isFromFile: isFromFile(variable), name }];
  });
}

function isSet(value: string | undefined): boolean {
  return (value ?? '').trim() !== '';
}

const maxFallbacks = 2;

function chooseByKeys(keys: readonly FoundKey[], making: Making): ModelChoice | undefined {
  const usable = keys.flatMap(({ name, ...key }) => (name === undefined ? [] : [{ ...key, name }]));
  const [first, ...rest] = usable;
  if (first === undefined) return undefined;
  const standing = { ...making, address: addressFor(first.name, making).address };
  const model = makeModel(first.name, standing);
  const notices: string[] = [];
  const fallbacks = rest.slice(0, maxFallbacks).flatMap(({ variable, name }) => {
    try {
      return [{ variable, chosen: makeModel(name, standing) }];
    } catch (error) {
      if (!RerailError.isInstance(error)) throw error;
      notices.push(`${variable} is set and not used as fallback: ${error.message}`);
      return [];
    }
  });
  const others = fallbacks.map(({ variable }) => variable).join(' and ');
  const also = others === '' ? '' : ` (and ${others} as fallback)`;
  return {
    models: [model, ...fallbacks.map(({ chosen }) => chosen)],
    from: `${first.isFromFile ? '.env' : 'environment'} ${first.variable}`,
    line: `Model: ${first.name}${whereWords(model)}, because ${first.variable} is set${first.isFromFile ? ' in .env' : ''}${also}.`,
    notices,
  };
}

async function chooseLocal(
  registry: ModelRegistry,
  findLocal: ChooseOptions['findLocal'],
): Promise<ModelChoice | undefined> {
  const server = await findLocal();
  if (server === undefined) return undefined;
  const name = `${server.provider}:${server.model}`;
  const address = `127.0.0.1:${server.port}`;
  const from = `the server on ${address}`;
  const baseURL = `http://${address}/v1`;
  const model = registry.resolve(name, { baseURL });
  return {
    models: [{ name, model, address: { url: baseURL, from } }],
    from,
    line: `Model: ${printable(name)}, because no key is set and a server on this machine answers at ${address}.`,
    notices: [],
  };
}

function chooseEmbedded(keys: readonly FoundKey[]): ModelChoice {
  const registry = createModelRegistry();
  const [undecidedKey] = keys;
  const why =
    undecidedKey === undefined
      ? 'no key in the environment, no server on this machine. Set ANTHROPIC_API_KEY, or start Ollama.'
      : `${undecidedKey.variable} is set, but which of its models is meant is not. Say it: --model ${undecidedKey.provider}:<model>`;
  return {
    models: [{ name: embeddedName, model: registry.resolve(embeddedName) }],
    from: 'default',
    line: `Model: ${playsPart}: ${why}`,
    notices: [],
  };
}
