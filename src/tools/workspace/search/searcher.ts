import { Worker } from 'node:worker_threads';
import { onAbort } from '../../../base/abort.ts';
import type { Clock } from '../../../base/clock.ts';
import { showPath, workspaceError } from '../workspace-error.ts';
import type { SearchPattern } from './search-pattern.ts';
import { searchProgram } from './search-worker.ts';
import type { SearchBatch, SearchOrder, SearchReport } from './search-worker.ts';

/** A thread that tries a pattern on files. Whoever starts it stops it. */
export interface Searcher {
  /** Searches some files, at most for so long; then the thread is ended and the wait rejects. */
  readonly search: (files: readonly SearchedFile[], options: SearchBounds) => Promise<SearchFound>;
  readonly stop: () => Promise<void>;
}

export interface SearchedFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

export interface SearchBounds {
  /** How many lines that match are still wanted. */
  readonly room: number;
  readonly maxMs: number;
}

export type SearchFound = Extract<SearchReport, { type: 'found' }>;

const maxHeapMb = 512;

/**
 * Starts a thread of its own for a pattern from the model: the engine's matching cannot be interrupted, a thread can be ended.
 * The thread is handed bytes and knows no files.
 */
export function startSearcher(
  pattern: SearchPattern,
  { contextLines, maxLineCharacters, clock, signal }: SearcherOptions,
): Searcher {
  const place = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const workerData: SearchOrder = { ...pattern, contextLines, maxLineCharacters, place };
  const worker = new Worker(searchProgram, {
    eval: true,
    name: 'rerail search_files',
    workerData,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  const held: Held = { worker, place: new Int32Array(place), clock, signal, failure: undefined };
  // Between two batches nobody waits; the next one is told.
  worker.on('error', (error) => (held.failure ??= broken(error)));
  worker.on('exit', () => (held.failure ??= broken(new Error('its thread ended'))));
  return {
    search: (files, bounds) => searchBatch(held, files, bounds),
    stop: async () => {
      await worker.terminate();
    },
  };
}

export interface SearcherOptions {
  readonly contextLines: number;
  readonly maxLineCharacters: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

interface Held {
  readonly worker: Worker;
  readonly place: Int32Array;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  failure: Error | undefined;
}

function searchBatch(held: Held, files: readonly SearchedFile[], bounds: SearchBounds): Promise<SearchFound> {
  const { worker, clock, signal } = held;
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      worker.off('message', onMessage);
      worker.off('error', onError);
      worker.off('exit', onExit);
      cancelTimer();
      stopListening();
      settle();
    };
    const onMessage = (report: SearchReport): void =>
      finish(() => (report.type === 'found' ? resolve(report) : reject(broken(new Error(report.message)))));
    const onError = (error: Error): void => finish(() => reject(broken(error)));
    const onExit = (): void => finish(() => reject(held.failure ?? broken(new Error('its thread ended'))));
    worker.on('message', onMessage);
    worker.on('error', onError);
    worker.on('exit', onExit);
    const cancelTimer = clock.after(bounds.maxMs, () => finish(() => reject(tooSlow(held, files, bounds))));
    let stopListening = (): void => undefined;
    stopListening = onAbort(signal, () => finish(() => reject(signal.reason)));
    if (held.failure !== undefined) finish(() => reject(held.failure));
    else post(worker, files, bounds);
  });
}

/** One block of memory that changes hands: nothing is copied again. */
function post(worker: Worker, files: readonly SearchedFile[], { room }: SearchBounds): void {
  const bytes = new Uint8Array(files.reduce((total, file) => total + file.bytes.length, 0));
  const ends: number[] = [];
  let end = 0;
  for (const file of files) {
    bytes.set(file.bytes, end);
    end += file.bytes.length;
    ends.push(end);
  }
  const batch: SearchBatch = { bytes, ends, room };
  worker.postMessage(batch, [bytes.buffer]);
}

function tooSlow({ place }: Held, files: readonly SearchedFile[], { maxMs }: SearchBounds): Error {
  const path = files[Atomics.load(place, 0)]?.path ?? '';
  return workspaceError(
    'TIMEOUT',
    `The pattern was not through with ${showPath(path)} after ${maxMs} ms, so the search was ended`,
    {
      retryable: false,
      hint: 'Use a simpler pattern: no repetition inside a repetition such as (a+)+, no several .* in a row; or search for a plain text.',
      context: { maxMs, path },
    },
  );
}

function broken(error: Error): Error {
  const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  const why = isMemory ? `it needs more than ${maxHeapMb} MB` : error.message;
  return workspaceError('TOOL_EXECUTION_ERROR', `The search was ended: ${why}`, {
    retryable: false,
    hint: 'Use a simpler pattern, or name a smaller path.',
  });
}
