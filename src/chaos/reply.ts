import type { WireEvent } from './wire/wire-answer.ts';
import type { WireHeaders } from './wire/response-headers.ts';

/** A response before it is decided how its bytes travel. */
export interface Reply {
  readonly status: number;
  /** Node's own words for the status where absent. */
  readonly statusText?: string;
  readonly headers: WireHeaders;
  readonly pieces: readonly Piece[];
  /** A body that comes event by event; else it is one whole of known length. */
  readonly isStream: boolean;
}

/** What is written at once. */
export interface Piece {
  readonly bytes: Uint8Array;
  readonly role: WireEvent['role'];
  /** With this piece the fault is delivered. */
  readonly isFault: boolean;
}

/** A reply that is one whole. */
export function wholeReply(reply: Omit<Reply, 'pieces' | 'isStream'>, text: string): Reply {
  return {
    ...reply,
    isStream: false,
    pieces: [{ bytes: Buffer.from(text), role: 'terminal', isFault: false }],
  };
}

/** A reply of JSON. */
export function jsonReply(reply: Omit<Reply, 'pieces' | 'isStream'>, body: unknown): Reply {
  const headers = { ...reply.headers, 'content-type': 'application/json' };
  return wholeReply({ ...reply, headers }, JSON.stringify(body));
}

export function lengthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

export function joinPieces(pieces: readonly Piece[]): Uint8Array {
  return Buffer.concat(pieces.map(({ bytes }) => bytes));
}

/**
 * The beginning of a body up to where it breaks: after so many events of content, half of them where nobody says, and
 * always before the end is announced. Where there is no such place it breaks inside the bytes.
 */
export function beginningOf({ pieces }: Reply, afterEvents?: number): readonly Piece[] {
  const content = pieces.flatMap(({ role }, index) => (role === 'content' ? [index] : []));
  if (content.length === 0) return [halfOf(joinPieces(pieces))];
  const wanted = Math.min(afterEvents ?? Math.ceil(content.length / 2), content.length);
  const last = wanted <= 0 ? (content[0] ?? 0) - 1 : (content[wanted - 1] ?? 0);
  return pieces.slice(0, last + 1);
}

function halfOf(bytes: Uint8Array): Piece {
  return { bytes: bytes.subarray(0, Math.floor(bytes.length / 2)), role: 'content', isFault: false };
}
