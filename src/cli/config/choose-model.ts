import { configError } from '../../errors/config-error.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { createModelRegistry } from '../../providers/registry.ts';
import type { ModelRegistry } from '../../providers/registry.ts';
import { printable } from '../../base/printable.ts';
import type { LocalServer } from './local-server.ts';
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

export interface ModelWish {
  readonly names: readonly string[];
  /** `flag --model`, `rerail.config.json:2`. */
  readonly from: string;
}

export interface ChooseOptions {
  /** What somebody asked for. */
  readonly wish: ModelWish | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly findLocal: () => Promise<LocalServer | undefined>;
}

/**
 * Chooses by what was asked for, then by the keys in the environment, then by a server on this machine, and takes the embedded
 * model last. A key that cannot be one throws here, before anything is sent.
 */
export async function chooseModel({ wish, env, findLocal }: ChooseOptions): Promise<ModelChoice> {
  const registry = createModelRegistry({ environment: env });
  if (wish !== undefined) return chooseWished(wish, registry, env);
  const keys = findKeys(registry, env);
  return chooseByKeys(keys, registry) ?? (await chooseLocal(registry, findLocal)) ?? chooseEmbedded(keys);
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

function chooseWished(
  { names, from }: ModelWish,
  registry: ModelRegistry,
  env: ChooseOptions['env'],
): ModelChoice {
  const [first, ...rest] = names.map((name) =>
    /^(?:simulated|embedded)$/i.test(name.trim()) ? embeddedName : name.trim(),
  );
  if (first === undefined) throw configError(`${from} names no model`);
  const notices: string[] = [];
  const others = rest.flatMap((name): readonly ChosenModel[] => {
    const missing = missingKey(name, registry, env);
    if (missing === undefined) return [{ name, model: registry.resolve(name) }];
    notices.push(`${printable(name)} is no fallback here: ${missing} is not set`);
    return [];
  });
  const models = [{ name: first, model: registry.resolve(first) }, ...others] as const;
  return { models, from, notices, line: `Model: ${shownChain(models)}, because ${reasonOf(from)}.` };
}

/** The variable of a key that is needed and not there. What is wrong with a key that is there is thrown later. */
function missingKey(name: string, registry: ModelRegistry, env: ChooseOptions['env']): string | undefined {
  const { provider, keyVariables } = registry.describe(name);
  const isNeeded = [...defaultModels.map((each) => each.provider), ...undecided, 'perplexity'].includes(
    provider,
  );
  return isNeeded && keyVariables.every((variable) => !isSet(env[variable])) ? keyVariables[0] : undefined;
}

function shownChain([first, ...others]: readonly [ChosenModel, ...ChosenModel[]]): string {
  const shown = first.name.startsWith('simulated:') ? playsPart : printable(first.name);
  const then = others.map(({ name }) => printable(name)).join(', then ');
  return then === '' ? shown : `${shown} (and ${then} as fallback)`;
}

function reasonOf(from: string): string {
  return `${from.replace(/^(?:flag|environment) /, '')} says so`;
}

interface FoundKey {
  readonly variable: string;
  readonly provider: string;
  /** Nothing where a key alone decides nothing. */
  readonly name: string | undefined;
}

function findKeys(registry: ModelRegistry, env: ChooseOptions['env']): readonly FoundKey[] {
  const candidates = [
    ...defaultModels.map(({ provider, model }) => ({ provider, name: `${provider}:${model}` })),
    ...undecided.map((provider) => ({ provider, name: undefined })),
  ];
  return candidates.flatMap(({ provider, name }) => {
    const { keyVariables } = registry.describe(name ?? `${provider}:any`);
    const variable = keyVariables.find((each) => isSet(env[each]));
    return variable === undefined ? [] : [{ provider, variable, name }];
  });
}

function isSet(value: string | undefined): boolean {
  return (value ?? '').trim() !== '';
}

const maxFallbacks = 2;

function chooseByKeys(keys: readonly FoundKey[], registry: ModelRegistry): ModelChoice | undefined {
  const usable = keys.flatMap(({ variable, name }) => (name === undefined ? [] : [{ variable, name }]));
  const [first, ...rest] = usable;
  if (first === undefined) return undefined;
  const model = { name: first.name, model: registry.resolve(first.name) };
  const notices: string[] = [];
  const fallbacks = rest.slice(0, maxFallbacks).flatMap(({ variable, name }) => {
    try {
      return [{ variable, name, model: registry.resolve(name) }];
    } catch (error) {
      if (!RerailError.isInstance(error)) throw error;
      notices.push(`${variable} is set and not used as fallback: ${error.message}`);
      return [];
    }
  });
  const others = fallbacks.map(({ variable }) => variable).join(' and ');
  const also = others === '' ? '' : ` (and ${others} as fallback)`;
  return {
    models: [model, ...fallbacks.map(({ name, model: made }) => ({ name, model: made }))],
    from: `environment ${first.variable}`,
    line: `Model: ${first.name}, because ${first.variable} is set${also}.`,
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
  const model = registry.resolve(name, { baseURL: `http://${address}/v1` });
  return {
    models: [{ name, model }],
    from: `the server on ${address}`,
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
