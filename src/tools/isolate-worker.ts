/** What a worker is given to begin with. */
export interface WorkerOrder {
  readonly input: unknown;
  readonly runId: string;
  readonly callId: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
  /** Where the tool is a module and not a text. */
  readonly module?: string;
  readonly exportName: string;
}

/** What a worker says. */
export type WorkerReport =
  | { readonly type: 'progress'; readonly message: unknown; readonly details?: unknown }
  | { readonly type: 'returned'; readonly value: unknown }
  | { readonly type: 'retry'; readonly hint: string }
  | { readonly type: 'fail'; readonly message: string; readonly details?: unknown }
  | { readonly type: 'threw'; readonly error: WorkerError };

/** An error as plain data: only the engine's own classes survive the way between threads. */
export interface WorkerError {
  readonly name: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, string | number | boolean>>;
  /** As the engine wrote it in that thread: where the bug is. */
  readonly stack?: string;
  readonly cause?: WorkerError;
}

/**
 * The program of a worker, as text: so it needs no file that a bundler could lose. `sourceText` is an expression whose value is
 * the tool's function, or nothing where a module is loaded.
 */
export function workerProgram(sourceText: string | undefined): string {
  return `'use strict';
globalThis.__name ??= (value) => value; // Some compilers write calls of this into functions.
${prelude}
main(${sourceText === undefined ? 'undefined' : `() => (\n${sourceText}\n)`});
`;
}

// Plain JavaScript of the platform. The names are prefixed where the tool's own text could see them.
const prelude = `
const { parentPort: rerailPort, workerData: rerailOrder } = require('node:worker_threads');
const rerailMarks = new WeakMap();

async function main(evaluate) {
  try {
    const execute = evaluate === undefined ? await rerailLoad() : evaluate();
    const value = await execute(rerailOrder.input, rerailContext());
    rerailSay({ type: 'returned', value });
  } catch (error) {
    rerailTell(error, evaluate !== undefined);
  }
}

async function rerailLoad() {
  const found = (await import(rerailOrder.module))[rerailOrder.exportName];
  if (typeof found === 'function') return found;
  throw new TypeError('The module has no function called "' + rerailOrder.exportName + '"');
}

function rerailContext() {
  const { runId, callId, idempotencyKey, attempt } = rerailOrder;
  let told = 0;
  const mark = (name, report) => {
    const error = Object.assign(new Error(report.hint ?? report.message), { name });
    rerailMarks.set(error, report);
    throw error;
  };
  const missing = (what) => () => {
    throw new Error(what + ' is not available in an isolated tool: it runs in a thread of its own. Leave out isolate to use it');
  };
  return {
    runId,
    callId,
    idempotencyKey,
    attempt,
    signal: new AbortController().signal, // The thread ends with the call: there is nothing to be told before.
    retry: (hint) => mark('ToolRetry', { type: 'retry', hint: String(hint) }),
    fail: (message, details) => mark('ToolFail', { type: 'fail', message: String(message), details }),
    progress: (message, details) => {
      told += 1;
      if (told <= 1000) rerailSay({ type: 'progress', message, details });
    },
    assist: missing('assist'),
    ask: missing('ask'),
    background: missing('background'),
    remember: missing('remember'),
    recall: missing('recall'),
  };
}

function rerailSay(report) {
  rerailPort.postMessage(report);
}

function rerailTell(error, isText) {
  const report = rerailReport(error, isText);
  try {
    rerailSay(report);
  } catch {
    rerailSay({ ...report, details: undefined }); // What cannot be cloned stands in the details of a fail.
  }
}

function rerailReport(error, isText) {
  for (let link = error, depth = 0; depth < 8 && rerailIsObject(link); link = rerailRead(link, 'cause'), depth += 1) {
    const mark = rerailMarks.get(link);
    if (mark !== undefined) return mark;
  }
  return { type: 'threw', error: rerailPlain(error, { depth: 0, isText }) };
}

function rerailPlain(error, { depth, isText }) {
  if (!rerailIsObject(error)) return { name: 'Error', message: error === '' ? 'an empty text was thrown' : String(error), fields: {} };
  const name = rerailText(rerailRead(error, 'name')) ?? 'Error';
  const outside = isText && name === 'ReferenceError'
    ? ': an isolated tool cannot use variables from outside its own body; load what it needs inside, or use { module }'
    : '';
  const message = (rerailText(rerailRead(error, 'message')) ?? 'an object without a message was thrown') + outside;
  const fields = {};
  for (const key of ['code', 'errno', 'syscall', 'status', 'statusCode']) {
    const value = rerailRead(error, key);
    if (typeof value === 'string' || typeof value === 'number') fields[key] = value;
  }
  const stack = rerailText(rerailRead(error, 'stack'));
  const cause = rerailRead(error, 'cause');
  if (cause === undefined || cause === null || depth >= 8) return { name, message, fields, stack };
  return { name, message, fields, stack, cause: rerailPlain(cause, { depth: depth + 1, isText }) };
}

function rerailIsObject(value) {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function rerailText(value) {
  return typeof value === 'string' ? value.slice(0, 10000) : undefined;
}

function rerailRead(value, key) {
  try {
    return value[key];
  } catch {
    return undefined;
  }
}
`;
