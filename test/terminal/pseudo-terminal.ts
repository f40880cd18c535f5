import { setTimeout } from 'node:timers/promises';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';

/** A program in a real pseudo-terminal, with a model of the screen that a person would see. */
export interface PseudoTerminal {
  /** Everything that stands on the screen and above it, line by line, without the blanks at the ends. */
  readonly text: () => string;
  /** Only the lines that are on the screen now. */
  readonly screen: () => readonly string[];
  /** Everything that was written, escape sequences included. */
  readonly raw: () => string;
  readonly type: (keys: string) => void;
  readonly resize: (columns: number, rows: number) => void;
  readonly signal: (name: string) => void;
  /** Looks again and again until the text fits, and gives it. Fails with the screen where it does not in time. */
  readonly waitFor: (pattern: RegExp, maxMs?: number) => Promise<string>;
  /** The exit code, when it has ended. */
  readonly exited: () => Promise<number>;
  readonly kill: () => void;
}

export interface PseudoTerminalOptions {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
  readonly folder: string;
}

const pollMs = 15;
const patienceMs = 15_000;

export function openPseudoTerminal(options: PseudoTerminalOptions): PseudoTerminal {
  const { args, env = {}, columns = 80, rows = 24, folder } = options;
  const model = new xterm.Terminal({ cols: columns, rows, scrollback: 2000, allowProposedApi: true });
  const child = spawn(process.execPath, [...args], {
    name: env['TERM'] ?? 'xterm-256color',
    cols: columns,
    rows,
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  let raw = '';
  let exitCode: number | undefined;
  child.onData((data) => {
    raw += data;
    model.write(data);
  });
  child.onExit((end) => {
    exitCode = end.exitCode;
  });
  const lines = (from: number, to: number): readonly string[] => {
    const { active } = model.buffer;
    return Array.from(
      { length: to - from },
      (_, index) => active.getLine(from + index)?.translateToString(true) ?? '',
    );
  };
  const text = (): string => lines(0, model.buffer.active.length).join('\n').trimEnd();
  const until = async (isDone: () => boolean, what: string, maxMs: number): Promise<void> => {
    for (let waitedMs = 0; !isDone(); waitedMs += pollMs) {
      if (waitedMs >= maxMs)
        throw new Error(`${what} did not come within ${maxMs} ms. The screen:\n${text()}`);
      await setTimeout(pollMs);
    }
  };
  return {
    text,
    screen: () => lines(model.buffer.active.baseY, model.buffer.active.baseY + model.rows),
    raw: () => raw,
    type: (keys) => child.write(keys),
    resize: (nextColumns, nextRows) => {
      model.resize(nextColumns, nextRows);
      child.resize(nextColumns, nextRows);
    },
    signal: (name) => child.kill(name),
    waitFor: async (pattern, maxMs = patienceMs) => {
      await until(() => pattern.test(text()), String(pattern), maxMs);
      return text();
    },
    exited: async () => {
      await until(() => exitCode !== undefined, 'The end of the program', patienceMs);
      // The model of the screen takes in what was written a little later.
      await new Promise<void>((resolve) => model.write('', resolve));
      return exitCode ?? -1;
    },
    kill: () => {
      if (exitCode === undefined) child.kill('SIGKILL');
    },
  };
}
