import { gzipSync } from 'node:zlib';
import { joinPieces } from '../reply.ts';
import type { Piece, Reply } from '../reply.ts';
import { isStream, numberOf, wordOf } from './fault-row.ts';
import type { FaultRow, Occasion } from './fault-row.ts';

const maxBombMegabytes = 1024;

/** What is wrong with the bytes of a body, compression above all. */
export const bodyFaults = {
  'gzip-truncated': {
    group: 'body',
    summary: 'A compressed body that ends too early, with a proper end of the response',
    reply: (reply) => {
      const packed = gzipSync(joinPieces(reply.pieces));
      return packedReply(reply, 'gzip', packed.subarray(0, Math.floor(packed.length / 2)));
    },
  },
  'gzip-garbage': {
    group: 'body',
    summary: 'A body that says it is compressed and is not',
    reply: (reply) => packedReply(reply, 'gzip', joinPieces(reply.pieces)),
  },
  'gzip-bomb': {
    group: 'body',
    summary: 'A small body that unpacks to 50 MB, without a line break',
    parameters: { megabytes: 'its size unpacked, 50 by default' },
    reply: bombReply,
  },
  'encoding-chain': {
    group: 'body',
    summary: 'A good answer, packed six times over',
    parameters: { depth: 'how many times, 6 by default' },
    reply: (reply, occasion) => {
      const depth = Math.min(Math.max(1, numberOf(occasion, 'depth') ?? 6), 100);
      const codings = Array.from({ length: depth }, () => 'gzip');
      const packed = codings.reduce((bytes: Uint8Array) => gzipSync(bytes), joinPieces(reply.pieces));
      return packedReply(reply, codings.join(', '), packed);
    },
  },
  split: {
    group: 'body',
    summary: 'A good answer with an emoji, every byte in a chunk of its own',
    parameters: { at: 'only at these offsets: "3,17"' },
    answer: (answer) => (answer.text === '' ? answer : { ...answer, text: `${answer.text} 🛤️ ok` }),
    reply: splitReply,
  },
} as const satisfies Record<string, FaultRow>;

function packedReply(reply: Reply, coding: string, bytes: Uint8Array): Reply {
  const headers = { ...reply.headers, 'content-encoding': coding };
  return { ...reply, headers, isStream: true, pieces: [{ bytes, role: 'terminal', isFault: true }] };
}

function bombReply(reply: Reply, occasion: Occasion): Reply {
  const megabytes = Math.min(numberOf(occasion, 'megabytes') ?? 50, maxBombMegabytes);
  // A gzip file may be many, one after the other: so the bomb needs no memory here.
  const spaces = gzipSync(Buffer.alloc(1024 * 1024, ' '), { level: 9 });
  const head = gzipSync(isStream(occasion.route) ? ':' : '');
  const members = Array.from({ length: Math.ceil(megabytes) }, () => spaces);
  return packedReply(reply, 'gzip', Buffer.concat([head, ...members, gzipSync(joinPieces(reply.pieces))]));
}

function splitReply(reply: Reply, occasion: Occasion): Reply {
  const body = joinPieces(reply.pieces);
  const wanted = wordOf(occasion, 'at');
  const inner = wanted === undefined ? [...body.keys()].slice(1) : offsetsOf(wanted, body.length);
  const edges = [0, ...inner, body.length];
  const pieces = edges.slice(0, -1).map((start, index): Piece => {
    const isLast = index === edges.length - 2;
    return {
      bytes: body.subarray(start, edges[index + 1]),
      role: isLast ? 'terminal' : 'content',
      isFault: isLast,
    };
  });
  return { ...reply, isStream: true, pieces };
}

function offsetsOf(text: string, length: number): readonly number[] {
  const offsets = text.split(',').map(Number);
  const inside = offsets.filter((offset) => Number.isSafeInteger(offset) && offset > 0 && offset < length);
  return [...new Set(inside)].toSorted((one, other) => one - other);
}
