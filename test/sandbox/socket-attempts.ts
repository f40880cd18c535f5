// Table: ways out of the sandbox through sockets and descriptors. Part of `attempts.ts`.
import { readFileSync } from 'node:fs';
import { inheritedNumbers } from './start-program.ts';
import { mark, perl, saysSo, showsSecret } from './attempt.ts';
import type { Attempt, Scene, Traces } from './attempt.ts';

const isX64 = process.arch === 'x64';
const numbers = isX64 ? { sendmsg: 46, sendmmsg: 307 } : { sendmsg: 211, sendmmsg: 269 };
const fastOpen = 0x2000_0000;

const reachesTcp = (_scene: Scene, { tcp }: Traces): boolean => tcp > 0;
const reachesDatagram =
  (where: string) =>
  (_scene: Scene, { datagrams }: Traces): boolean =>
    datagrams.includes(where);

/** A network of its own may be used freely: only the network of the runtime is outside. */
const inNetwork = ({ network }: Scene): string => `readlink("/proc/self/ns/net") eq "${network}"`;
const to = (port: number): string => `pack_sockaddr_in(${port}, inet_aton("127.0.0.1"))`;

/** A `msghdr` for one address and three bytes, with the address and the bytes kept alive in variables. */
const message = (port: number): string =>
  `my ($a, $d) = (${to(port)}, "out"); my $v = pack("PQ", $d, 3); my $m = pack("PL x4 PQ Q Q Q", $a, length $a, $v, 1, 0, 0, 0);`;

const tcpAttempts: readonly Attempt[] = [
  {
    name: 'TCP to a listener outside',
    script: ({ tcpPort }) => perl(`socket(S, 2, 1, 6) and connect(S, ${to(tcpPort)})`),
    isOut: reachesTcp,
  },
  {
    name: 'TCP over IPv6 to a listener outside',
    isAlone: true,
    script: ({ tcpPort }) =>
      perl(
        `socket(S, 10, 1, 6) and connect(S, Socket::pack_sockaddr_in6(${tcpPort}, Socket::inet_pton(10, "::ffff:127.0.0.1")))`,
      ),
    isOut: reachesTcp,
  },
  {
    name: 'multipath TCP to a listener outside',
    isAlone: true,
    script: ({ tcpPort }) => perl(`socket(S, 2, 1, 262) and connect(S, ${to(tcpPort)})`),
    isOut: reachesTcp,
  },
  {
    name: 'TCP by fast open (sendto) to a listener outside',
    isAlone: true,
    script: ({ tcpPort }) => perl(`socket(S, 2, 1, 0) and send(S, "out", ${fastOpen}, ${to(tcpPort)})`),
    isOut: reachesTcp,
  },
  {
    name: 'TCP by fast open (sendmsg) to a listener outside',
    isAlone: true,
    script: ({ tcpPort }) =>
      perl(
        `${message(tcpPort)} socket(S, 2, 1, 0) and syscall(${numbers.sendmsg}, fileno(S), $m, ${fastOpen})`,
      ),
    isOut: reachesTcp,
  },
  {
    name: 'TCP by fast open (sendmmsg) to a listener outside',
    isAlone: true,
    script: ({ tcpPort }) =>
      perl(
        `${message(tcpPort)} $m .= "\\0" x 8; socket(S, 2, 1, 0) and syscall(${numbers.sendmmsg}, fileno(S), $m, 1, ${fastOpen})`,
      ),
    isOut: reachesTcp,
  },
  {
    name: 'multipath TCP by fast open to a listener outside',
    isAlone: true,
    script: ({ tcpPort }) => perl(`socket(S, 2, 1, 262) and send(S, "out", ${fastOpen}, ${to(tcpPort)})`),
    isOut: reachesTcp,
  },
  {
    name: 'listen for the world without a bind',
    script: (scene) =>
      perl(
        `for my $f (2, 10) { print "${mark}" if socket(S, $f, 1, 6) and listen(S, 5) and ${inNetwork(scene)} }`,
      ),
    isOut: saysSo,
  },
  {
    name: 'listen for the world with a bind',
    script: (scene) =>
      perl(
        `print "${mark}" if socket(S, 2, 1, 6) and bind(S, ${to(0)}) and listen(S, 5) and ${inNetwork(scene)}`,
      ),
    isOut: saysSo,
  },
];

const otherFamilies: readonly Attempt[] = [
  {
    name: 'UDP to a listener outside',
    script: ({ udpPort }) => perl(`socket(S, 2, 2, 17) and send(S, "out", 0, ${to(udpPort)})`),
    isOut: (_scene, { udp }) => udp > 0,
  },
  {
    name: 'a raw socket',
    script: () => perl(`print "${mark}" if socket(S, 2, 3, 1) or socket(S, 17, 3, 768)`),
    isOut: saysSo,
  },
  {
    name: 'a socket to the host of a virtual machine',
    script: () => perl(`print "${mark}" if socket(S, 40, 1, 0)`),
    isOut: saysSo,
  },
  {
    name: 'a socket to the kernel or of another protocol',
    // Netlink, a ping, SCTP as a stream and as packets, DCCP, SMC.
    script: (scene) =>
      perl(
        `for my $s ([16, 3, 0], [2, 2, 1], [2, 1, 132], [2, 5, 132], [2, 6, 33], [43, 1, 0]) { print "${mark}" if socket(S, $s->[0], $s->[1], $s->[2]) and ${inNetwork(scene)} }`,
      ),
    isOut: saysSo,
  },
  {
    name: 'a socket by the calls of 32 bits',
    script: () => program(foreignSocket),
    isOut: saysSo,
  },
  {
    name: 'a ring that passes the filter by',
    script: () => perl(`my $p = "\\0" x 120; print "${mark}" if syscall(425, 1, $p) >= 0`),
    isOut: saysSo,
  },
];

const unixAttempts: readonly Attempt[] = [
  {
    name: 'an abstract socket outside',
    // Some versions of Node fill such a name up to its full length.
    script: ({ abstractName }) =>
      perl(
        `for my $p ("a*", "a108") { socket(S, 1, 1, 0) and connect(S, pack("S $p", 1, "\\0${abstractName}")) and last }`,
      ),
    isOut: (_scene, { abstract }) => abstract > 0,
  },
  {
    name: 'a socket file outside',
    script: ({ outside }) => perl(`socket(S, 1, 1, 0) and connect(S, sockaddr_un("${outside}/socket"))`),
    isOut: (_scene, { unix }) => unix > 0,
  },
  {
    name: 'a socket file in the workspace',
    script: ({ root }) => perl(`socket(S, 1, 1, 0) and connect(S, sockaddr_un("${root}/inside.sock"))`),
    isOut: (_scene, { inside }) => inside > 0,
  },
  {
    name: 'a datagram to a socket file in the workspace',
    script: ({ root }) =>
      perl(`socket(S, 1, 2, 0) and send(S, "inside", 0, sockaddr_un("${root}/inside.dgram"))`),
    isOut: reachesDatagram('inside'),
  },
  {
    name: 'a datagram from a pair to a socket file in the workspace',
    script: ({ root }) =>
      perl(`socketpair(A, B, 1, 2, 0) and send(A, "inside-pair", 0, sockaddr_un("${root}/inside.dgram"))`),
    isOut: reachesDatagram('inside-pair'),
  },
  {
    name: 'a datagram from a pair to a socket file outside',
    script: ({ outside }) =>
      perl(`socketpair(A, B, 1, 2, 0) and send(A, "outside", 0, sockaddr_un("${outside}/dgram"))`),
    isOut: reachesDatagram('outside'),
  },
  {
    name: 'a datagram from a raw pair to an abstract socket',
    script: ({ abstractName }) =>
      perl(
        `socketpair(A, B, 1, 3, 0) and send(A, "abstract", 0, pack("S a*", 1, "\\0${abstractName}-dgram"))`,
      ),
    isOut: reachesDatagram('abstract'),
  },
  {
    name: 'a connected pair turned to a socket file',
    script: ({ root }) =>
      perl(
        `for my $t (1, 5) { socketpair(A, B, 1, $t, 0); close B; connect(A, sockaddr_un("${root}/inside.sock")); send(A, "turned", 0, sockaddr_un("${root}/inside.dgram")) }`,
      ),
    isOut: (_scene, { inside, datagrams }) => inside > 0 || datagrams.includes('turned'),
    isAlone: true,
  },
];

const descriptorAttempts: readonly Attempt[] = [
  {
    name: 'read through an inherited descriptor',
    script: () =>
      perl(
        `for my $n (${inheritedNumbers.join(', ')}) { open(F, "+<&=", $n) and sysseek(F, 0, 0) and sysread(F, $t, 100) and print $t }`,
      ),
    isOut: showsSecret,
  },
  {
    name: 'write through an inherited descriptor',
    isAlone: true,
    script: () =>
      perl(
        `for my $n (${inheritedNumbers.join(', ')}) { open(F, "+<&=", $n) and sysseek(F, 0, 2) and syswrite(F, "evil") }`,
      ),
    isOut: ({ inherited }) => readFileSync(inherited, 'utf8').includes('evil'),
  },
  {
    name: 'reopen an inherited descriptor by its name',
    script: () => `cat ${inheritedNumbers.map((number) => `/proc/self/fd/${number}`).join(' ')}`,
    isOut: showsSecret,
  },
  {
    name: 'take a descriptor of another process',
    script: ({ pid }) =>
      perl(`my $p = syscall(434, ${pid}, 0); print "${mark}" if $p >= 0 and syscall(438, $p, 0, 0) >= 0`),
    isOut: saysSo,
  },
];

export const socketAttempts: readonly Attempt[] = [
  ...tcpAttempts,
  ...otherFamilies,
  ...unixAttempts,
  ...descriptorAttempts,
];

/** `socket(2, 1, 6)` by `int 0x80`; ends with 0 where that gave a descriptor. */
const foreignSocket = 'b867010000bb02000000b901000000ba06000000cd8089c7c1ef1fb83c0000000f05';

/** Machine code as the smallest program that Linux starts, so that no compiler is needed. x64 only: arm64 has no such calls here. */
function program(code: string): string {
  if (!isX64) return 'true';
  const size = 120 + code.length / 2;
  const header = [
    `pack("C16 S2 L Q3 L S6", 127, 69, 76, 70, 2, 1, 1, (0) x 9, 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0)`,
    `pack("L2 Q6", 1, 5, 0, 0x400000, 0x400000, ${size}, ${size}, 4096)`,
    `pack("H*", "${code}")`,
  ].join(' . ');
  return [
    perl(`open(F, ">", "./foreign") and print F ${header}`),
    `chmod +x foreign && ./foreign && echo ${mark}`,
  ].join('\n');
}
