import type { Failure } from '../errors/failure.ts';
import { createAssembly } from '../model/assembly.ts';
import type { AttemptOptions, Model, ModelResponse } from '../model/model.ts';
import type { ModelRequest } from '../model/request.ts';
import { settle } from '../model/settle.ts';
import type { StreamPart } from '../model/stream-part.ts';

/** One call of the wrapped model. */
export interface WrappedCall {
  readonly model: Model;
  readonly request: ModelRequest;
  readonly options: AttemptOptions;
}

/** The verdict on parts that were made or kept here. */
export function settleParts(parts: readonly StreamPart[], model: Model, failure?: Failure): ModelResponse {
  const assembly = createAssembly();
  for (const part of parts) assembly.push(part);
  return settle(assembly.read(), {
    provider: model.provider,
    model: model.name,
    price: model.price,
    failure,
  });
}
