import { STATUS_CODES } from 'node:http';
import { lengthOf } from './reply.ts';
import type { Piece, Reply } from './reply.ts';

/** What is done to a connection, one thing after the other. A list of these is a whole response, good or broken. */
export type Step =
  | { readonly type: 'wait'; readonly delayMs: number }
  /** Status and headers, properly framed. */
  | { readonly type: 'head'; readonly reply: Reply; readonly length: number | 'chunked' }
  /** Bytes of a framed body, in a chunk of their own. */
  | { readonly type: 'body'; readonly bytes: Uint8Array }
  /** Bytes on the socket itself, past every framing. The connection cannot be used again afterwards. */
  | { readonly type: 'raw'; readonly bytes: Uint8Array }
  /** The fault has been seen by the other side, or can be. */
  | { readonly type: 'delivered' }
  /** The proper end of a framed body. */
  | { readonly type: 'finish' }
  /** Closes the connection in peace (FIN), finished or not. */
  | { readonly type: 'close' }
  /** Breaks the connection (RST). */
  | { readonly type: 'reset' }
  /** Keeps the connection open and never says a word again. */
  | { readonly type: 'silence' };

/** How fast a good answer comes. */
export interface Pace {
  readonly latencyMs: number;
  readonly chunkDelayMs: number;
}

/** A reply in the ordinary way. A fault that lies in its content is delivered with the piece that carries it. */
export function* ordinarySteps(
  reply: Reply,
  { pace, hasFault }: { readonly pace: Pace; readonly hasFault: boolean },
): Iterable<Step> {
  if (pace.latencyMs > 0) yield { type: 'wait', delayMs: pace.latencyMs };
  yield headStep(reply);
  const faulty = hasFault ? faultIndex(reply.pieces) : -1;
  for (const [index, piece] of reply.pieces.entries()) {
    if (index > 0 && pace.chunkDelayMs > 0) yield { type: 'wait', delayMs: pace.chunkDelayMs };
    yield { type: 'body', bytes: piece.bytes };
    if (index === faulty) yield { type: 'delivered' };
  }
  // A refusal without a body has no piece that could carry it.
  if (hasFault && reply.pieces.length === 0) yield { type: 'delivered' };
  yield { type: 'finish' };
}

export function headStep(reply: Reply): Step {
  return { type: 'head', reply, length: reply.isStream ? 'chunked' : lengthOf(reply.pieces) };
}

export function* bodySteps(pieces: readonly Piece[], chunkDelayMs: number): Iterable<Step> {
  for (const [index, { bytes }] of pieces.entries()) {
    if (index > 0 && chunkDelayMs > 0) yield { type: 'wait', delayMs: chunkDelayMs };
    yield { type: 'body', bytes };
  }
}

/** The head of a response as bytes, for what Node would refuse to write. No framing is added. */
export function rawHead({
  status,
  statusText,
  headers,
}: Pick<Reply, 'status' | 'statusText' | 'headers'>): Step {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}: ${one}\r\n`),
  );
  const reason = statusText ?? STATUS_CODES[status] ?? 'Chaos';
  return raw(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n`);
}

export function raw(text: string): Step {
  return { type: 'raw', bytes: Buffer.from(text, 'latin1') };
}

/** The piece that was marked; else the one that announces the end, for a client may leave as soon as it has that. */
function faultIndex(pieces: readonly Piece[]): number {
  const marked = pieces.findIndex(({ isFault }) => isFault);
  if (marked >= 0) return marked;
  const terminal = pieces.findIndex(({ role }) => role === 'terminal');
  return terminal >= 0 ? terminal : pieces.length - 1;
}
