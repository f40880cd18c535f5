import type { StreamPart } from '../../model/stream-part.ts';
import type { CheckedModel } from './language-model.ts';
import type { ReadPart } from './read-part.ts';
import { toSignature } from './signature.ts';

/** A part that belongs to a tool call. */
export type CallPart = Extract<ReadPart, { readonly type: 'call-started' | 'call-delta' | 'call' }>;

interface Input {
  text: string;
  readonly isHeld: boolean;
}

/** Says tool calls in our parts; a fresh one for one response. */
export function createCallTranslator(model: CheckedModel): (read: CallPart) => readonly StreamPart[] {
  const inputs = new Map<string, Input>();

  function start({ id, name, isRawText }: Extract<CallPart, { readonly type: 'call-started' }>): StreamPart {
    inputs.set(id, { text: '', isHeld: isRawText });
    return { type: 'tool-call-started', callId: id, name };
  }

  /** Text that is no JSON yet is not shown: its JSON comes with the call. */
  function append(id: string, delta: string): readonly StreamPart[] {
    const input = inputs.get(id);
    if (input === undefined || input.isHeld || delta === '') return [];
    input.text += delta;
    return [{ type: 'tool-call-delta', callId: id, text: delta }];
  }

  /** A package may end up with other words than it streamed: then the call is begun anew, and the last one counts. */
  function finish({
    id: callId,
    name,
    input,
    metadata,
  }: Extract<CallPart, { readonly type: 'call' }>): readonly StreamPart[] {
    const sent = inputs.get(callId);
    inputs.delete(callId);
    const isContinued = sent !== undefined && input.startsWith(sent.text);
    const rest = isContinued ? input.slice(sent.text.length) : input;
    const signed = metadata === undefined ? {} : { signature: toSignature(model, metadata) };
    return [
      ...(isContinued ? [] : [{ type: 'tool-call-started', callId, name } as const]),
      ...(rest === '' ? [] : [{ type: 'tool-call-delta', callId, text: rest } as const]),
      { type: 'tool-call-finished', callId, ...signed },
    ];
  }

  return (read) => {
    if (read.type === 'call-started') return [start(read)];
    return read.type === 'call-delta' ? append(read.id, read.delta) : finish(read);
  };
}
