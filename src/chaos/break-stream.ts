import type { FailureCode } from '../errors/codes.ts';
import { createFailure } from '../errors/failure.ts';
import type { ModelResponse } from '../model/model.ts';
import type { StreamPart } from '../model/stream-part.ts';
import { settleParts } from './wrapped-call.ts';
import type { WrappedCall } from './wrapped-call.ts';

interface Break {
  readonly afterParts?: number;
  readonly code?: FailureCode;
  readonly onDelivered: () => void;
}

/** Lets so many parts through, ends the call of the wrapped model, and says that the stream broke. */
export async function breakStream(
  { model, request, options }: WrappedCall,
  { afterParts = 2, code = 'STREAM_INTERRUPTED', onDelivered }: Break,
): Promise<ModelResponse> {
  const controller = new AbortController();
  const signals = options.signal === undefined ? [controller.signal] : [options.signal, controller.signal];
  const kept: StreamPart[] = [];
  const onPart = async (part: StreamPart): Promise<void> => {
    if (controller.signal.aborted) return;
    // The end must not get through: then nothing would be broken.
    if (kept.length >= afterParts || part.type === 'finished') {
      controller.abort(new Error('Chaos breaks the stream here'));
      return;
    }
    kept.push(part);
    await options.onPart?.(part);
  };
  const response = await model.call(request, { ...options, signal: AbortSignal.any(signals), onPart });
  // Whatever ended it before the break is the truth, and the break did not happen.
  if (!controller.signal.aborted) return response;
  onDelivered();
  const message = `Chaos: the stream of ${model.provider} (${model.name}) breaks after ${kept.length} parts on purpose`;
  return settleParts(
    kept,
    model,
    createFailure(code, {
      origin: 'model',
      message,
      phase: 'body',
      sideEffect: 'possible',
      provider: { provider: model.provider, model: model.name },
    }),
  );
}
