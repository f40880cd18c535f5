import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { checkRequest } from '../model/check-request.ts';
import { emptyPartial } from '../model/model.ts';
import type { Model, ModelResponse } from '../model/model.ts';
import { trustCall } from '../model/trusted-calls.ts';
import { nearestModels } from './known-models.ts';

/**
 * A model that refuses what it does not take before anything is sent, and that says what was probably meant when the provider
 * does not know its name.
 */
export function guardModel(model: Model): Model {
  return {
    ...model,
    call: trustCall(async (request, options): Promise<ModelResponse> => {
      const refused = options?.isChecked === true ? undefined : checkRequest(model, request);
      if (refused !== undefined) return { type: 'failure', failure: refused, partial: emptyPartial };
      const response = await model.call(request, options);
      if (response.type === 'success') return response;
      return { ...response, failure: withNearest(response.failure, model) };
    }),
  };
}

function withNearest(failure: Failure, { provider, name }: Model): Failure {
  if (failure.code !== 'MODEL_NOT_FOUND') return failure;
  const nearest = nearestModels(provider, name);
  if (nearest.length === 0) return failure;
  const question = `Did you mean ${nearest.map((near) => `"${near}"`).join(' or ')}?`;
  return createFailure(failure.code, {
    ...failure,
    hint: failure.hint === undefined ? question : `${failure.hint} ${question}`,
    context: { ...failure.context, nearest },
  });
}
