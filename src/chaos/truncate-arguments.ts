import type { ModelResponse } from '../model/model.ts';
import type { StreamPart } from '../model/stream-part.ts';
import { settleParts } from './wrapped-call.ts';
import type { WrappedCall } from './wrapped-call.ts';

/** Lets the stream through, with the last piece of every call's arguments cut in two. */
export async function truncateArguments(
  { model, request, options }: WrappedCall,
  onDelivered: () => void,
): Promise<ModelResponse> {
  const passed: StreamPart[] = [];
  // One piece of each call is held back until it is known whether it is the last.
  const held = new Map<string, string>();
  let isCut = false;

  const pass = async (part: StreamPart): Promise<void> => {
    passed.push(part);
    await options.onPart?.(part);
  };
  const passDelta = async (callId: string, text: string): Promise<void> => {
    if (text !== '') await pass({ type: 'tool-call-delta', callId, text });
  };
  const onPart = async (part: StreamPart): Promise<void> => {
    if (part.type === 'tool-call-delta') {
      await passDelta(part.callId, held.get(part.callId) ?? '');
      held.set(part.callId, part.text);
      return;
    }
    if (part.type === 'tool-call-finished' && held.has(part.callId)) {
      const last = held.get(part.callId) ?? '';
      held.delete(part.callId);
      isCut = true;
      await passDelta(part.callId, last.slice(0, Math.floor(last.length / 2)));
    }
    await pass(part);
  };

  const response = await model.call(request, { ...options, onPart });
  if (!isCut) return response;
  onDelivered();
  return settleParts(passed, model, response.type === 'failure' ? response.failure : undefined);
}
