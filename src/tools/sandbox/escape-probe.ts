import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Launch, Launcher } from './launch.ts';
import { limitsOf, runProcess } from './run-process.ts';
import type { ProcessEnd } from './run-process.ts';
import { said } from './sandbox-failure.ts';
import type { SandboxedCommand, SandboxLevel } from './sandbox.ts';

const timeoutMs = 15_000;

/** Where to try, and with what time. */
export interface EscapeOptions {
  readonly root: string;
  readonly clock: Clock;
}

/** Runs a command that tries to get out, and looks from outside whether it did. Nothing where it did not; else what went wrong. */
export async function tryToEscape(launcher: Launcher, options: EscapeOptions): Promise<string | undefined> {
  const bait = await layBait();
  try {
    const launch = await launcher.prepare({ folder: options.root, limits: limitsOf(timeoutMs) });
    const { signal } = new AbortController();
    const command = { command: attempts(bait), timeoutMs, signal };
    const end = await tryOnce(launch, command, options.clock);
    return await judge(launcher.level, bait, end);
  } catch (error) {
    // Whatever keeps it from starting is the reason why this level cannot be had.
    return error instanceof Error ? said(error.message) : said(String(error));
  } finally {
    await takeBait(bait);
  }
}

async function tryOnce(launch: Launch, command: SandboxedCommand, clock: Clock): Promise<ProcessEnd> {
  try {
    return await runProcess(launch, command, clock);
  } finally {
    await launch.finish();
  }
}

/** Things outside that no command may reach. */
interface Bait {
  readonly secret: string;
  readonly folder: string;
  readonly server: Server;
  readonly port: number;
  readonly process: ChildProcess;
  readonly counts: { connections: number };
}

async function layBait(): Promise<Bait> {
  const secret = randomBytes(12).toString('hex');
  const folder = await mkdtemp(path.join(tmpdir(), 'rerail-probe-'));
  // For everybody, so that it is the sandbox that keeps the command out and not the mode.
  await chmod(folder, 0o777);
  await writeFile(path.join(folder, 'file'), `read-${secret}`, { mode: 0o644 });
  const counts = { connections: 0 };
  const server = createServer((socket) => {
    counts.connections += 1;
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const decoy = spawn('/bin/sh', ['-c', 'read line', `argument-${secret}`], {
    env: { BAIT: `environment-${secret}` },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  decoy.once('error', () => undefined); // Without it the attempts have nothing to reach, and are judged as failed.
  return { secret, folder, server, port, process: decoy, counts };
}

/** What does not work says so on standard error, which nobody reads; the last line tells that everything was tried. */
function attempts({ folder, port, process: decoy, secret }: Bait): string {
  return [
    `echo out > '${folder}/written'`,
    `cat '${folder}/file'`,
    `cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -a '^BAIT='`,
    `cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -a '^argument-'`,
    `kill -9 ${decoy.pid ?? 0}`,
    `echo port-$(grep -ci ':${port.toString(16).padStart(4, '0')} 00000000:0000 0A' /proc/net/tcp)`,
    `command -v bash >/dev/null && bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}'`,
    `command -v perl >/dev/null && perl -MSocket -e '${perlSockets(port)}'`,
    `command -v perl >/dev/null && perl -e '${perlShared(decoy.pid ?? 0)}'`,
    `readlink /proc/self/fd/[3-9] /proc/self/fd/[1-9][0-9]* | grep -v '^/dev/null$' | sed 's/^/was-given-/'`,
    // In two parts, for the script is in a command line, and those are shown too.
    `echo 'fin''ished-${secret}'`,
  ].join('\n');
}

/** By connect and by a first packet that needs none; then what would do for other ways: to listen, and sockets with names in folders. */
function perlSockets(port: number): string {
  const to = `sockaddr_in(${port}, inet_aton("127.0.0.1"))`;
  return [
    `socket(S, 2, 1, 6) and connect(S, ${to})`,
    `socket(S, 2, 1, 6) and send(S, "x", 0x20000000, ${to})`,
    'print "made-listener\\n" if socket(S, 2, 1, 6) and listen(S, 1)',
    'print "made-unix\\n" if socket(S, 1, 1, 0) or socketpair(A, B, 1, 2, 0)',
  ].join('; ');
}

/** Memory that any process of this machine may share, and a limit for a process outside. */
function perlShared(pid: number): string {
  const setLimit = process.arch === 'arm64' ? 261 : 302;
  return [
    'my $i = shmget(0, 4096, 0600)',
    'if (defined $i) { print "made-shared\\n"; shmctl($i, 0, 0) }',
    'my $l = pack("QQ", 9, 9)',
    `print "limited-other\\n" if syscall(${setLimit}, ${pid}, 7, $l, 0) == 0`,
  ].join('; ');
}

interface Claim {
  readonly levels: readonly SandboxLevel[];
  readonly says: string;
  readonly isBroken: (seen: Seen) => boolean;
}

interface Seen extends Bait {
  readonly output: string;
  readonly files: readonly string[];
}

const claims: readonly Claim[] = [
  {
    levels: ['contained', 'restricted'],
    says: 'it wrote a file outside the workspace',
    isBroken: ({ files }) => files.length !== 1,
  },
  {
    levels: ['contained', 'restricted'],
    says: 'it read a file outside the workspace',
    isBroken: ({ output, secret }) => output.includes(`read-${secret}`),
  },
  {
    levels: ['contained', 'restricted'],
    says: 'it read the environment of another process',
    isBroken: ({ output, secret }) => output.includes(`environment-${secret}`),
  },
  {
    levels: ['contained', 'restricted'],
    says: 'it reached a server on this machine',
    isBroken: ({ counts }) => counts.connections > 0,
  },
  {
    levels: ['contained', 'restricted'],
    says: 'it made a socket for socket files',
    isBroken: ({ output }) => output.includes('made-unix'),
  },
  {
    levels: ['contained', 'restricted'],
    says: 'it was given open files of this process',
    isBroken: ({ output }) => output.includes('was-given-'),
  },
  {
    levels: ['restricted'],
    says: 'it listened on the network of this machine',
    isBroken: ({ output }) => output.includes('made-listener'),
  },
  {
    levels: ['restricted'],
    says: 'it made memory that other processes can share',
    isBroken: ({ output }) => output.includes('made-shared'),
  },
  {
    // In a namespace of its own the same number may be a process of the command.
    levels: ['restricted'],
    says: 'it gave a process outside limits',
    isBroken: ({ output }) => output.includes('limited-other'),
  },
  {
    levels: ['contained'],
    says: 'it saw the network of this machine',
    isBroken: ({ output }) => !output.includes('port-0'),
  },
  {
    levels: ['contained'],
    says: 'it saw or ended a process outside',
    isBroken: ({ output, secret, process: decoy }) =>
      output.includes(`argument-${secret}`) || decoy.exitCode !== null || decoy.signalCode !== null,
  },
];

async function judge(level: SandboxLevel, bait: Bait, end: ProcessEnd): Promise<string | undefined> {
  const output = end.stdout.text;
  if (!output.includes(`finished-${bait.secret}`)) {
    return `the trial command did not come to its end (exit ${end.exitCode ?? end.signal ?? end.ended}): ${said(end.stderr.text)}`;
  }
  // One turn of the loop, so that a connection or an exit that has happened is also known here.
  await new Promise((resolve) => setImmediate(resolve));
  const seen: Seen = { ...bait, output, files: await readdir(bait.folder) };
  const broken = claims.filter(({ levels, isBroken }) => levels.includes(level) && isBroken(seen));
  return broken.length === 0
    ? undefined
    : `a trial command got out: ${broken.map(({ says }) => says).join(', ')}`;
}

async function takeBait({ folder, server, process: decoy }: Bait): Promise<void> {
  decoy.kill('SIGKILL');
  decoy.stdin?.destroy();
  server.close();
  await rm(folder, { recursive: true, force: true });
}
