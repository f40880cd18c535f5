import type { AiSdkRecord } from '../../providers/ai-sdk/language-model.ts';

/** A stream of parts, and the end into which they are put. */
export interface PartsStream {
  readonly stream: ReadableStream<AiSdkRecord>;
  /** A promise where the reader is behind; it ends when the reader has caught up or gone away. */
  readonly send: (part: AiSdkRecord) => void | Promise<void>;
  /** The last part. Nothing is sent after it. */
  readonly end: (part: AiSdkRecord) => void;
}

/** How many parts may lie unread before the model is made to wait. */
const maxUnread = 64;

/** An open stream. `onCancel` hears that its reader went away. */
export function createPartsStream(onCancel: () => void): PartsStream {
  let hasEnded = false;
  let wake: (() => void) | undefined;
  let sink: ReadableStreamDefaultController<AiSdkRecord> | undefined;
  const stream = new ReadableStream<AiSdkRecord>(
    {
      start: (controller) => {
        sink = controller;
      },
      pull: () => wake?.(),
      cancel: () => {
        hasEnded = true;
        wake?.();
        onCancel();
      },
    },
    { highWaterMark: maxUnread },
  );
  return {
    stream,
    send: (part) => {
      if (hasEnded) return undefined;
      sink?.enqueue(part);
      if ((sink?.desiredSize ?? 0) > 0) return undefined;
      return new Promise((resolve) => {
        wake = resolve;
      });
    },
    end: (part) => {
      if (hasEnded) return;
      hasEnded = true;
      sink?.enqueue(part);
      sink?.close();
    },
  };
}
