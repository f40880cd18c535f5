import type { BoundedOutput } from './sandbox.ts';

/** Takes what a stream says and keeps its head and its tail; how much came between them is counted and not kept. */
export interface OutputKeeper {
  readonly add: (chunk: Uint8Array) => void;
  readonly finish: () => BoundedOutput;
}

/** Keeps at most `maxBytes`, half of them from the beginning and half from the end. */
export function keepOutput(maxBytes: number): OutputKeeper {
  const headBytes = Math.ceil(maxBytes / 2);
  const held: Held = {
    head: [],
    headRoom: headBytes,
    tailBytes: maxBytes - headBytes,
    tail: undefined,
    tailSeen: 0,
    bytes: 0,
  };
  return { add: (chunk) => addChunk(held, chunk), finish: () => toOutput(held) };
}

interface Held {
  readonly head: Uint8Array[];
  headRoom: number;
  readonly tailBytes: number;
  /** A ring: the byte after the last one written is the oldest. Made when the head is full, since most commands say little. */
  tail: Uint8Array | undefined;
  tailSeen: number;
  bytes: number;
}

function addChunk(held: Held, chunk: Uint8Array): void {
  held.bytes += chunk.length;
  const first = chunk.subarray(0, held.headRoom);
  // A copy, for a small chunk may be a view of a large block that it would keep alive.
  if (first.length > 0) held.head.push(Uint8Array.from(first));
  held.headRoom -= first.length;
  addToTail(held, chunk.subarray(first.length));
}

function addToTail(held: Held, rest: Uint8Array): void {
  if (rest.length === 0) return;
  const { tailBytes } = held;
  held.tail ??= new Uint8Array(tailBytes);
  const kept = tailBytes === 0 ? rest.subarray(rest.length) : rest.subarray(-tailBytes);
  const at = tailBytes === 0 ? 0 : (held.tailSeen + rest.length - kept.length) % tailBytes;
  const fits = kept.subarray(0, tailBytes - at);
  held.tail.set(fits, at);
  held.tail.set(kept.subarray(fits.length), 0);
  held.tailSeen += rest.length;
}

function toOutput(held: Held): BoundedOutput {
  const head = Buffer.concat(held.head);
  const tail = straighten(held);
  if (held.bytes === head.length + tail.length) {
    return { text: decode(Buffer.concat([head, tail])), bytes: held.bytes, omittedBytes: 0 };
  }
  // What was cut may have been a character of several bytes: its rest is left out too, so that no wrong sign is shown.
  const cleanHead = head.subarray(0, head.length - openBytes(head));
  const cleanTail = tail.subarray(followingBytes(tail));
  const omittedBytes = held.bytes - cleanHead.length - cleanTail.length;
  const note = `\n… ${omittedBytes} bytes left out …\n`;
  return { text: decode(cleanHead) + note + decode(cleanTail), bytes: held.bytes, omittedBytes };
}

function straighten({ tail, tailSeen, tailBytes }: Held): Uint8Array {
  if (tail === undefined) return new Uint8Array();
  if (tailSeen <= tailBytes) return tail.subarray(0, tailSeen);
  const oldest = tailSeen % tailBytes;
  return Buffer.concat([tail.subarray(oldest), tail.subarray(0, oldest)]);
}

/** How many bytes at the end begin a character that they do not finish. */
function openBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return byte >= 0xc0 && lengthOf(byte) > back ? back : 0;
  }
  return 0;
}

function lengthOf(leading: number): number {
  if (leading >= 0xf0) return 4;
  return leading >= 0xe0 ? 3 : 2;
}

/** How many bytes at the beginning go on with a character whose first byte is not there; a character has at most three such. */
function followingBytes(bytes: Uint8Array): number {
  const first = bytes.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return first === -1 ? 0 : first;
}

/** Bytes that are no UTF-8 become the sign for it, one by one; a mark at the beginning is kept like any other character. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
