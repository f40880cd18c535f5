import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { labels } from '../../src/tools/sandbox/labels.ts';
import { attempts } from './attempts.ts';
import { socketAttempts } from './socket-attempts.ts';
import { detourAttempts } from './detour-attempts.ts';
import type { EscapeOrder, EscapeReport } from './escape-program.ts';
import { findBwrap, isLeftOut, withoutBwrap } from './find-bwrap.ts';
import { ordinaryUser, shareProgram, startProgram } from './start-program.ts';
import type { SharedProgram } from './start-program.ts';

/** Many processes on a machine that may be busy. */
const slow = { timeout: 240_000 };

// What a level claims is what is found here, by whoever starts it: the label and this table change together.

const isLinux = process.platform === 'linux';
const self = process.getuid?.() ?? -1;
const isRoot = self === 0;
const bwrap = findBwrap();
const landlock = isLinux
  ? Number(spawnSync('perl', ['-e', 'print syscall(444, 0, 0, 1)']).stdout.toString())
  : 0;

/** Somebody without rights can make a namespace here, and forbid further ones in it. */
const canNest = isLinux && spawnSync('unshare', ['-Ur', 'true']).status === 0;

/** What Landlock cannot take back: it gave the whole workspace. */
const inWorkspace = [
  'write a git hook',
  'write the git configuration through another name',
  'move .git away and put another there',
  'rename over the configuration of Rerail',
  'move the folder above a protected one away',
  'make a protected file that was not there',
  'make a protected folder that was not there',
  'hide a protected file in a folder that cannot be listed',
  'turn a link to what is protected elsewhere',
  ...detourAttempts.map(({ name }) => name),
];
const restrictedOut = [
  ...inWorkspace,
  'see a process outside',
  'watch a folder outside',
  'leave a daemon behind',
  ...(landlock >= 6 ? [] : ['end a process outside']),
];
/** Held in every level: by the rights of the user, the kernel, or how commands are started. Virtual sockets need a module. */
const heldAnyhow = [
  'a raw socket',
  'a socket to the host of a virtual machine',
  'a connected pair turned to a socket file',
  'read through an inherited descriptor',
  'write through an inherited descriptor',
  'reopen an inherited descriptor by its name',
];
const ownFiles = 'change the mode of a file outside';
const ownProcesses = 'slow a process outside down';

/** Who starts it, and to whom the workspace belongs. Root becomes the owner, and cannot change what belongs to root. */
const people = [
  {
    who: 'an ordinary user',
    uid: isRoot ? ordinaryUser : self,
    owner: isRoot ? ordinaryUser : self,
    own: [ownFiles, ownProcesses],
  },
  ...(isRoot
    ? [
        { who: 'root in its own workspace', uid: 0, owner: 0, own: [] },
        { who: 'root in the workspace of another', uid: 0, owner: ordinaryUser, own: [] },
      ]
    : []),
];

let program: SharedProgram;
beforeAll(async () => {
  program = await shareProgram('test/sandbox/escape-program.ts');
});
afterAll(() => program.remove());

it('bubblewrap is there, so that the strongest level is tested', () => {
  expect(isLinux && bwrap === undefined && !isLeftOut ? withoutBwrap : 'there').toBe('there');
});

it('the documentation quotes the labels as they are', () => {
  const page = readFileSync('docs/workspace.md', 'utf8');
  for (const label of [labels.contained(), labels.restricted(), labels.bare()]) expect(page).toContain(label);
});

it.runIf(bwrap !== undefined).concurrent.each(people)(
  'contained, started by $who: nothing gets out',
  slow,
  async ({ uid, owner }) => {
    const report = await tryAll({ uid, owner, atMost: 'contained' });
    expect(report).toEqual({
      level: 'contained',
      label: labels.contained(),
      reasons: [],
      out: [],
      tried: attempts.length,
    });
  },
);

it.runIf(landlock >= 4).concurrent.each(people)(
  'restricted, started by $who: exactly what the label says gets out',
  slow,
  async (person) => {
    const report = await tryAll({ ...person, atMost: 'restricted' });
    expect(report).toMatchObject({ level: 'restricted', label: labels.restricted() });
    expect(report.out.toSorted()).toEqual([...restrictedOut, ...person.own].toSorted());
  },
);

it.runIf(isLinux).concurrent(
  'bare, started by an ordinary user: nothing is held, as the label says',
  slow,
  async () => {
    const [{ uid, owner }] = people as [(typeof people)[number]]; // There is always one.
    const report = await tryAll({ uid, owner, atMost: 'bare' });
    expect(report).toMatchObject({ level: 'bare', label: labels.bare() });
    const files = ['write a file outside', 'read a file outside', 'read the home folder', ownFiles];
    const network = socketAttempts.map(({ name }) => name).filter((name) => !heldAnyhow.includes(name));
    const processes = [
      'see a process outside',
      'end a process outside',
      'read the environment of a process outside',
      'limit a process outside',
      'shared memory of this machine',
      'semaphores of this machine',
      'a message queue of this machine',
      'signal a process outside by a descriptor of it',
      'change an attribute of a file outside',
    ];
    const expected = [...files, ...network, ...processes, ...inWorkspace, 'leave a daemon behind'];
    expect(report.out).toEqual(expect.arrayContaining(expected));
    // Our own tools hold in every level: they look at what they have opened. And what we inherited is not passed on.
    expect(report.out).not.toContain('lead our own tool out by a link');
    for (const name of heldAnyhow.slice(2)) expect(report.out).not.toContain(name);
  },
);

it.runIf(bwrap !== undefined).concurrent.each(people)(
  'contained, started by $who: when the runtime is killed, no process of it lives on',
  slow,
  async ({ uid, owner }) => {
    const root = makeRoot(owner);
    const order: EscapeOrder = {
      root,
      inherited: `${root}-inherited`,
      atMost: 'contained',
      isHanging: true,
      ...(bwrap === undefined ? {} : { bwrapPath: bwrap }),
    };
    const child = startProgram(program.file, order, { uid });
    await until(() => existsSync(path.join(root, 'beat')) && existsSync(path.join(root, 'beat-2')));
    child.kill('SIGKILL');
    await once(child, 'exit');
    await sleep(200);
    const beats = ['beat', 'beat-2'].map((name) => readFileSync(path.join(root, name), 'utf8'));
    await sleep(500);
    expect(['beat', 'beat-2'].map((name) => readFileSync(path.join(root, name), 'utf8'))).toEqual(beats);
    rmSync(root, { recursive: true, force: true });
    rmSync(order.inherited);
  },
);

it.runIf(bwrap !== undefined && landlock >= 4 && canNest)(
  'where namespaces are forbidden, as in many containers, the level falls and says so',
  slow,
  async () => {
    const [{ uid, owner }] = people as [(typeof people)[number]]; // There is always one.
    const forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"';
    const report = await tryAll({
      uid,
      owner,
      atMost: 'contained',
      prefix: ['unshare', '-Ur', 'sh', '-c', forbid, 'sh'],
    });
    expect(report).toMatchObject({ level: 'restricted', label: labels.restricted() });
    expect(report.reasons).toEqual([
      expect.stringContaining('contained: The command could not be started: bwrap: '),
    ]);
    expect(report.out.toSorted()).toEqual([...restrictedOut, ownFiles].toSorted());
  },
);

interface Trial {
  readonly uid: number;
  readonly owner: number;
  readonly atMost: EscapeOrder['atMost'];
  readonly prefix?: readonly string[];
}

async function tryAll({ uid, owner, atMost, prefix = [] }: Trial): Promise<EscapeReport> {
  const root = makeRoot(owner);
  const inherited = `${root}-inherited`;
  const order: EscapeOrder = {
    root,
    inherited,
    atMost,
    ...(bwrap === undefined ? {} : { bwrapPath: bwrap }),
  };
  const child = startProgram(program.file, order, { uid, prefix });
  const { stdout, stderr } = child;
  const [out, errors] = await Promise.all([
    stdout === null ? '' : text(stdout),
    stderr === null ? '' : text(stderr),
  ]);
  // What was left behind where nothing ends it may still write for a while.
  rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  rmSync(inherited);
  expect(errors).toBe('');
  return JSON.parse(out) as EscapeReport;
}

function makeRoot(owner: number): string {
  const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'rerail-escape-')));
  if (isRoot) chownSync(root, owner, owner);
  return root;
}

async function until(isSo: () => boolean): Promise<void> {
  for (let round = 0; round < 400 && !isSo(); round += 1) await sleep(50);
  expect(isSo()).toBe(true);
}
