import { assert } from '../../base/assert.ts';
import type { Signalled } from '../../runtime/record/durable.ts';
import type { AskedSleep, AskedWait } from '../../runtime/record/memory-generation.ts';
import { addTimer, dropItem, tellDesk } from './generation.ts';
import type { Generation, OpenWait } from './generation.ts';
import type { NoteMessage } from './messages.ts';
import { stepName } from './record.ts';
import { recordStep } from './steps.ts';

/** Sleeps by Restate's own timer, which outlives every process. */
export async function sleep(generation: Generation, asked: AskedSleep): Promise<void> {
  const { delayMs } = asked;
  const { runId } = generation;
  assert(Number.isFinite(delayMs), `Run "${runId}" sleeps for ${delayMs} ms; it must be a finite number`);
  await recordStep(generation, asked, { type: 'sleep', delayMs });
  if (delayMs <= 0) return;
  if (generation.stop !== undefined) throw generation.stop.error;
  await new Promise<void>((resolve, reject) => {
    const timer = { delayMs, name: stepName(asked.position) };
    addTimer(generation, timer, { onCancel: 'reject', reject, settle: () => resolve() });
  });
}

/** Waits for an outside caller. */
export async function waitFor(generation: Generation, asked: AskedWait): Promise<Signalled> {
  const { signal, timeoutMs } = asked;
  const { runId } = generation;
  assert(
    timeoutMs === undefined || Number.isFinite(timeoutMs),
    `Run "${runId}" waits for "${signal}" for ${timeoutMs} ms; it must be a finite number`,
  );
  await recordStep(generation, asked, {
    type: 'wait',
    signal,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  const arrived = generation.inbox.take(signal);
  if (arrived !== undefined) {
    generation.took.push(arrived.id);
    return { type: 'signalled', id: arrived.id, payload: arrived.payload };
  }
  if (generation.stop !== undefined) throw generation.stop.error;
  return openWait(generation, asked);
}

/** Gives a signal that has just come to the oldest wait for one of this name. */
export function deliver(generation: Generation, name: string): void {
  const wait = firstOf(generation.waits, name);
  const signal = wait === undefined ? undefined : generation.inbox.take(name);
  if (wait === undefined || signal === undefined) return;
  generation.took.push(signal.id);
  endWait(generation, wait, { type: 'signalled', id: signal.id, payload: signal.payload });
}

/** The one that the program made first; their records may have come in another order. */
function firstOf(waits: ReadonlySet<OpenWait>, name: string): OpenWait | undefined {
  let first: OpenWait | undefined;
  for (const wait of waits)
    if (wait.asked.signal === name && (first === undefined || wait.asked.position < first.asked.position))
      first = wait;
  return first;
}

/** Reports the current state of the run to callers from outside. */
export function announce(generation: Generation, note: Pick<NoteMessage, 'announced'>): void {
  if (generation.isTelling) generation.announced = { value: note.announced ?? null };
  else tellNote(generation, note);
}

function openWait(generation: Generation, asked: AskedWait): Promise<Signalled> {
  const { waits } = generation;
  const { timeoutMs } = asked;
  return new Promise((resolve, reject) => {
    const wait: OpenWait = { asked, resolve, reject, timer: undefined };
    if (timeoutMs !== undefined)
      wait.timer = addTimer(
        generation,
        { delayMs: Math.max(0, timeoutMs), name: stepName(asked.position) },
        { onCancel: 'reject', reject, settle: () => endWait(generation, wait, { type: 'timed-out' }) },
      );
    const isFirst = waits.size === 0;
    waits.add(wait);
    tellWaiting(generation, asked, isFirst);
  });
}

function tellWaiting(generation: Generation, { signal, onWaiting }: AskedWait, isFirst: boolean): void {
  const announced = gather(generation, onWaiting);
  tellNote(generation, {
    ...(isFirst ? { waiting: signal } : {}),
    ...(announced === undefined ? {} : { announced: announced.value }),
  });
}

/** Reports to a caller that the run waits, and gives what it announces then. */
function gather(generation: Generation, onWaiting: (() => void) | undefined): Generation['announced'] {
  generation.isTelling = true;
  generation.announced = undefined;
  try {
    onWaiting?.();
  } finally {
    generation.isTelling = false;
  }
  return generation.announced;
}

function endWait(generation: Generation, wait: OpenWait, signalled: Signalled): void {
  const { waits } = generation;
  waits.delete(wait);
  if (wait.timer !== undefined) dropItem(generation, wait.timer);
  const [first] = waits;
  tellNote(generation, { waiting: first?.asked.signal ?? null });
  wait.resolve(signalled);
}

function tellNote(generation: Generation, note: Pick<NoteMessage, 'waiting' | 'announced'>): void {
  generation.notes += 1;
  const about = { generation: generation.number, seq: generation.notes };
  const took = generation.took.splice(0);
  const message: NoteMessage = took.length === 0 ? { ...about, ...note } : { ...about, ...note, took };
  tellDesk(generation, 'note', message);
}
