import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { probeSandbox } from '../../src/tools/sandbox/probe-sandbox.ts';
import { useInside } from '../../src/tools/workspace/confine.ts';
import { openWorkspace } from '../../src/tools/workspace/open-workspace.ts';
import type { Workspace } from '../../src/tools/workspace/workspace.ts';
import { attempts } from './attempts.ts';
import type { Attempt, Scene, Traces } from './attempt.ts';
import { layDetours } from './detour-attempts.ts';
import { listen, openSockets } from './outer-sockets.ts';

// Lays out a small world as whoever starts it, and tries every way out of the sandbox of a workspace in it.

/** What it is told, as JSON. */
export interface EscapeOrder {
  readonly root: string;
  /** A file outside that is open for this program under `inheritedNumbers`. */
  readonly inherited: string;
  readonly bwrapPath?: string;
  readonly atMost: 'contained' | 'restricted' | 'bare';
  /** Instead of the attempts: prints a line and runs a command that beats until it is ended. */
  readonly isHanging?: boolean;
}

/** What it found, as JSON. */
export interface EscapeReport {
  readonly level: string;
  readonly label: string;
  readonly reasons: readonly string[];
  readonly out: readonly string[];
  readonly tried: number;
}

/** Between what one attempt says and the next. */
const border = '----- next -----';

const order = JSON.parse(process.argv[2] ?? '{}') as EscapeOrder;
const workspace = await openWorkspace(order.root);
const { bwrapPath, atMost } = order;
const sandbox = await probeSandbox(workspace, { atMost, ...(bwrapPath === undefined ? {} : { bwrapPath }) });
if (order.isHanging === true) await hang();
else await report();

async function hang(): Promise<void> {
  const loop = 'i=0; while [ $i -lt 600 ]; do i=$((i+1)); echo $i > beat; sleep 0.05; done';
  const command = `setsid sh -c '${loop}' & ${loop.replaceAll('beat', 'beat-2')}`;
  process.stdout.write(`${sandbox.level}\n`);
  await sandbox.run({ command, timeoutMs: 60_000, signal: new AbortController().signal });
}

async function report(): Promise<void> {
  const world = await createWorld();
  // Where nothing holds root, the attempts would be made on this very machine.
  const isSafe = sandbox.level !== 'bare' || process.getuid?.() !== 0;
  const tried = isSafe ? attempts : [];
  const together = tried.filter((attempt) => attempt.isAlone !== true);
  const alone = tried.filter((attempt) => attempt.isAlone === true);
  const out = isSafe ? [...(await tryThem(world, together))] : [];
  // One after the other: each has the world for itself.
  for (const attempt of alone) out.push(...(await tryThem(world, [attempt])));
  await world.close();
  const { level, label, reasons } = sandbox;
  const found: EscapeReport = { level, label, reasons, out, tried: tried.length };
  process.stdout.write(JSON.stringify(found));
}

interface World {
  readonly outside: string;
  readonly secret: string;
  readonly tcpPort: number;
  readonly udpPort: number;
  readonly abstractName: string;
  readonly network: string;
  readonly inherited: string;
  readonly counts: { tcp: number; udp: number; abstract: number; unix: number; inside: number };
  readonly close: () => Promise<void>;
}

async function createWorld(): Promise<World> {
  const secret = randomBytes(12).toString('hex');
  const outside = mkdtempSync(path.join(os.tmpdir(), 'outside-'));
  chmodSync(outside, 0o777);
  mkdirSync(path.join(outside, 'home'));
  for (const name of ['secret', 'mode', 'home/.key']) writeFileSync(path.join(outside, name), secret);
  writeFileSync(order.inherited, secret);
  const counts = { tcp: 0, udp: 0, abstract: 0, unix: 0, inside: 0 };
  const abstractName = `rerail-${secret}`;
  const tcp = await listen(() => (counts.tcp += 1), { port: 0, host: '127.0.0.1' });
  const abstract = await listen(() => (counts.abstract += 1), { path: `\0${abstractName}` });
  const unix = await listen(() => (counts.unix += 1), { path: path.join(outside, 'socket') });
  chmodSync(path.join(outside, 'socket'), 0o777);
  const udp = createSocket('udp4', () => (counts.udp += 1));
  udp.bind(0, '127.0.0.1');
  await once(udp, 'listening');
  const address = tcp.address();
  return {
    outside,
    secret,
    abstractName,
    network: readlinkSync('/proc/self/ns/net'),
    inherited: order.inherited,
    counts,
    tcpPort: typeof address === 'object' && address !== null ? address.port : 0,
    udpPort: udp.address().port,
    close: async () => {
      for (const server of [tcp, abstract, unix]) server.close();
      udp.close();
      await Promise.resolve(rmSync(outside, { recursive: true, force: true }));
    },
  };
}

/** Runs some of them in one command, each in a shell of its own, and returns the names of those that got out. */
async function tryThem(world: World, some: readonly Attempt[]): Promise<readonly string[]> {
  furnish(order.root, world);
  Object.assign(world.counts, { tcp: 0, udp: 0, abstract: 0, unix: 0, inside: 0 });
  const sockets = await openSockets({ ...world, root: order.root });
  const decoy = spawn('/bin/sh', ['-c', 'read line', `argument-${world.secret}`], {
    env: { SECRET: world.secret },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  await once(decoy, 'spawn');
  const scene: Scene = { ...world, root: order.root, pid: decoy.pid ?? 0 };
  const { stdout } = await sandbox.run({
    command: some.map((attempt) => `(\n${attempt.script(scene)}\n)\necho '${border}'`).join('\n'),
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  });
  await sleep(50); // For a packet or an exit that is under way.
  const said = stdout.text.split(`${border}\n`);
  if (said.length !== some.length + 1) throw new Error(`Not all were tried: ${stdout.text}`);
  const traces = { ...(await lookAround(world, decoy)), datagrams: sockets.datagrams() };
  decoy.kill('SIGKILL');
  await sockets.close();
  return some
    .filter((attempt, index) => attempt.isOut(scene, { ...traces, stdout: said[index] ?? '' }))
    .map(({ name }) => name);
}

/** The workspace as it is before each attempt. */
function furnish(root: string, { outside }: World): void {
  chmodSync(root, 0o755);
  for (const name of readdirSync(root)) rmSync(path.join(root, name), { recursive: true, force: true });
  mkdirSync(path.join(root, '.git/hooks'), { recursive: true });
  mkdirSync(path.join(root, '.github/workflows'), { recursive: true });
  writeFileSync(path.join(root, '.github/workflows/ci.yml'), 'good\n');
  writeFileSync(path.join(root, 'rerail.config.json'), '{}\n');
  writeFileSync(path.join(root, 'npmrc-of-the-team'), 'good\n');
  symlinkSync('npmrc-of-the-team', path.join(root, '.npmrc'));
  layDetours(root);
  rmSync(path.join(outside, 'written'), { force: true });
  chmodSync(path.join(outside, 'mode'), 0o644);
  giveToOwner(root);
}

/** Whoever starts this as root has made things that are not the owner's. */
function giveToOwner(root: string): void {
  const { uid, gid } = statSync(root);
  if (process.getuid?.() === 0) spawnSync('chown', ['-hR', `${uid}:${gid}`, root]);
}

async function lookAround(world: World, decoy: ChildProcess): Promise<Omit<Traces, 'stdout' | 'datagrams'>> {
  return {
    ...world.counts,
    isDecoyAlive: decoy.exitCode === null && decoy.signalCode === null,
    isBeating: await isBeating(),
    isReadThroughLink: await isReadThroughLink(workspace, world.secret),
  };
}

async function isBeating(): Promise<boolean> {
  const file = path.join(order.root, 'beat');
  if (!existsSync(file)) return false;
  const before = readFileSync(file, 'utf8');
  await sleep(500);
  const isSo = readFileSync(file, 'utf8') !== before;
  rmSync(path.join(order.root, 'beat-on'), { force: true });
  await sleep(200);
  return isSo;
}

async function isReadThroughLink(place: Workspace, secret: string): Promise<boolean> {
  const read = useInside(place, { path: 'link', kind: 'file' }, ({ handle }) => handle.readFile('utf8'));
  return read.then(
    (text) => text.includes(secret),
    () => false,
  );
}
