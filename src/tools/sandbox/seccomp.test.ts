import { expect, it } from 'vitest';
import { seccompFilter } from './seccomp.ts';
import type { Sockets } from './seccomp.ts';

interface Call {
  readonly audit: number;
  readonly number: number;
  readonly words: readonly number[];
}

const allowed = 0x7fff_0000;
const refused = (errno: number): number => 0x0005_0000 | errno;

/** Does what the kernel does with a filter. */
function ask(filter: Uint8Array, { audit, number, words }: Call): number {
  const shown = new DataView(new ArrayBuffer(64));
  shown.setUint32(0, number, true);
  shown.setUint32(4, audit, true);
  for (const [index, word] of words.entries()) shown.setUint32(16 + 8 * index, word, true);
  const code = new DataView(filter.buffer);
  let loaded = 0;
  for (let at = 0; at < filter.length / 8; at += 1) {
    const value = code.getUint32(at * 8 + 4, true);
    const jump = (isSo: boolean): number => code.getUint8(at * 8 + (isSo ? 2 : 3));
    const operation = code.getUint16(at * 8, true);
    if (operation === 0x06) return value;
    if (operation === 0x20) loaded = shown.getUint32(value, true);
    if (operation === 0x54) loaded = (loaded & value) >>> 0;
    if (operation === 0x15) at += jump(loaded === value);
    if (operation === 0x35) at += jump(loaded >= value);
    if (operation === 0x45) at += jump((loaded & value) !== 0);
  }
  throw new Error('The filter ended without a word');
}

const x64 = { arch: 'x64', audit: 0xc000_003e };
const arm64 = { arch: 'arm64', audit: 0xc000_00b7 };

it.each([
  { what: 'chmod u+s', ...x64, number: 90, words: [0, 0o4755], answer: refused(1) },
  { what: 'fchmodat g+s', ...arm64, number: 53, words: [0, 0, 0o2755], answer: refused(1) },
  {
    what: 'openat that makes with u+s',
    ...x64,
    number: 257,
    words: [0, 0, 0x41, 0o4755],
    answer: refused(1),
  },
  { what: 'openat2', ...arm64, number: 437, words: [], answer: refused(38) },
  { what: 'unshare of users', ...x64, number: 272, words: [0x1000_0000], answer: refused(1) },
  { what: 'clone of users', ...arm64, number: 220, words: [0x1000_0011], answer: refused(1) },
  { what: 'io_uring_setup', ...x64, number: 425, words: [1], answer: refused(38) },
  { what: 'TIOCSTI', ...arm64, number: 29, words: [0, 0x5412], answer: refused(1) },
  { what: 'mount', ...x64, number: 165, words: [], answer: refused(1) },
  { what: 'a call of 32 bits', ...x64, audit: 0x4000_0003, number: 90, words: [], answer: refused(38) },
  {
    what: 'a call of the other convention',
    ...x64,
    number: 0x4000_0000 + 90,
    words: [],
    answer: refused(38),
  },
  { what: 'chmod +x', ...x64, number: 90, words: [0, 0o755], answer: allowed },
  {
    what: 'openat that reads, with anything in the mode',
    ...x64,
    number: 257,
    words: [0, 0, 0, 0o7777],
    answer: allowed,
  },
  { what: 'fork', ...x64, number: 56, words: [0x11], answer: allowed },
  { what: 'another ioctl', ...arm64, number: 29, words: [0, 0x5413], answer: allowed },
  { what: 'read', ...x64, number: 0, words: [], answer: allowed },
])('$what on $arch is answered as it should be', ({ arch, audit, number, words, answer }) => {
  const filter = seccompFilter(arch, 'namespaced') ?? new Uint8Array();
  expect(ask(filter, { audit, number, words })).toBe(answer);
});

const tcp = { what: 'TCP', words: [2, 0x8_0001, 6] };
const anyStream = { what: 'a stream of IPv6', words: [10, 1, 0] };
const multipath = { what: 'multipath TCP', words: [2, 1, 262] };
const udp = { what: 'UDP', words: [2, 0x8_0002, 0] };
const unix = { what: 'Unix', words: [1, 1, 0] };
const netlink = { what: 'netlink', words: [16, 3, 0] };
const machine = { what: 'the host of a virtual machine', words: [40, 1, 0] };

it.each<{ what: string; words: readonly number[]; sockets: Sockets; answer: number }>([
  ...[tcp, anyStream, udp, unix, multipath, netlink, machine].map((row) => ({
    ...row,
    sockets: 'none' as const,
    answer: refused(1),
  })),
  ...[machine, unix].map((row) => ({ ...row, sockets: 'namespaced' as const, answer: refused(1) })),
  ...[tcp, anyStream, multipath, udp, netlink].map((row) => ({
    ...row,
    sockets: 'namespaced' as const,
    answer: allowed,
  })),
])('a socket for $what, where $sockets are allowed', ({ words, sockets, answer }) => {
  const filter = seccompFilter('x64', sockets) ?? new Uint8Array();
  expect(ask(filter, { audit: x64.audit, number: 41, words })).toBe(answer);
});

it.each([
  { what: 'stream', words: [1, 0x8_0801, 0], answer: allowed },
  { what: 'connected packets', words: [1, 5, 0], answer: allowed },
  { what: 'datagrams', words: [1, 0x8_0002, 0], answer: refused(1) },
  { what: 'raw, which means datagrams', words: [1, 3, 0], answer: refused(1) },
  { what: 'another family', words: [30, 1, 0], answer: refused(1) },
])('a pair of sockets: $what', ({ words, answer }) => {
  for (const sockets of ['none', 'namespaced'] as const) {
    const filters = [
      { filter: seccompFilter('x64', sockets), audit: x64.audit, number: 53 },
      { filter: seccompFilter('arm64', sockets), audit: arm64.audit, number: 199 },
    ];
    for (const { filter = new Uint8Array(), audit, number } of filters)
      expect(ask(filter, { audit, number, words })).toBe(answer);
  }
});

it.each([
  { what: 'connect', x64: 42, arm64: 203 },
  { what: 'bind', x64: 49, arm64: 200 },
  { what: 'listen', x64: 50, arm64: 201 },
  { what: 'pidfd_getfd', x64: 438, arm64: 438 },
])('$what is refused where there are no sockets', (numbers) => {
  for (const { arch, audit } of [x64, arm64] as const) {
    const filter = seccompFilter(arch, 'none') ?? new Uint8Array();
    expect(ask(filter, { audit, number: numbers[arch as 'x64' | 'arm64'], words: [] })).toBe(refused(1));
  }
});

it('there is none for a processor whose numbers are not known', () => {
  expect(seccompFilter('s390x', 'none')).toBeUndefined();
});
