import { assert } from '../../base/assert.ts';
import type { Signalled, WaitOptions } from '../../runtime/record/durable.ts';
import { checkRoom, freshFor } from './generation.ts';
import type { Generation, OpenWait } from './generation.ts';
import type { SignalPayload } from './messages.ts';

/** Waits by a timer of Temporal's. */
export async function sleepFor(generation: Generation, position: number, delayMs: number): Promise<void> {
  const { sandbox, entries, begun, begin } = generation;
  assert(
    Number.isFinite(delayMs),
    `Run "${begin.runId}" sleeps for ${delayMs} ms; it must be a finite number`,
  );
  checkRoom(generation);
  const dueAtMs = sandbox.nowMs() + delayMs;
  if (delayMs > 0) {
    begun.set(position, { type: 'sleep', position, delayMs, dueAtMs, isOver: false });
    await untilFired(generation, delayMs);
    begun.delete(position);
  }
  entries.push({ entry: { type: 'sleep', position, delayMs, dueAtMs, isOver: true } });
}

function untilFired(generation: Generation, delayMs: number): Promise<void> {
  const { sandbox, stops } = generation;
  const timer = sandbox.sleep(delayMs);
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      stops.delete(stop);
      timer.cancel();
      reject(generation.stop ?? new Error('The run is stopped'));
    };
    stops.add(stop);
    const fired = (): void => {
      stops.delete(stop);
      resolve();
    };
    timer.promise.then(fired, () => undefined); // Only `stop` ends it otherwise.
  });
}

/** Waits for an outside caller. */
export async function waitForSignal(
  generation: Generation,
  position: number,
  asked: WaitOptions & { readonly signal: string },
): Promise<Signalled> {
  const { inbox, entries, begun, begin, sandbox } = generation;
  const { signal } = asked;
  const timeoutMs = asked.timeoutMs === Infinity ? undefined : asked.timeoutMs;
  assert(
    timeoutMs === undefined || Number.isFinite(timeoutMs),
    `Run "${begin.runId}" waits for "${signal}" for ${timeoutMs} ms; it must be a number`,
  );
  checkRoom(generation);
  const arrived = inbox.take(signal);
  const bound = timeoutMs === undefined ? {} : { timeoutMs };
  if (timeoutMs !== undefined && arrived === undefined) {
    const dueAtMs = sandbox.nowMs() + Math.max(0, timeoutMs);
    begun.set(position, { type: 'wait', position, signal, timeoutMs, dueAtMs });
  }
  const signalled: Signalled =
    arrived === undefined
      ? await openWait(generation, { ...asked, timeoutMs })
      : { type: 'signalled', id: arrived.id, payload: arrived.payload };
  begun.delete(position);
  entries.push({ entry: { type: 'wait', position, signal, ...bound, signalled } });
  return signalled;
}

/** Keeps a signal, and gives it to the oldest wait for one of this name. Each is delivered once. */
export function deliver(generation: Generation, { name, id, payload }: SignalPayload): void {
  const { inbox, waits, sandbox, begin } = generation;
  // One too many is not kept: the history has it, and the sender may send it again under the same id when there is room.
  if (inbox.add({ name, id, payload }) !== 'added') return;
  for (const wait of waits) {
    if (wait.signal !== name) continue;
    const signal = inbox.take(name);
    if (signal !== undefined) wait.end({ type: 'signalled', id: signal.id, payload: signal.payload });
    return;
  }
  const { runId, generation: number } = begin;
  sandbox.tell({ type: 'signalled', runId, generation: number, signal: { name, id, payload } });
}

interface Asked {
  readonly signal: string;
  readonly timeoutMs: number | undefined;
  readonly onWaiting?: () => void;
}

function openWait(generation: Generation, { signal, timeoutMs, onWaiting }: Asked): Promise<Signalled> {
  const { sandbox, waits, stops } = generation;
  return new Promise((resolve, reject) => {
    const timer = timeoutMs === undefined ? undefined : sandbox.sleep(Math.max(0, timeoutMs));
    const leave = (): void => {
      waits.delete(wait);
      stops.delete(stop);
      timer?.cancel();
    };
    const wait: OpenWait = {
      signal,
      end: (signalled) => {
        leave();
        resolve(signalled);
      },
    };
    const stop = (): void => {
      leave();
      reject(generation.stop ?? new Error('The run is stopped'));
    };
    waits.add(wait);
    stops.add(stop);
    timer?.promise.then(
      () => wait.end({ type: 'timed-out' }),
      () => undefined, // Only `leave` ends it otherwise.
    );
    onWaiting?.();
    tellStanding(generation);
  });
}

/** The worker's own copy of the run comes to where the run stands, although no effect follows. */
function tellStanding(generation: Generation): void {
  const { sandbox, begin } = generation;
  if (generation.known === undefined) return;
  const { runId, generation: number } = begin;
  sandbox.tell({ type: 'stands', runId, generation: number, ...freshFor(generation) });
}
