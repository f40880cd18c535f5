import type { AiSdkRecord } from '../../providers/ai-sdk/language-model.ts';
import type { Sight } from './attempted.ts';
import { createPartsStream } from './parts-stream.ts';
import type { PartsStream } from './parts-stream.ts';

interface OutletOptions {
  /** What `doStream` returns may be handed to its caller: from now on nothing can be taken back. */
  readonly onOpen: (result: AiSdkRecord) => void;
  /** The reader went away. */
  readonly onCancel: () => void;
  /** Opens only when the answer is whole. */
  readonly holdsAll: boolean;
}

/** Where the parts of several attempts become one stream. */
export interface Outlet {
  /** An attempt begins to answer. What one before has left is forgotten, which only happens while nothing was handed on. */
  readonly begin: (result: AiSdkRecord) => void;
  /** Takes a part. A promise where the reader is behind. */
  readonly part: (part: AiSdkRecord, sight: Sight) => void | Promise<void>;
  readonly isOpen: () => boolean;
  /** Hands on the last part, and what is still held before it. */
  readonly finish: (part: AiSdkRecord) => void;
  /** Ends the stream with an error part. `false` where it was never opened: then nobody would read it. */
  readonly fail: (error: unknown) => boolean;
}

/**
 * Starts closed. Parts are held until the first one that shows something. From the first tool call on they are held until
 * the end: the AI SDK carries a call out as soon as it sees it, and some packages hand out a call that was cut in two.
 */
export function createOutlet({ onOpen, onCancel, holdsAll }: OutletOptions): Outlet {
  let held: AiSdkRecord[] = [];
  let isHolding = holdsAll;
  let returned: AiSdkRecord = {};
  let opened: PartsStream | undefined;

  function release(): PartsStream {
    const isFirst = opened === undefined;
    const parts = (opened ??= createPartsStream(onCancel));
    for (const part of held) void parts.send(part); // What was held is there already; nobody need wait for it.
    held = [];
    // Headers and the like are those of the attempt whose answer it is.
    if (isFirst) onOpen({ ...returned, stream: parts.stream });
    return parts;
  }

  return {
    begin: (result) => {
      returned = result;
      held = [];
      isHolding = holdsAll;
    },
    part: (part, sight) => {
      if (sight === 'call') isHolding = true;
      if (opened !== undefined && !isHolding) return opened.send(part);
      held.push(part);
      if (!isHolding && sight !== 'nothing') release();
      return undefined;
    },
    isOpen: () => opened !== undefined,
    finish: (part) => release().end(part),
    fail: (error) => {
      opened?.end({ type: 'error', error });
      return opened !== undefined;
    },
  };
}
