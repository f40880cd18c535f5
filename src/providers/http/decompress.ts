import { pipeline } from 'node:stream';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { faultError, tooLargeFault } from './transport-fault.ts';

/** How a body is packed, from its `content-encoding`. */
export type Encoding =
  | { readonly type: 'plain' }
  | { readonly type: 'packed'; readonly unpack: (source: Readable) => Unpacked }
  | { readonly type: 'unreadable'; readonly error: Error };

interface Unpacked {
  readonly stream: Readable;
  /** How much has gone in so far. */
  readonly packedBytes: () => number;
}

const decoders = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
} as const;

/** We ask for plain bytes; a server that packs them once all the same is understood, and no more than once. */
export function encodingOf(header: string | undefined): Encoding {
  const name = header?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return { type: 'plain' };
  if (Object.hasOwn(decoders, name)) {
    const create = decoders[name as keyof typeof decoders]; // Just looked up.
    return { type: 'packed', unpack: (source) => unpackWith(source, create()) };
  }
  return {
    type: 'unreadable',
    error: faultError({
      code: 'INVALID_RESPONSE',
      message: `The answer is packed in a way that cannot be read: content-encoding is "${name.slice(0, 100)}"`,
      retryable: false,
      phase: 'body',
      hint: 'We asked for plain bytes. Look at the gateway or proxy that packed them: gzip, deflate or br, once, would do.',
      context: { protocol: 'content-encoding' },
    }),
  };
}

function unpackWith(
  source: Readable,
  decoder: ReturnType<(typeof decoders)[keyof typeof decoders]>,
): Unpacked {
  // Errors of both reach whoever reads the decoder; the callback only keeps them from being unhandled.
  pipeline(source, decoder, () => undefined);
  return { stream: decoder, packedBytes: () => decoder.bytesWritten };
}

const maxRatio = 200;
const alwaysAllowedBytes = 4 * 1024 * 1024;

/** Words shrink to a tenth, never to a two-hundredth: such a body was made to fill memory. */
export function inspectRatio(unpackedBytes: number, packedBytes: number): Error | undefined {
  if (unpackedBytes <= alwaysAllowedBytes || unpackedBytes <= packedBytes * maxRatio) return undefined;
  const what = `The answer unpacks from ${packedBytes} bytes to more than ${maxRatio} times that, and`;
  return faultError(tooLargeFault(what, alwaysAllowedBytes));
}
