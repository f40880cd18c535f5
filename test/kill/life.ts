import { spawn } from 'node:child_process';

/** How a process ended. */
export interface Ended {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly err: string;
}

/** A process from its start to its end. It says one JSON value per line. */
export interface Life {
  readonly pid: number;
  /** Everything that it has said, in order. */
  readonly said: readonly Said[];
  /** Resolves with the first that fits, said already or not; rejects with what is known where it ends before. */
  readonly until: (fits: (said: Said) => boolean) => Promise<Said>;
  readonly kill: (signal?: NodeJS.Signals) => void;
  readonly ended: Promise<Ended>;
}

/** One line of a program. */
export interface Said {
  readonly kind: string;
  readonly [field: string]: unknown;
}

export interface LifeOptions {
  /** A process that hangs is ended after so long. */
  readonly maxMs?: number;
  /** A command in front of `node`, such as one that sets limits. */
  readonly prefix?: readonly string[];
  readonly onSaid?: (said: Said, life: Life) => void;
}

/** Starts a program with one argument, as JSON. */
export function startLife(file: string, given: object, options: LifeOptions = {}): Life {
  const { maxMs = 60_000, prefix = [], onSaid } = options;
  const [command, ...rest] = [...prefix, process.execPath, file, JSON.stringify(given)];
  const env = { ...process.env, NODE_OPTIONS: undefined, FORCE_COLOR: undefined, NO_COLOR: undefined };
  const child = spawn(command, rest, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said: Said[] = [];
  const waiting = new Set<Waiting>();
  let [left, err] = ['', ''];
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  child.stdout.setEncoding('utf8');
  const overdue = setTimeout(() => child.kill('SIGKILL'), maxMs);
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode, signal) => {
      clearTimeout(overdue);
      const end = { exitCode, signal, err };
      const why = new Error(
        `The process ended first: ${JSON.stringify(end)} ${JSON.stringify(said.slice(-5))}`,
      );
      for (const { reject: giveUp } of waiting) giveUp(why);
      resolve(end);
    });
  });
  const life: Life = {
    pid: child.pid ?? 0,
    said,
    ended,
    kill: (signal = 'SIGKILL') => void child.kill(signal),
    until: (fits) => {
      const known = said.find(fits);
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve, reject) => waiting.add({ fits, resolve, reject }));
    },
  };
  child.stdout.on('data', (chunk: string) => {
    const lines = `${left}${chunk}`.split('\n');
    // Of a process that was killed the last line may be cut off: nobody has heard it.
    left = lines.pop() ?? '';
    for (const line of lines) hear(JSON.parse(line) as Said);
  });
  const hear = (one: Said): void => {
    said.push(one);
    for (const waiter of waiting) {
      if (!waiter.fits(one)) continue;
      waiting.delete(waiter);
      waiter.resolve(one);
    }
    onSaid?.(one, life);
  };
  return life;
}

interface Waiting {
  readonly fits: (said: Said) => boolean;
  readonly resolve: (said: Said) => void;
  readonly reject: (why: Error) => void;
}
