/**
 * Keeps a tool that runs in this process from ending it by `process.exit`.
 *
 * While such a tool runs, `process.exit` is ours. It looks at the stack of whoever calls it, including the functions that wait
 * for it: where a tool is among them it throws, and the tool has failed; for everybody else, a signal handler for instance,
 * it does what it always did. Asking the stack costs nothing until somebody calls `process.exit`. Not seen: a callback that
 * nothing waits for, such as a timer's; `process.abort` and `process.kill`. An isolated tool is held in all of these but
 * the last.
 */

import { assert } from '../base/assert.ts';

type Execute<Input, Context> = (input: Input, context: Context) => unknown;

/** The same tool, in which `process.exit` throws. */
export function guardExit<Input, Context>(execute: Execute<Input, Context>): Execute<Input, Context> {
  return (input, context) => {
    enter();
    let work: unknown;
    try {
      work = frames[frameName](() => execute(input, context));
    } catch (error) {
      leave();
      throw error;
    }
    if (work instanceof Promise) return frames[asyncFrameName](work);
    leave();
    return work;
  };
}

const frameName = 'rerailGuardedTool';
const asyncFrameName = 'rerailGuardedToolAsync';

/** Named by a text, which a bundler that shortens names leaves alone. */
const frames = {
  [frameName](run: () => unknown): unknown {
    return run();
  },
  async [asyncFrameName](work: Promise<unknown>): Promise<unknown> {
    try {
      return await work;
    } finally {
      leave();
    }
  },
};

type Exit = typeof process.exit;

let running = 0;
/** What `process.exit` was when ours was put there last: what everybody but a tool gets. */
let underlying: Exit | undefined;
/** What it was at first. */
let bottom: Exit | undefined;
let isPassing = false;

function enter(): void {
  running += 1;
  const current = currentExit();
  if (current === guardedExit) return;
  bottom ??= current;
  underlying = current;
  process.exit = guardedExit;
}

function leave(): void {
  running -= 1;
  // Where somebody has put his own on top, ours stays below and lets everything through.
  if (running > 0 || underlying === undefined || currentExit() !== guardedExit) return;
  process.exit = underlying;
}

/** By reflection, for a method that is only compared and put back needs no owner. */
function currentExit(): Exit {
  return Reflect.get(process, 'exit');
}

const guardedExit: Exit = (code) => {
  if (running > 0 && isInsideTool()) {
    const shown = code === undefined || code === null ? '' : String(code);
    throw new Error(
      `The tool called process.exit(${shown}). A tool must not end the process: return or throw instead`,
    );
  }
  // Somebody may have wrapped ours and been wrapped by it in turn: the second time round ends at the bottom.
  const exit = isPassing ? bottom : underlying;
  assert(exit !== undefined, 'process.exit is guarded, so there was one before');
  isPassing = true;
  try {
    return exit.call(process, code);
  } finally {
    isPassing = false;
  }
};

const maxFrames = 200;

function isInsideTool(): boolean {
  const { stackTraceLimit } = Error;
  const prepareStackTrace = Reflect.get(Error, 'prepareStackTrace');
  try {
    Error.stackTraceLimit = maxFrames;
    // As structured frames: a text would depend on whoever else formats stacks in this process.
    Error.prepareStackTrace = (_error, sites) => sites.map((site) => site.getFunctionName() ?? '');
    const names: unknown = new Error('Where am I?').stack;
    return Array.isArray(names) && names.some((name: unknown) => String(name).includes(frameName));
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    Error.prepareStackTrace = prepareStackTrace;
  }
}
