import type { StreamPart } from '../../model/stream-part.ts';
import type { LoopEvent } from './call-target.ts';
import { createHearing } from '../watch/hearing.ts';
import type { Hearing } from '../watch/hearing.ts';

/** What of an answer is reported while it comes. */
type ShownPart = Extract<
  StreamPart,
  { type: 'text-delta' | 'reasoning-delta' | 'tool-call-started' | 'tool-call-delta' | 'tool-call-finished' }
>;

/**
 * The answer, event by event. Of the text only the first `keep` characters still stand after `text-retracted`, and what
 * follows replaces the rest. Reasoning and tool calls of an attempt are void as soon as another `attempt-started` comes.
 */
export type DeliveryEvent = ShownPart | { readonly type: 'text-retracted'; readonly keep: number };

type Listener = (event: LoopEvent | DeliveryEvent) => void | Promise<void>;

/** Informs a listener, remembers how much text it has been shown, and keeps what it threw until a caller can throw it. */
export interface Delivery extends Pick<Hearing<unknown>, 'isBehind' | 'isSettled' | 'settled'> {
  readonly event: (event: LoopEvent) => void;
  /** A promise where the listener wants more time. */
  readonly part: (part: StreamPart) => void | Promise<void>;
  /** Takes back what was shown beyond the first `keep` characters. */
  readonly retractTo: (keep: number) => void;
}

/** Starts with nothing shown. */
export function createDelivery(listener: Listener): Delivery {
  const { tell, isBehind, isSettled, settled } = createHearing(listener);
  let shown = 0;

  function part(piece: StreamPart): void | Promise<void> {
    switch (piece.type) {
      case 'text-delta':
        shown += piece.text.length;
        return tell(piece);
      case 'reasoning-delta':
      case 'tool-call-started':
      case 'tool-call-delta':
      case 'tool-call-finished':
        return tell(piece);
      default:
        // What ends a block or counts tokens is in the result.
        return undefined;
    }
  }

  return {
    event: (event) => void tell(event),
    part,
    retractTo: (keep) => {
      if (shown <= keep) return;
      shown = keep;
      void tell({ type: 'text-retracted', keep });
    },
    isBehind,
    isSettled,
    settled,
  };
}
