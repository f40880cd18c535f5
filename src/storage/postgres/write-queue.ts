import { RerailError } from '../../errors/rerail-error.ts';
import { storageError } from '../common/storage-error.ts';
import { appendLone } from './append-lone.ts';
import { appendTogether, noteDoubt, noteWritten } from './append-runs.ts';
import type { Answer, AppendMemo } from './append-runs.ts';
import { carryOut } from './carry-out.ts';
import { createRun } from './create-run.ts';
import type { CreationMemo } from './create-run.ts';
import type { Connection, Held, Write } from './held.ts';
import type { AppendPlan, Group } from './plan-append.ts';
import { inTransaction } from './query.ts';
import { remember } from './remembered.ts';
import type { RunRecord } from './run-record.ts';

/**
 * Everything that changes runs and leases, in the order of the calls. Whatever was asked for while the last change was on its way is
 * written at once, by one statement where it is only events, and answered when it is committed. A change that is refused takes no
 * other with it.
 */
export function enqueue<T>(held: Held, write: WriteWithoutAnswer): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    // What a write gives is what `resolve` is given: the queue holds changes of every kind.
    held.queue.push({ ...write, resolve: resolve as Write['resolve'], reject });
    held.asked += 1;
    if (!held.isFlushing) flushSoon(held, write.type);
  });
}

type WithoutAnswer<T> = T extends unknown ? Omit<T, 'resolve' | 'reject'> : never;
export type WriteWithoutAnswer = WithoutAnswer<Write>;

/**
 * In the next turn of the event loop, so that what other runs ask for in this one is written with it. Where this process runs
 * only one run there are no others, and its events are sent at once: the keeper of a run gathers them itself.
 */
function flushSoon(held: Held, type: Write['type']): void {
  held.isFlushing = true;
  if (!isLone(held)) setImmediate(() => void flush(held));
  else if (type === 'append') void flush(held);
  else process.nextTick(() => void flush(held));
}

function isLone({ believed }: Held): boolean {
  let runs = 0;
  for (const own of believed.values()) {
    runs += own.size;
    if (runs > 1) return false;
  }
  return true;
}

/** Waits for what was asked for until now; what others ask for meanwhile is not waited for. */
export async function settled(held: Held): Promise<void> {
  const mine = held.asked;
  while (held.answered < mine && held.isFlushing)
    await new Promise<void>((resolve) => {
      held.onFlushed.push(resolve);
    });
}

/** Reads when what was asked for before is written: no caller misses what it has just added. */
export async function read<T>(held: Held, work: (connection: Connection) => Promise<T>): Promise<T> {
  if (held.answered < held.asked) await settled(held);
  return carryOut(held, work);
}

/** One after the other for the same name, when what was asked for before is written. */
export async function inOrder<T>(held: Held, name: string, work: () => Promise<T>): Promise<T> {
  const { tails } = held;
  const before = tails.get(name) ?? settled(held);
  const mine = before.then(work, work);
  tails.set(name, mine);
  try {
    return await mine;
  } finally {
    if (tails.get(name) === mine) tails.delete(name);
  }
}

const maxBatch = 1000;
const maxBatchCharacters = 4_000_000;

async function flush(held: Held): Promise<void> {
  // Ends when nothing is left; what is asked for meanwhile goes with the next one.
  while (held.queue.length > 0) {
    const batch = takeBatch(held.queue);
    try {
      await perform(held, batch);
    } catch (error) {
      // It is unexpected. Its caller gets the failure, and the others are written.
      for (const { reject } of batch) reject(error);
    }
    held.answered += batch.length;
    for (const tell of held.onFlushed.splice(0)) tell();
  }
  held.isFlushing = false;
}

/** Events and new runs go together, whatever else goes alone. */
function takeBatch(queue: Write[]): readonly Write[] {
  if (queue.length === 1) return queue.splice(0);
  let [count, characters] = [0, 0];
  for (const write of queue) {
    if (count > 0 && (write.type === 'other' || count >= maxBatch || characters > maxBatchCharacters)) break;
    count += 1;
    if (write.type === 'other') break;
    characters += charactersOf(write);
  }
  return queue.splice(0, count);
}

function charactersOf(write: Exclude<Write, { readonly type: 'other' }>): number {
  const { addition } = write.type === 'append' ? write.appending : write.creation;
  return addition.events.reduce((sum, { bodyText }) => sum + bodyText.length, 0);
}

async function perform(held: Held, batch: readonly Write[]): Promise<void> {
  const [first, second] = batch;
  const lone =
    second === undefined && first?.type === 'append' ? appendLone(held, first.appending) : undefined;
  const end = lone === undefined ? undefined : await lone.sent;
  if (lone !== undefined && end === 'written') {
    noteWritten(held, [lone.group]);
    first?.resolve(undefined);
    return;
  }
  const rounds = lone === undefined ? [] : [{ groups: [lone.group], refused: nothingRefused }];
  await performTogether(held, batch, {
    append: { rounds },
    creations: new Map(),
    isInDoubt: end === 'in-doubt',
  });
}

const nothingRefused: AppendPlan['refused'] = new Map();

async function performTogether(held: Held, batch: readonly Write[], memo: BatchMemo): Promise<void> {
  try {
    const { answers, written, records } = await carryOut(
      held,
      (connection) => writeBatch(connection, batch, memo),
      { isRepeatable: true, isInDoubt: memo.isInDoubt },
    );
    noteWritten(held, written);
    for (const record of records) remember(held, record);
    for (const write of batch) answer(write, answers.get(write));
  } catch (thrown) {
    for (const write of batch) if (write.type === 'append') held.records.delete(write.appending.lease.runId);
    if (isInDoubt(thrown)) noteDoubt(held, memo.append);
    if (batch.length > 1 && isOfOne(thrown)) {
      for (const write of batch) await perform(held, [write]);
      return;
    }
    for (const { reject } of batch) reject(thrown);
    if (isUnreachable(thrown)) rejectRest(held, thrown);
  }
}

interface BatchMemo {
  readonly append: AppendMemo;
  readonly creations: Map<Write, CreationMemo>;
  /** It was sent before: see `appendLone`. */
  readonly isInDoubt: boolean;
}

interface BatchEnd {
  readonly answers: ReadonlyMap<Write, Answer>;
  readonly written: readonly Group[];
  readonly records: readonly RunRecord[];
}

async function writeBatch(
  connection: Connection,
  batch: readonly Write[],
  memo: BatchMemo,
): Promise<BatchEnd> {
  const [first] = batch;
  if (first?.type === 'other') {
    const value = await first.perform(connection);
    return { answers: new Map([[first, { type: 'done', value }]]), written: [], records: [] };
  }
  const isOne = batch.every(({ type }) => type === 'append') || batch.length === 1;
  return isOne
    ? writeAll(connection, batch, memo)
    : inTransaction(connection, () => writeAll(connection, batch, memo));
}

/** New runs first: no caller adds to a run before its start is confirmed. */
async function writeAll(connection: Connection, batch: readonly Write[], memo: BatchMemo): Promise<BatchEnd> {
  const answers = new Map<Write, Answer>();
  const records: RunRecord[] = [];
  for (const write of batch) {
    if (write.type !== 'create') continue;
    const own = memo.creations.get(write) ?? { planned: undefined };
    memo.creations.set(write, own);
    const { created, record } = await createRun(connection, write, own);
    answers.set(write, { type: 'done', value: created });
    if (record !== undefined) records.push(record);
  }
  const appends = batch.filter((write) => write.type === 'append');
  const appendings = appends.map(({ appending }) => appending);
  const appended = await appendTogether(connection, appendings, memo.append);
  for (const write of appends) {
    const given = appended.answers.get(write.appending);
    if (given !== undefined) answers.set(write, given);
  }
  return { answers, written: appended.written, records };
}

function answer({ resolve, reject }: Write, given: Answer | undefined): void {
  if (given?.type === 'done') resolve(given.value);
  else reject(given?.failure);
}

function isInDoubt(thrown: unknown): boolean {
  return RerailError.isInstance(thrown) && thrown.failure.context['isInDoubt'] === true;
}

/** Something about one of them: the others are written without it. */
function isOfOne(thrown: unknown): boolean {
  if (!RerailError.isInstance(thrown) || isInDoubt(thrown)) return false;
  const state = thrown.failure.context['sqlState'];
  return typeof state === 'string' && ['22', '23', '54'].includes(state.slice(0, 2));
}

function isUnreachable(thrown: unknown): thrown is RerailError {
  return RerailError.isInstance(thrown) && thrown.code === 'STORAGE_IO' && thrown.failure.retryable;
}

/** A server that has just been waited for is not waited for again. */
function rejectRest(held: Held, thrown: RerailError): void {
  const rest = held.queue.splice(0);
  held.answered += rest.length;
  const { name } = held.settings;
  for (const { reject } of rest) {
    reject(
      storageError('STORAGE_IO', {
        message: `Nothing was sent to the database "${name}", which could not be reached by the call before: ${thrown.message}`,
        hint: thrown.failure.hint ?? 'Check that the server runs.',
        retryable: true,
        context: { store: name },
      }),
    );
  }
}
