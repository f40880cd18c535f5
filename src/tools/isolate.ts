import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import type { Worker } from 'node:worker_threads';
import { onAbort } from '../base/abort.ts';
import { unreachable } from '../base/assert.ts';
import { configError } from '../errors/config-error.ts';
import type { FailDetails, ToolContext } from '../model/tool.ts';
import { workerProgram } from './isolate-worker.ts';
import type { WorkerError, WorkerOrder, WorkerReport } from './isolate-worker.ts';
import { noteOwnModule } from './own-code.ts';

/** What runs in a thread of its own: a function that needs nothing from outside its body, or an export of a module. */
export interface IsolateSpec {
  readonly name: string;
  readonly source: ((...given: never) => unknown) | IsolateModule;
}

export interface IsolateModule {
  /** A URL, an absolute path or the name of a package. */
  readonly module: string | URL;
  /** By default `default`. */
  readonly export?: string;
}

const maxHeapMb = 256;

/**
 * A tool's function that runs in a thread of its own, fresh for each call: it cannot block this one, it ends with the call's
 * signal, and where it runs out of memory or exits only the call fails. Input, result and errors are copied between the
 * threads; starting one takes some ten milliseconds.
 *
 * What a thread does not hold: memory outside the heap (buffers); a single allocation of more than the engine lends beyond
 * the bound (a text of hundreds of megabytes, a Map of millions), for which the engine ends the process; `process.kill`.
 */
export function createIsolated({
  name,
  source,
}: IsolateSpec): (input: unknown, context: ToolContext) => Promise<unknown> {
  const isFunction = typeof source === 'function';
  const program = workerProgram(isFunction ? expressionOf(name, source) : undefined);
  const module = isFunction ? undefined : specifierOf(name, source.module);
  // Each call loads it anew, so a tool that changed it would have its own code run.
  if (module?.startsWith('file:') === true) noteOwnModule(fileURLToPath(module));
  const exportName = isFunction ? '' : (source.export ?? 'default');
  return async (input, context) => {
    const { runId, callId, idempotencyKey, attempt } = context;
    const order: WorkerOrder = {
      input,
      runId,
      callId,
      idempotencyKey,
      attempt,
      exportName,
      ...(module === undefined ? {} : { module }),
    };
    // Not before it is needed, for few tools are isolated and everybody imports us.
    const threads = await import('node:worker_threads');
    context.signal.throwIfAborted();
    const worker = new threads.Worker(program, {
      eval: true,
      name: `rerail tool ${name}`,
      workerData: order,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    });
    return endOf(await runWorker(worker, context), context);
  };
}

/** The text of a function as an expression, whichever way it was written. */
function expressionOf(name: string, source: (...given: never) => unknown): string {
  const text = Function.prototype.toString.call(source);
  if (parses(`(${text}\n)`)) return text;
  // A method of an object literal is no expression by itself, but its object is.
  const asMethod = `Object.values({ ${text}\n })[0]`;
  if (parses(asMethod)) return asMethod;
  throw configError(
    `Cannot isolate tool "${name}": its function is built in or bound, so it has no text to send to another thread. Write it as a function of its own, or use { module }`,
  );
}

function parses(code: string): boolean {
  try {
    return new Script(code) instanceof Script;
  } catch {
    return false; // A syntax error is the answer to the question.
  }
}

function specifierOf(name: string, module: string | URL): string {
  if (module instanceof URL) return module.href;
  if (path.isAbsolute(module)) return pathToFileURL(module).href;
  if (!module.startsWith('.')) return module;
  throw configError(
    `Cannot isolate tool "${name}": the module "${module}" is relative to nothing. Use new URL('${module}', import.meta.url)`,
  );
}

/** How a worker ended. */
type WorkerEnd =
  | Exclude<WorkerReport, { type: 'progress' }>
  | { readonly type: 'exited'; readonly exitCode: number }
  | { readonly type: 'broke'; readonly error: unknown }
  | { readonly type: 'aborted' };

function runWorker(worker: Worker, context: ToolContext): Promise<WorkerEnd> {
  return new Promise((resolve) => {
    const end = (ended: WorkerEnd): void => {
      stopListening();
      resolve(ended);
      // Nothing that the tool has left running outlives its call.
      void worker.terminate();
    };
    const stopListening = onAbort(context.signal, () => end({ type: 'aborted' }));
    worker.on('message', (report: WorkerReport) => {
      if (report.type !== 'progress') end(report);
      else context.progress(String(report.message), progressDetails(report.details));
    });
    worker.on('messageerror', (error) => end({ type: 'broke', error }));
    worker.on('error', (error) => end({ type: 'broke', error }));
    worker.on('exit', (exitCode) => end({ type: 'exited', exitCode }));
  });
}

/** `progress` reads what it is given with caution. */
function progressDetails(details: unknown): { readonly done?: number; readonly total?: number } {
  return details === undefined ? {} : (details as { readonly done?: number; readonly total?: number });
}

function endOf(end: WorkerEnd, context: ToolContext): unknown {
  switch (end.type) {
    case 'returned':
      return end.value;
    case 'retry':
      return context.retry(end.hint);
    case 'fail':
      // Whoever makes the failure checks what the tool said of itself.
      return context.fail(end.message, end.details as FailDetails | undefined);
    case 'threw':
      throw revive(end.error);
    case 'exited':
      return context.fail(
        `The isolated tool ended its thread by process.exit(${end.exitCode}) before it returned`,
        { context: { exitCode: end.exitCode } },
      );
    case 'broke':
      return failBroken(end.error, context);
    case 'aborted':
      throw context.signal.reason;
    default:
      return unreachable(end);
  }
}

function failBroken(error: unknown, context: ToolContext): never {
  const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  if (!isMemory) throw error;
  return context.fail(`The isolated tool ran out of memory: its heap may hold ${maxHeapMb} MB`, {
    retryable: false,
    context: { maxHeapMb },
  });
}

function revive({ name, message, fields, stack = '', cause }: WorkerError): Error {
  const error = new Error(message, cause === undefined ? {} : { cause: revive(cause) });
  Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true });
  // Its own would show this line, which has no bug.
  Object.defineProperty(error, 'stack', { value: stack, configurable: true, writable: true });
  return Object.assign(error, fields);
}
