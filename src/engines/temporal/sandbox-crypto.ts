// Replaces `node:crypto` inside the workflow, where no module of Node may be loaded. It gives the same digests.

/** SHA-256 of a text, written as `node:crypto` writes it. */
export function hash(algorithm: string, text: string, encoding: 'hex' | 'base64url'): string {
  if (algorithm !== 'sha256') throw new Error(`No "${algorithm}" in a workflow: only sha256`);
  const words = digestOf(new TextEncoder().encode(text));
  const bytes = words.flatMap((word) => [word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255]);
  return encoding === 'hex' ? toHex(bytes) : toBase64url(bytes);
}

/** The same as an object that is fed. */
export function createHash(algorithm: string): Hash {
  let fed = '';
  const self: Hash = {
    update: (text) => {
      fed += text;
      return self;
    },
    digest: (encoding) => hash(algorithm, fed, encoding),
  };
  return self;
}

/**
 * An id is chance, and chance is an effect: code that asks for one here would not replay.
 *
 * @public
 */
export function randomUUID(): never {
  throw new Error('There is no randomness in a workflow');
}

/** As far as it is used here. */
interface Hash {
  readonly update: (text: string) => Hash;
  readonly digest: (encoding: 'hex' | 'base64url') => string;
}

const primes = firstPrimes(64);
const constants = primes.map((prime) => fraction(Math.cbrt(prime)));
const beginnings = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

function firstPrimes(count: number): readonly number[] {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate += 1)
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate);
  return found;
}

/** The first 32 bits behind the point. */
function fraction(value: number): number {
  return Math.floor((value - Math.floor(value)) * 2 ** 32) | 0;
}

function digestOf(bytes: Uint8Array): readonly number[] {
  const length = Math.ceil((bytes.length + 9) / 64) * 64;
  const padded = new Uint8Array(length);
  padded.set(bytes);
  padded[bytes.length] = 128;
  const view = new DataView(padded.buffer);
  view.setUint32(length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(length - 4, (bytes.length << 3) >>> 0);
  let state: readonly number[] = beginnings;
  for (let start = 0; start < length; start += 64) state = mixBlock(state, view, start);
  return state;
}

function mixBlock(state: readonly number[], view: DataView, start: number): readonly number[] {
  const schedule = new Int32Array(64);
  for (let index = 0; index < 16; index += 1) schedule[index] = view.getInt32(start + index * 4);
  for (let index = 16; index < 64; index += 1) {
    const early = at(schedule, index - 15);
    const late = at(schedule, index - 2);
    const small = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
    const large = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
    schedule[index] = (at(schedule, index - 16) + small + at(schedule, index - 7) + large) | 0;
  }
  const mixed = Int32Array.from(state);
  for (let index = 0; index < 64; index += 1) mixRound(mixed, at(schedule, index) + at(constants, index));
  return Array.from(mixed, (word, index) => (word + at(state, index)) | 0);
}

function mixRound(mixed: Int32Array, added: number): void {
  const [a, e] = [at(mixed, 0), at(mixed, 4)];
  const choice = (e & at(mixed, 5)) ^ (~e & at(mixed, 6));
  const first = (at(mixed, 7) + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + added) | 0;
  const majority = (a & at(mixed, 1)) ^ (a & at(mixed, 2)) ^ (at(mixed, 1) & at(mixed, 2));
  const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority) | 0;
  mixed.copyWithin(1, 0, 7);
  mixed[4] = (at(mixed, 4) + first) | 0;
  mixed[0] = (first + second) | 0;
}

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** The index is always within the list. */
function at(list: ArrayLike<number>, index: number): number {
  return list[index] ?? 0;
}

function toHex(bytes: readonly number[]): string {
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

function toBase64url(bytes: readonly number[]): string {
  let text = '';
  for (let index = 0; index < bytes.length; index += 3) {
    const group = (at(bytes, index) << 16) | (at(bytes, index + 1) << 8) | at(bytes, index + 2);
    const letters = Math.min(4, bytes.length - index + 1);
    for (let letter = 0; letter < letters; letter += 1)
      text += alphabet[(group >>> (18 - 6 * letter)) & 63] ?? '';
  }
  return text;
}
