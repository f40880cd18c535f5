import { isRecord } from '../base/json.ts';
import { configError } from '../errors/config-error.ts';
import { withKeys } from '../model/key-pool.ts';
import type { Model } from '../model/model.ts';

/** The models as a list, each with its further keys behind it. Throws a `ConfigError` where there is none, or something else among them. */
export function checkModels(models: Model | readonly Model[]): readonly Model[] {
  const chain: readonly unknown[] = Array.isArray(models) ? models : [models];
  if (chain.length === 0)
    throw configError('Cannot call a model: the list of models is empty. Give at least one.');
  for (const model of chain) if (!isModel(model)) throw configError(notAModel);
  return withKeys(chain as readonly Model[]); // Each was looked at.
}

const notAModel =
  "Cannot call a model: the given value is not a model with call, quotaKey and capabilities. Make one with a provider, as in openai('gpt-5.2'), or by its name with resolveModel().";

/** Code without types may pass a name, or an AI SDK's model. */
function isModel(value: unknown): value is Model {
  if (!isRecord(value) || typeof value['call'] !== 'function') return false;
  return typeof value['quotaKey'] === 'string' && isRecord(value['capabilities']);
}
