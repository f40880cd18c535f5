import type { StreamPart } from '../../model/stream-part.ts';
import type { AiSdkRecord, CheckedModel } from './language-model.ts';
import type { BlockPart } from './read-part.ts';
import { toSignature } from './signature.ts';

/** Says texts and thoughts in our parts. Ours follow each other; theirs may overlap. */
export interface BlockTranslator {
  readonly translate: (read: BlockPart) => readonly StreamPart[];
  /** Something else begins: the block that was being written is closed. */
  readonly interrupt: () => readonly StreamPart[];
}

interface Block {
  readonly kind: BlockPart['block'];
  hasText: boolean;
  /** The last that came with a part of the block, as the AI SDK itself takes it. */
  metadata: AiSdkRecord | undefined;
  /** The end that was told already, because another block went on before this one ended. */
  closedWith: string | undefined;
}

/** A fresh one for one response. */
export function createBlockTranslator(model: CheckedModel): BlockTranslator {
  const blocks = new Map<string, Block>();
  let current: Block | undefined;

  function switchTo(next: Block | undefined): readonly StreamPart[] {
    const previous = current;
    if (previous === next) return [];
    current = next;
    return previous === undefined ? [] : close(previous);
  }

  function close(block: Block): readonly StreamPart[] {
    if (!block.hasText && block.metadata === undefined) return [];
    const part = finishedPart(block, model);
    const said = JSON.stringify(part);
    // A late end that brings nothing new has been told already.
    if (block.closedWith === said) return [];
    block.closedWith = said;
    return [part];
  }

  function translate({ type, block: kind, id, delta, metadata }: BlockPart): readonly StreamPart[] {
    const key = `${kind} ${id}`;
    const known = type === 'block-started' ? undefined : blocks.get(key);
    const block: Block = known ?? { kind, hasText: false, metadata: undefined, closedWith: undefined };
    blocks.set(key, block);
    block.metadata = metadata ?? block.metadata;
    if (type === 'block-finished') {
      blocks.delete(key);
      if (current === block) current = undefined;
      return close(block);
    }
    if (delta === '') return [];
    const switched = switchTo(block);
    block.hasText = true;
    block.closedWith = undefined;
    return [...switched, { type: `${kind}-delta`, text: delta }];
  }

  return { translate, interrupt: () => switchTo(undefined) };
}

/** Thoughts are always signed, for they go back to whom they came from; texts where the provider sent something. */
function finishedPart({ kind, metadata }: Block, model: CheckedModel): StreamPart {
  if (kind === 'reasoning') return { type: 'reasoning-finished', signature: toSignature(model, metadata) };
  return metadata === undefined
    ? { type: 'text-finished' }
    : { type: 'text-finished', signature: toSignature(model, metadata) };
}
