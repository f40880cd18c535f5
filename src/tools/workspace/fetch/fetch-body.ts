import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { codeOf, failureOfNetwork } from './fetch-failures.ts';
import { showUrl } from './fetch-target.ts';
import type { FetchTarget } from './fetch-target.ts';
import { workspaceError } from '../workspace-error.ts';

/** The bytes of a page as far as they were read. */
export interface PageBytes {
  readonly bytes: Buffer;
  /** There were more than the bound. */
  readonly isCut: boolean;
}

const unpackers = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
} as const;

/** Words shrink to a tenth, never to a two-hundredth: such a body was made to fill memory. */
const maxRatio = 200;

/** Reads an answer up to a bound of unpacked bytes, and destroys it. Rejects with a failure. */
export async function readPageBytes(
  answer: IncomingMessage,
  { target, maxBytes }: { readonly target: FetchTarget; readonly maxBytes: number },
): Promise<PageBytes> {
  const { stream, packedBytes } = unpack(answer, { target, maxBytes });
  const chunks: Buffer[] = [];
  let total = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      total += chunk.length;
      if (total > maxBytes) break;
    }
  } catch (error) {
    const isPacking = /^(Z_|ERR_BROTLI|ERR__ERROR_FORMAT)/.test(codeOf(error) ?? '');
    throw isPacking ? unreadable(target) : failureOfNetwork(error, target);
  } finally {
    answer.destroy();
  }
  // Only a packed page can have been made larger than what came.
  const packed = packedBytes();
  if (total > maxBytes && packed !== undefined && total > packed * maxRatio) {
    throw refused(target, `it unpacks from ${packed} bytes to more than ${maxRatio} times that`);
  }
  return { bytes: Buffer.concat(chunks, total).subarray(0, maxBytes), isCut: total > maxBytes };
}

interface Unpacked {
  readonly stream: Readable;
  /** How much was needed for what has come out; nothing where it was not packed. */
  readonly packedBytes: () => number | undefined;
}

function unpack(
  answer: IncomingMessage,
  { target, maxBytes }: { readonly target: FetchTarget; readonly maxBytes: number },
): Unpacked {
  const encoding = answer.headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return { stream: answer, packedBytes: () => undefined };
  if (!Object.hasOwn(unpackers, encoding)) {
    answer.destroy();
    throw refused(target, `it is packed as "${encoding.slice(0, 60)}"; gzip or br, once, can be read`);
  }
  const unpacker = unpackers[encoding as keyof typeof unpackers](); // Just looked up.
  let received = 0;
  answer.on('data', (chunk: Buffer) => {
    received += chunk.length;
    // What unpacks to nothing could go on for ever.
    if (received > maxBytes * 2) answer.destroy(refused(target, 'it is longer packed than unpacked'));
  });
  // Errors of both reach whoever reads the unpacker; the callback only keeps them from being unhandled.
  pipeline(answer, unpacker, () => undefined);
  return { stream: unpacker, packedBytes: () => unpacker.bytesWritten };
}

function unreadable(target: FetchTarget): Error {
  return refused(target, 'it is not packed the way that its headers say, or was cut off');
}

function refused({ url }: FetchTarget, why: string): Error {
  return workspaceError('INVALID_RESPONSE', `Cannot read the page ${showUrl(url.href)}: ${why}`, {
    retryable: false,
    phase: 'body',
  });
}
