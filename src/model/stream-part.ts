import type { Finish } from './finish.ts';
import type { Signature } from './message.ts';
import type { Usage } from './usage.ts';

/**
 * One stream protocol for every provider. A decoder sends these in the order in which they arrived:
 *
 * - deltas of one text or one reasoning block follow each other; `text-finished` and `reasoning-finished` end a block,
 *   and so does the first part of another block;
 * - a tool call is `tool-call-started`, any number of `tool-call-delta`, `tool-call-finished`; several may overlap;
 * - `usage` replaces what was known before, field by field;
 * - `finished` comes once and last. A stream that ends without it was cut off, whatever the socket said.
 */
export type StreamPart =
  | { readonly type: 'started'; readonly responseId?: string; readonly servedBy?: string }
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'text-finished'; readonly signature?: Signature }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  | { readonly type: 'reasoning-finished'; readonly signature?: Signature; readonly isRedacted?: boolean }
  | { readonly type: 'tool-call-started'; readonly callId: string; readonly name: string }
  | { readonly type: 'tool-call-delta'; readonly callId: string; readonly text: string }
  | { readonly type: 'tool-call-finished'; readonly callId: string; readonly signature?: Signature }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'finished'; readonly finish: Finish };

/** Whether a part contains part of the answer. Keep-alives come as counts, or as deltas without text. */
export function isProgress(part: StreamPart): boolean {
  switch (part.type) {
    case 'started':
    case 'usage':
      return false;
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-call-delta':
      return part.text !== '';
    default:
      return true;
  }
}
