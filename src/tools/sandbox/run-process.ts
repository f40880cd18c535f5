import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { cpus } from 'node:os';
import { StringDecoder } from 'node:string_decoder';
import type { Readable, Writable } from 'node:stream';
import { onAbort } from '../../base/abort.ts';
import type { Cancel, Clock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { keepOutput } from './bounded-output.ts';
import type { OutputKeeper } from './bounded-output.ts';
import { endAll, endGently } from './end-process.ts';
import { withOwnDescriptors } from './inherited-descriptors.ts';
import type { CommandLimits, Launch } from './launch.ts';
import { notStarted } from './sandbox-failure.ts';
import type { CommandResult, SandboxedCommand } from './sandbox.ts';

// Invariants. The listener for `error` is there before anything can fail. Nothing waits for `close` without a deadline, for a
// process that was left behind may hold the pipes for ever. What is read is bounded while it is read.

const defaultMaxOutputBytes = 1024 * 1024;
const graceMs = 1000;
/** After KILL the kernel owes us an exit; a process that hangs in a driver may never pay. */
const exitDeadlineMs = 2000;
const pipeIdleMs = 200;
const pipeDeadlineMs = 2000;
const progressEveryMs = 100;
const maxProgressCharacters = 8000;
const maxFileBytes = 4 * 1024 ** 3;
const minCpuSeconds = 60;

/** What a command ended with, without the level. */
export type ProcessEnd = Omit<CommandResult, 'level'>;

/** What the kernel holds a command to that has so much time. A process with threads uses more processor time than the clock shows. */
export function limitsOf(timeoutMs: number): CommandLimits {
  const cpuSeconds = Math.max(minCpuSeconds, Math.ceil(timeoutMs / 1000) * cpus().length);
  return { cpuSeconds, fileBytes: maxFileBytes };
}

/** Runs one command to its end, or ends it. Rejects only where it was not started. */
export function runProcess(launch: Launch, command: SandboxedCommand, clock: Clock): Promise<ProcessEnd> {
  return new Promise((resolve, reject) => {
    const maxBytes = command.maxOutputBytes ?? defaultMaxOutputBytes;
    const held: Held = {
      launch,
      command,
      clock,
      resolve,
      reject,
      startedMs: clock.monotonicMs(),
      stdout: keepOutput(maxBytes),
      stderr: keepOutput(maxBytes),
      cancels: new Set(),
      child: undefined,
      isStarted: false,
      exit: undefined,
      ended: undefined,
      isSettled: false,
      progress: '',
      idle: undefined,
    };
    if (command.signal.aborted) {
      held.ended = 'cancelled';
      return settle(held);
    }
    return start(held);
  });
}

interface Held {
  readonly launch: Launch;
  readonly command: SandboxedCommand;
  readonly clock: Clock;
  readonly resolve: (end: ProcessEnd) => void;
  readonly reject: (error: unknown) => void;
  readonly startedMs: number;
  readonly stdout: OutputKeeper;
  readonly stderr: OutputKeeper;
  readonly cancels: Set<Cancel>;
  child: ChildProcess | undefined;
  /** The shell inside has said so: before that it is the wrapper that failed. */
  isStarted: boolean;
  exit: { readonly code: number | null; readonly signal: NodeJS.Signals | null } | undefined;
  ended: 'timeout' | 'cancelled' | undefined;
  isSettled: boolean;
  progress: string;
  idle: Cancel | undefined;
}

function start(held: Held): void {
  const { launch, command } = held;
  const shell = ['/bin/sh', '-c', firstScript(launch.limits), 'sh', command.command];
  const [file = '/bin/sh', ...rest] = [...launch.wrapper, ...shell];
  try {
    const own = ['ignore', 'pipe', 'pipe', 'pipe', launch.filter === undefined ? 'ignore' : 'pipe'] as const;
    held.child = withOwnDescriptors(own, (all) =>
      spawn(file, rest, {
        cwd: launch.folder,
        env: { ...launch.environment },
        detached: true,
        stdio: [...all],
        ...launch.user,
      }),
    );
    held.child.once('error', (error) => fail(held, error.message));
  } catch (error) {
    // Such as a NUL in the command: it throws at once instead of telling the listener.
    return fail(held, error instanceof Error ? error.message : String(error));
  }
  return attend(held, held.child);
}

/**
 * Says on descriptor 3 that the wrapper has done its work, gives up what the command must not have, and becomes the command. The
 * limits hold for every process of it; they are the shell's own, so that no program has to be there for them.
 */
function firstScript({ cpuSeconds, fileBytes }: CommandLimits): string {
  const limits = [`-c 0`, `-t ${cpuSeconds}`, `-f ${Math.ceil(fileBytes / 512)}`];
  const set = limits.map((limit) => `ulimit ${limit} 2>/dev/null;`).join(' ');
  return `echo >&3; exec 3>&- 4>&-; ${set} exec /bin/sh -c "$1"`;
}

function attend(held: Held, child: ChildProcess): void {
  const { launch, command, clock } = held;
  const [, , , started, filter] = child.stdio;
  read(held, child.stdout, held.stdout);
  read(held, child.stderr, held.stderr);
  listen(started as Readable | null, () => (held.isStarted = true)); // Descriptor 3 is ours to read.
  if (launch.filter !== undefined) {
    const writable = filter as Writable | null; // Descriptor 4 is ours to write.
    // A wrapper that has failed does not read it; its exit tells.
    writable?.on('error', () => undefined);
    writable?.end(launch.filter);
  }
  child.once('exit', (code, signal) => afterExit(held, { code, signal }));
  child.once('close', () => settle(held));
  held.cancels.add(clock.after(command.timeoutMs, () => end(held, 'timeout')));
  held.cancels.add(onAbort(command.signal, () => end(held, 'cancelled')));
}

function read(held: Held, stream: Readable | null, keeper: OutputKeeper): void {
  const decoder = new StringDecoder('utf8');
  listen(stream, (chunk) => {
    keeper.add(chunk);
    if (held.exit !== undefined) waitForPipes(held);
    if (held.command.onOutput !== undefined) noteProgress(held, decoder.write(chunk));
  });
}

function listen(stream: Readable | null, onData: (chunk: Buffer) => void): void {
  stream?.on('data', onData);
  // A pipe that breaks has nothing more to say; the exit tells the rest.
  stream?.on('error', () => undefined);
}

function noteProgress(held: Held, text: string): void {
  const isFirst = held.progress === '';
  held.progress = (held.progress + text).slice(-maxProgressCharacters);
  if (!isFirst || held.progress === '') return;
  const cancel = held.clock.after(progressEveryMs, () => {
    held.cancels.delete(cancel);
    tellProgress(held);
  });
  held.cancels.add(cancel);
}

function tellProgress(held: Held): void {
  const text = held.progress;
  held.progress = '';
  if (text !== '') held.command.onOutput?.(text);
}

function end(held: Held, why: 'timeout' | 'cancelled'): void {
  const { child, launch, clock } = held;
  if (held.ended !== undefined || held.exit !== undefined || child?.pid === undefined) return;
  const { pid } = child;
  held.ended = why;
  endGently(pid, launch);
  held.cancels.add(
    clock.after(graceMs, () => {
      endAll(pid);
      held.cancels.add(clock.after(exitDeadlineMs, () => settle(held)));
    }),
  );
}

function afterExit(held: Held, exit: NonNullable<Held['exit']>): void {
  held.exit = exit;
  // What the command left in its group ends with it, as it does by itself where it is contained.
  if (held.child?.pid !== undefined) endAll(held.child.pid);
  held.cancels.add(held.clock.after(pipeDeadlineMs, () => settle(held)));
  waitForPipes(held);
}

/** A pipe that has been silent for a while is held by somebody who was left behind. */
function waitForPipes(held: Held): void {
  held.idle?.();
  held.idle = held.clock.after(pipeIdleMs, () => settle(held));
}

function fail(held: Held, says: string): void {
  if (held.isSettled) return;
  close(held);
  held.reject(notStarted(says));
}

function settle(held: Held): void {
  if (held.isSettled) return;
  const { exit, ended, launch, stdout, stderr } = held;
  if (exit !== undefined && ended === undefined && !held.isStarted) {
    const says = stderr.finish().text.trim();
    return fail(
      held,
      says === '' ? `${launch.wrapper[0] ?? '/bin/sh'} ended with ${exit.code ?? exit.signal}` : says,
    );
  }
  close(held);
  tellProgress(held);
  const isOver = exit !== undefined || held.child === undefined;
  return held.resolve(
    defined({
      exitCode: exit?.code ?? undefined,
      signal: exit?.signal ?? undefined,
      stdout: stdout.finish(),
      stderr: stderr.finish(),
      durationMs: Math.round(held.clock.monotonicMs() - held.startedMs),
      ended,
      survivorsPossible: held.child !== undefined && !(launch.isContained && isOver),
    }) as ProcessEnd, // `exitCode` is there or missing, which reads the same.
  );
}

function close(held: Held): void {
  held.isSettled = true;
  for (const cancel of held.cancels) cancel();
  held.idle?.();
  for (const stream of held.child?.stdio ?? []) stream?.destroy();
  held.child?.unref();
}
