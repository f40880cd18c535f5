// Table: ways out of the sandbox, each a small script and how to see from outside whether it got there.
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { mark, perl, saysSo, showsSecret } from './attempt.ts';
import type { Attempt, Scene } from './attempt.ts';
import { detourAttempts } from './detour-attempts.ts';
import { kernelAttempts } from './kernel-attempts.ts';
import { socketAttempts } from './socket-attempts.ts';

const numbers = process.arch === 'arm64' ? { ptrace: 117, addKey: 217 } : { ptrace: 101, addKey: 248 };

/** What is in a file of the workspace after the command; empty where there is none. */
function textOf({ root }: Scene, name: string): string {
  const file = path.join(root, name);
  return existsSync(file) && statSync(file).isFile() ? readFileSync(file, 'utf8') : '';
}

const hasEvil =
  (name: string) =>
  (scene: Scene): boolean =>
    textOf(scene, name).includes('evil');

export const attempts: readonly Attempt[] = [
  {
    name: 'write a file outside',
    script: ({ outside }) => `echo evil > '${outside}/written'`,
    isOut: ({ outside }) => existsSync(path.join(outside, 'written')),
  },
  {
    name: 'read a file outside',
    script: ({ outside }) => `cat '${outside}/secret'`,
    isOut: showsSecret,
  },
  {
    name: 'read the home folder',
    script: ({ outside }) => `cat '${outside}/home/.key'`,
    isOut: showsSecret,
  },
  {
    name: 'read the shadow file',
    script: () => 'cat /etc/shadow',
    isOut: (_scene, { stdout }) => stdout.includes('root:'),
  },
  {
    name: 'change the mode of a file outside',
    script: ({ outside }) => `chmod 600 '${outside}/mode'`,
    isOut: ({ outside }) => (statSync(path.join(outside, 'mode')).mode & 0o777) === 0o600,
  },
  {
    name: 'remount the system read-write',
    script: () => `mount -o remount,rw,bind /usr && echo ${mark}`,
    isOut: saysSo,
  },
  {
    name: 'mount something',
    script: () => `mkdir -p m && mount -t tmpfs none m && echo ${mark}`,
    isOut: saysSo,
  },
  {
    name: 'unmount what masks a protected folder',
    script: () => `umount -l .git && echo ${mark}`,
    isOut: saysSo,
  },
  {
    name: 'make a device',
    script: () =>
      `mknod "$TMPDIR/disk" b 259 0 && echo ${mark}; mknod disk b 259 0 && echo ${mark}; rm -f disk`,
    isOut: saysSo,
  },
  {
    name: 'make a user namespace',
    script: () => `unshare -U true && echo ${mark}`,
    isOut: saysSo,
  },
  {
    name: 'change the root folder',
    script: () => `chroot / true && echo ${mark}`,
    isOut: saysSo,
  },
  {
    name: 'write a kernel setting',
    script: () => `v=$(cat /proc/sys/vm/swappiness); echo "$v" > /proc/sys/vm/swappiness && echo ${mark}`,
    isOut: saysSo,
  },
  {
    name: 'see a process outside',
    script: ({ pid }) => `tr '\\0' '\\n' < /proc/${pid}/cmdline | grep '^argument-'`,
    isOut: showsSecret,
  },
  {
    name: 'end a process outside',
    isAlone: true,
    script: ({ pid }) => `kill -9 ${pid}`,
    isOut: (_scene, { isDecoyAlive }) => !isDecoyAlive,
  },
  {
    name: 'trace a process outside',
    isAlone: true,
    script: ({ pid }) => perl(`print "${mark}" if syscall(${numbers.ptrace}, 16, ${pid}, 0, 0) == 0`),
    isOut: saysSo,
  },
  {
    name: 'read the environment of a process outside',
    script: () => `cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep '^SECRET='`,
    isOut: showsSecret,
  },
  ...socketAttempts,
  ...kernelAttempts,
  ...detourAttempts,
  {
    name: 'put a key on the ring of the user',
    script: () =>
      perl(
        `my ($t, $d) = ("user", "rerail"); print "${mark}" if syscall(${numbers.addKey}, $t, $d, $d, 6, -4) > 0`,
      ),
    isOut: saysSo,
  },
  {
    name: 'type into a terminal',
    // Only who is allowed to try is told that this is no terminal.
    script: () =>
      perl(`open(N, "<", "/dev/null"); my $c = "x"; print "${mark}" if ioctl(N, 0x5412, $c) or $!{ENOTTY}`),
    isOut: saysSo,
  },
  {
    name: 'make a program that lends its owner',
    script: () => 'cp /bin/true lent && chmod u+s lent',
    isOut: ({ root }) => isLending(path.join(root, 'lent')),
  },
  {
    name: 'make one in a single step',
    script: () => perl('sysopen(F, "lent-at-once", 65, 06755)'),
    isOut: ({ root }) => isLending(path.join(root, 'lent-at-once')),
  },
  {
    name: 'write a git hook',
    isAlone: true,
    script: () => 'echo evil > .git/hooks/post-checkout',
    isOut: hasEvil('.git/hooks/post-checkout'),
  },
  {
    name: 'write the git configuration through another name',
    isAlone: true,
    script: () =>
      'ln .git/config other && echo "# evil" >> other; ln -s .git/config soft && echo "# evil" >> soft',
    isOut: hasEvil('.git/config'),
  },
  {
    name: 'move .git away and put another there',
    isAlone: true,
    script: () => 'mv .git moved && mkdir -p .git && echo evil > .git/config',
    isOut: hasEvil('.git/config'),
  },
  {
    name: 'rename over the configuration of Rerail',
    isAlone: true,
    script: () => 'echo evil > new.json && mv -f new.json rerail.config.json',
    isOut: hasEvil('rerail.config.json'),
  },
  {
    name: 'move the folder above a protected one away',
    isAlone: true,
    script: () =>
      'mv .github moved-github; mkdir -p .github/workflows && echo evil > .github/workflows/ci.yml',
    isOut: hasEvil('.github/workflows/ci.yml'),
  },
  {
    name: 'make a protected file that was not there',
    isAlone: true,
    script: () => 'echo evil > rerail.config.ts; chmod 500 .',
    isOut: hasEvil('rerail.config.ts'),
  },
  {
    name: 'hide a protected file in a folder that cannot be listed',
    isAlone: true,
    script: () => 'mkdir -p dark/dark && echo evil > dark/dark/.envrc; chmod 100 dark/dark dark; chmod 300 .',
    isOut: ({ root }) => (chmodSync(root, 0o755), existsSync(path.join(root, 'dark')) && isDarkEvil(root)),
  },
  {
    name: 'make a protected folder that was not there',
    isAlone: true,
    script: () => 'mkdir -p deep/.git/hooks && echo evil > deep/.git/hooks/pre-commit',
    isOut: hasEvil('deep/.git/hooks/pre-commit'),
  },
  {
    name: 'turn a link to what is protected elsewhere',
    isAlone: true,
    script: () => 'mkdir mine && echo evil > mine/file && ln -sfn mine/file .npmrc',
    isOut: hasEvil('.npmrc'),
  },
  {
    name: 'leave a daemon behind',
    isAlone: true,
    script: () =>
      `touch beat-on; (setsid sh -c 'i=0; while [ -e beat-on ] && [ $i -lt 600 ]; do i=$((i+1)); echo $i > beat; sleep 0.05; done' >/dev/null 2>&1 </dev/null &) ; n=0; while [ ! -s beat ] && [ $n -lt 100 ]; do n=$((n+1)); sleep 0.05; done`,
    isOut: (_scene, { isBeating }) => isBeating,
  },
  {
    name: 'lead our own tool out by a link',
    script: ({ outside }) => `ln -s '${outside}/secret' link`,
    isOut: (_scene, { isReadThroughLink }) => isReadThroughLink,
  },
];

/** Opened for ourselves first, since that is what a careless person would do too. */
function isDarkEvil(root: string): boolean {
  for (const name of ['dark', 'dark/dark']) chmodSync(path.join(root, name), 0o755);
  return existsSync(path.join(root, 'dark/dark/.envrc'));
}

function isLending(file: string): boolean {
  return existsSync(file) && (statSync(file).mode & 0o6000) !== 0;
}
