import { unreachable } from '../../base/assert.ts';

// A filter of system calls that the kernel asks before each of them. It takes back what neither namespaces nor Landlock do: files
// that lend their owner's rights to whoever starts them, new user namespaces, rings that pass calls by the filter, and sockets that
// reach past a namespace. Calls of another architecture get no answer, for their numbers mean other things.
//
// A filter sees numbers and no addresses. So a socket that could be given a forbidden address later is refused when it is made: where
// no network namespace holds it, all of them; Unix sockets always, since socket files in the workspace belong to programs outside. What
// remains is a pair of two ends that are connected with each other and can never be given another peer.

/** Which sockets may be made: those that a network namespace holds, or none. */
export type Sockets = 'namespaced' | 'none';

/** The filter for this processor as the kernel reads it; nothing where its numbers are not known here. */
export function seccompFilter(architecture: string, sockets: Sockets): Uint8Array | undefined {
  const machine = (machines as Readonly<Record<string, Machine | undefined>>)[architecture];
  if (machine === undefined) return undefined;
  const blocks = [...rules, ...socketRules[sockets]].flatMap((rule) =>
    rule.calls.flatMap((name) => {
      const number = machine.calls[name];
      return number === undefined ? [] : [guard(number, blockOf(rule))];
    }),
  );
  return encode([...prologue(machine), ...blocks.flat(), finish(allow)]);
}

interface Machine {
  readonly audit: number;
  /** Calls from this number on belong to another convention of the same processor. */
  readonly firstForeign?: number;
  readonly calls: Readonly<Partial<Record<CallName, number>>>;
}

type CallName = keyof typeof machines.x64.calls;

const machines = {
  // prettier-ignore
  x64: {
    audit: 0xc000_003e,
    firstForeign: 0x4000_0000,
    calls: {
      open: 2, creat: 85, openat: 257, openat2: 437, mkdir: 83, mkdirat: 258, mknod: 133, mknodat: 259,
      chmod: 90, fchmod: 91, fchmodat: 268, fchmodat2: 452, socket: 41, connect: 42,
      bind: 49, listen: 50, socketpair: 53, pidfd_getfd: 438, clone: 56, clone3: 435, unshare: 272,
      setns: 308, ioctl: 16, keyctl: 250, add_key: 248, request_key: 249, io_uring_setup: 425,
      io_uring_enter: 426, io_uring_register: 427, bpf: 321, perf_event_open: 298, userfaultfd: 323, mount: 165,
      umount2: 166, pivot_root: 155, open_tree: 428, move_mount: 429, fsopen: 430, fsconfig: 431, fsmount: 432,
      fspick: 433, mount_setattr: 442, prlimit64: 302, shmget: 29, shmat: 30, shmctl: 31, semget: 64, semop: 65,
      semctl: 66, semtimedop: 220, msgget: 68, msgsnd: 69, msgrcv: 70, msgctl: 71, mq_open: 240, mq_unlink: 241,
      setxattr: 188, lsetxattr: 189, fsetxattr: 190, removexattr: 197, lremovexattr: 198, fremovexattr: 199,
      setxattrat: 463, removexattrat: 466, file_setattr: 469,
    },
  },
  // prettier-ignore
  arm64: {
    audit: 0xc000_00b7,
    calls: {
      openat: 56, openat2: 437, mkdirat: 34, mknodat: 33, fchmod: 52, fchmodat: 53, fchmodat2: 452, socket: 198,
      connect: 203, bind: 200, listen: 201, socketpair: 199, pidfd_getfd: 438,
      clone: 220, clone3: 435, unshare: 97, setns: 268, ioctl: 29, keyctl: 219, add_key: 217, request_key: 218,
      io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427, bpf: 280, perf_event_open: 241,
      userfaultfd: 282, mount: 40, umount2: 39, pivot_root: 41, open_tree: 428, move_mount: 429, fsopen: 430,
      fsconfig: 431, fsmount: 432, fspick: 433, mount_setattr: 442, prlimit64: 261, shmget: 194, shmat: 196,
      shmctl: 195, semget: 190, semop: 193, semctl: 191, semtimedop: 192, msgget: 186, msgsnd: 189, msgrcv: 188,
      msgctl: 187, mq_open: 180, mq_unlink: 181, setxattr: 5, lsetxattr: 6, fsetxattr: 7, removexattr: 14,
      lremovexattr: 15, fremovexattr: 16, setxattrat: 463, removexattrat: 466, file_setattr: 469,
    },
  },
} as const;

const notPermitted = 1;
const notImplemented = 38;
const notSupported = 95;
/** The bits that make a program run with the rights of its owner or its group. */
const lendingModes = 0o6000;
/** `O_CREAT` and `O_TMPFILE`: only with one of them is there a mode, otherwise the register holds anything. */
const creatingFlags = 0x40_0040;
const newUserNamespace = 0x1000_0000;

type Rule =
  /** Never. */
  | { readonly type: 'never'; readonly calls: readonly CallName[]; readonly errno: number }
  /** Not with any of these bits in an argument. */
  | {
      readonly type: 'bits';
      readonly calls: readonly CallName[];
      readonly argument: number;
      readonly bits: number;
    }
  /** Not with these bits in the mode of something that is made. */
  | {
      readonly type: 'creating';
      readonly calls: readonly CallName[];
      readonly flags: number;
      readonly mode: number;
    }
  /** Not with one of these values. */
  | {
      readonly type: 'values';
      readonly calls: readonly CallName[];
      readonly argument: number;
      readonly values: readonly number[];
    }
  /** Only with one of these values. */
  | {
      readonly type: 'only';
      readonly calls: readonly CallName[];
      readonly argument: number;
      readonly values: readonly number[];
    }
  /** Only a pair of Unix sockets that are connected for ever: a stream or one of packets. */
  | { readonly type: 'connected-pair'; readonly calls: readonly CallName[] };

// prettier-ignore
const rules: readonly Rule[] = [
  { type: 'bits', calls: ['chmod', 'fchmod', 'creat', 'mkdir', 'mknod'], argument: 1, bits: lendingModes },
  { type: 'bits', calls: ['fchmodat', 'fchmodat2', 'mkdirat', 'mknodat'], argument: 2, bits: lendingModes },
  { type: 'creating', calls: ['open'], flags: 1, mode: 2 },
  { type: 'creating', calls: ['openat'], flags: 2, mode: 3 },
  // Their arguments lie in memory, which a filter cannot read. Whoever uses them falls back to the older call.
  { type: 'never', calls: ['openat2', 'clone3'], errno: notImplemented },
  { type: 'bits', calls: ['clone', 'unshare'], argument: 0, bits: newUserNamespace },
  { type: 'never', calls: ['io_uring_setup', 'io_uring_enter', 'io_uring_register'], errno: notImplemented },
  // TIOCSTI and TIOCLINUX: typing into a terminal for whoever sits there.
  { type: 'values', calls: ['ioctl'], argument: 1, values: [0x5412, 0x541c] },
  { type: 'connected-pair', calls: ['socketpair'] },
  { type: 'never', calls: ['pidfd_getfd', 'setns', 'keyctl', 'add_key', 'request_key', 'bpf', 'perf_event_open', 'userfaultfd'], errno: notPermitted },
  { type: 'never', calls: ['mount', 'umount2', 'pivot_root', 'open_tree', 'move_mount', 'fsopen', 'fsconfig', 'fsmount', 'fspick', 'mount_setattr'], errno: notPermitted },
];
// prettier-ignore
const socketRules = {
  // IPv4, IPv6 and netlink. Others reach past a namespace: one of them talks to the host of a virtual machine.
  namespaced: [{ type: 'only', calls: ['socket'], argument: 0, values: [2, 10, 16] }],
  none: [
    { type: 'never', calls: ['socket', 'connect', 'bind', 'listen'], errno: notPermitted },
    // Without a namespace of its own, what System V and POSIX share belongs to all processes of the machine, by number.
    { type: 'never', calls: ['shmget', 'shmat', 'shmctl', 'semget', 'semop', 'semctl', 'semtimedop'], errno: notPermitted },
    { type: 'never', calls: ['msgget', 'msgsnd', 'msgrcv', 'msgctl', 'mq_open', 'mq_unlink'], errno: notPermitted },
    // A limit of processor time ends another process as a signal does.
    { type: 'only', calls: ['prlimit64'], argument: 0, values: [0] },
    // Landlock does not ask about attributes. Copying programs know file systems without them.
    { type: 'never', calls: ['setxattr', 'lsetxattr', 'fsetxattr', 'removexattr', 'lremovexattr', 'fremovexattr', 'setxattrat', 'removexattrat'], errno: notSupported },
    { type: 'never', calls: ['file_setattr'], errno: notImplemented },
  ],
} as const satisfies Record<Sockets, readonly Rule[]>;

interface Instruction {
  readonly code: number;
  readonly yes: number;
  readonly no: number;
  readonly value: number;
}

const loadWord = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const jumpIfBits = 0x45;
const maskWord = 0x54;
const returnValue = 0x06;
const allow = 0x7fff_0000;
const fail = 0x0005_0000;

const load = (offset: number): Instruction => ({ code: loadWord, yes: 0, no: 0, value: offset });
const finish = (value: number): Instruction => ({ code: returnValue, yes: 0, no: 0, value });
/** Where the low half of an argument lies in what the filter is shown; both processors begin with it. */
const argument = (index: number): Instruction => load(16 + 8 * index);

function prologue({ audit, firstForeign }: Machine): readonly Instruction[] {
  const foreign =
    firstForeign === undefined
      ? []
      : [{ code: jumpIfAtLeast, yes: 0, no: 1, value: firstForeign }, finish(fail | notImplemented)];
  return [
    load(4),
    { code: jumpIfEqual, yes: 1, no: 0, value: audit },
    finish(fail | notImplemented),
    load(0),
    ...foreign,
  ];
}

/** A block is entered only for its own call and always returns, so that the number is still loaded for the next one. */
function guard(number: number, block: readonly Instruction[]): readonly Instruction[] {
  return [{ code: jumpIfEqual, yes: 0, no: block.length, value: number }, ...block];
}

function blockOf(rule: Rule): readonly Instruction[] {
  switch (rule.type) {
    case 'never':
      return [finish(fail | rule.errno)];
    case 'bits':
      return [argument(rule.argument), ...refuseBits(rule.bits)];
    case 'creating':
      return [
        argument(rule.flags),
        { code: jumpIfBits, yes: 1, no: 0, value: creatingFlags },
        finish(allow),
        argument(rule.mode),
        ...refuseBits(lendingModes),
      ];
    case 'values':
      return [
        argument(rule.argument),
        ...rule.values.flatMap((value) => [
          { code: jumpIfEqual, yes: 0, no: 1, value },
          finish(fail | notPermitted),
        ]),
        finish(allow),
      ];
    case 'only':
      return [
        argument(rule.argument),
        ...rule.values.flatMap((value) => [{ code: jumpIfEqual, yes: 0, no: 1, value }, finish(allow)]),
        finish(fail | notPermitted),
      ];
    case 'connected-pair':
      return onlyConnectedPair;
    default:
      return unreachable(rule);
  }
}

function refuseBits(bits: number): readonly Instruction[] {
  return [{ code: jumpIfBits, yes: 0, no: 1, value: bits }, finish(fail | notPermitted), finish(allow)];
}

/** The family is Unix, and the type, without its flags, is a stream (1) or connected packets (5). */
const onlyConnectedPair: readonly Instruction[] = [
  argument(0),
  { code: jumpIfEqual, yes: 0, no: 4, value: 1 },
  argument(1),
  { code: maskWord, yes: 0, no: 0, value: 0xf },
  { code: jumpIfEqual, yes: 2, no: 0, value: 1 },
  { code: jumpIfEqual, yes: 1, no: 0, value: 5 },
  finish(fail | notPermitted),
  finish(allow),
];

function encode(instructions: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(instructions.length * 8));
  for (const [index, { code, yes, no, value }] of instructions.entries()) {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, yes);
    bytes.setUint8(index * 8 + 3, no);
    bytes.setUint32(index * 8 + 4, value, true);
  }
  return new Uint8Array(bytes.buffer);
}
