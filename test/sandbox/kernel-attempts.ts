// Table: ways out of the sandbox through system calls that open no file and make no socket. Part of `attempts.ts`.
import { readlinkSync } from 'node:fs';
import { mark, perl, saysSo, showsSecret } from './attempt.ts';
import type { Attempt } from './attempt.ts';

const isX64 = process.arch === 'x64';
const calls = isX64
  ? { prlimit: 302, readMemory: 310, setxattr: 188, priority: 141, watch: 254, watcher: 294, ptrace: 101 }
  : { prlimit: 261, readMemory: 270, setxattr: 5, priority: 140, watch: 27, watcher: 26, ptrace: 117 };
const queues = isX64
  ? { shmget: 29, semget: 64, msgget: 68, mqOpen: 240 }
  : { shmget: 194, semget: 190, msgget: 186, mqOpen: 180 };

/** Kinds of System V have a namespace of their own, in which a command may do as it likes. */
const inOuter = (): string => `readlink("/proc/self/ns/ipc") eq "${readlinkSync('/proc/self/ns/ipc')}"`;

export const kernelAttempts: readonly Attempt[] = [
  {
    name: 'limit a process outside',
    isAlone: true,
    script: ({ pid }) =>
      perl(`my $l = pack("QQ", 9, 9); print "${mark}" if syscall(${calls.prlimit}, ${pid}, 7, $l, 0) == 0`),
    isOut: saysSo,
  },
  {
    name: 'shared memory of this machine',
    script: () =>
      perl(
        `my $i = syscall(${queues.shmget}, 0, 4096, 01600); print "${mark}" if $i >= 0 and ${inOuter()}; shmctl($i, 0, 0) if $i >= 0`,
      ),
    isOut: saysSo,
  },
  {
    name: 'semaphores of this machine',
    script: () =>
      perl(
        `my $i = syscall(${queues.semget}, 0, 1, 01600); print "${mark}" if $i >= 0 and ${inOuter()}; semctl($i, 0, 0, 0) if $i >= 0`,
      ),
    isOut: saysSo,
  },
  {
    name: 'a message queue of this machine',
    script: () =>
      perl(
        `my $i = syscall(${queues.msgget}, 0, 01600); print "${mark}" if $i >= 0 and ${inOuter()}; msgctl($i, 0, 0) if $i >= 0`,
      ),
    isOut: saysSo,
  },
  {
    name: 'a named message queue of this machine',
    script: () =>
      perl(
        `my $n = "rerail-attempt"; my $i = syscall(${queues.mqOpen}, $n, 0102, 0600, 0); print "${mark}" if $i >= 0 and ${inOuter()}; syscall(${queues.mqOpen + 1}, $n) if $i >= 0`,
      ),
    isOut: saysSo,
  },
  {
    name: 'read the memory of a process outside',
    script: ({ pid }) =>
      [
        perl(
          `open(M, "<", "/proc/${pid}/maps"); my ($s) = map { /^([0-9a-f]+)-.*\\[stack\\]/ ? hex $1 : () } <M>; open(F, "<", "/proc/${pid}/mem") and sysseek(F, $s, 0) and sysread(F, $b, 200000) and print $b`,
        ),
        perl(
          `my $b = "x" x 8; my $l = pack("PQ", $b, 8); my $r = pack("QQ", 4096, 8); my $n = syscall(${calls.readMemory}, ${pid}, $l, 1, $r, 1, 0); print "${mark}" if $n >= 0 or $!{EFAULT}`,
        ),
      ].join('\n'),
    isOut: (scene, traces) => saysSo(scene, traces) || showsSecret(scene, traces),
  },
  {
    name: 'seize a process outside',
    isAlone: true,
    script: ({ pid }) => perl(`print "${mark}" if syscall(${calls.ptrace}, 0x4206, ${pid}, 0, 0) == 0`),
    isOut: saysSo,
  },
  {
    name: 'signal a process outside by a descriptor of it',
    script: ({ pid }) =>
      perl(`my $p = syscall(434, ${pid}, 0); print "${mark}" if $p >= 0 and syscall(424, $p, 0, 0, 0) == 0`),
    isOut: saysSo,
  },
  {
    name: 'slow a process outside down',
    script: ({ pid }) => perl(`print "${mark}" if syscall(${calls.priority}, 0, ${pid}, 5) == 0`),
    isOut: saysSo,
  },
  {
    name: 'change an attribute of a file outside',
    script: ({ outside }) =>
      perl(
        `my ($f, $n, $v) = ("${outside}/mode", "user.evil", "x"); print "${mark}" if syscall(${calls.setxattr}, $f, $n, $v, 1, 0) == 0`,
      ),
    isOut: saysSo,
  },
  {
    name: 'watch a folder outside',
    script: ({ outside }) =>
      perl(
        `my $f = "${outside}"; my $w = syscall(${calls.watcher}, 0); print "${mark}" if syscall(${calls.watch}, $w, $f, 0x100) >= 0`,
      ),
    isOut: saysSo,
  },
];
