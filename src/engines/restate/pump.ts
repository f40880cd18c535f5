import { addItem, cancelGeneration, createItem, takeItem, tellDesk } from './generation.ts';
import type { Generation, Item } from './generation.ts';
import type { ListenMessage, Mail, WhyAnswer, WhyMessage } from './messages.ts';
import type { RestatePromise } from './sdk.ts';
import { deliver } from './waits.ts';

/**
 * Gives the program what the journal answers, one answer at a time.
 *
 * Restate reports in which order answers came only to the caller that waits for all of them together. So whatever the program waits for
 * is waited for here, in one place; each answer is followed through until the program has made its next verbs, and only then
 * is the next one asked for. That makes every attempt come the same way, also where branches of a program run side by side.
 *
 * It is made of callbacks: a loop that awaits takes several promises more for every step. It ends with the program, which is
 * bounded by its journal.
 */
export function pump(generation: Generation, isOver: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let turns = 0;
    // The turn whose answer is waited for, if any. An answer to an earlier one came late, and is asked for again.
    let waiting: number | undefined;

    // The program follows its answers by promises alone, and Node has done with those before it does this.
    const whenProgramRests = (): void => process.nextTick(look);

    const look = (): void => {
      try {
        if (isOver()) return resolve();
        turns += 1;
        waiting = turns;
        hear(turns);
      } catch (error) {
        reject(error);
      }
    };

    const hear = (turn: number): void =>
      void askJournal(generation)?.then(
        (item) => (waiting === turn ? follow(() => take(generation, item)) : undefined),
        (error: unknown) => (waiting === turn ? follow(() => askWhy(generation, error)) : hearLate(error)),
      );

    const follow = (act: () => void): void => {
      waiting = undefined;
      try {
        act();
        whenProgramRests();
      } catch (error) {
        reject(error);
      }
    };

    // Restate reports only one of those who wait that the run is cancelled, also where one of them waits again since.
    const hearLate = (error: unknown): void => {
      if (!isCancellation(generation, error)) return;
      askWhy(generation, error);
      generation.nudge();
    };

    const nudge = (): void => {
      if (waiting === undefined) return;
      waiting = undefined;
      // As after an answer, the promises of the nudging code go first.
      queueMicrotask(whenProgramRests);
    };
    // Not written where it is assigned: V8 takes such a function for a method, and puts it where only a full collection comes by.
    generation.nudge = nudge;
    whenProgramRests();
  });
}

/** All that is waited for, together; undefined where there is nothing. */
function askJournal(generation: Generation): RestatePromise<Item> | undefined {
  const { host, items, mail } = generation;
  const promises: RestatePromise<Item>[] = [];
  let isDeaf = items.size > 0 && generation.waits.size === 0;
  for (const { promise, waiter } of items) {
    if (promise === undefined) continue;
    promises.push(promise);
    isDeaf &&= waiter?.isDeaf === true;
  }
  generation.isDeaf = isDeaf;
  // To wait for one alone costs the SDK less.
  if (mail?.promise !== undefined && !isDeaf) promises.push(mail.promise);
  const [first] = promises;
  if (first === undefined) return undefined;
  return promises.length === 1 && !generation.wasCancelled ? first : host.sdk.RestatePromise.race(promises);
}

function take(generation: Generation, item: Item): void {
  if (item !== generation.mail) generation.isBehind = generation.isDeaf;
  takeItem(generation, item);
}

function isCancellation({ host }: Generation, error: unknown): boolean {
  return error instanceof host.sdk.CancelledError;
}

/** Cancellation was requested, at the desk or by Restate's own means. The desk knows who gave a reason. */
function askWhy(generation: Generation, error: unknown): void {
  if (!isCancellation(generation, error)) throw error;
  generation.wasCancelled = true;
  // One that leaves for its next generation says so too: the desk hands it on.
  if (generation.stop?.type === 'cancelled' || generation.why !== undefined) return;
  generation.why = new Promise((resolve) => {
    const settle = (value: unknown): void => {
      const { cancelReason } = value as WhyAnswer; // What the desk answers.
      cancelGeneration(generation, cancelReason);
      generation.why = undefined;
      resolve();
    };
    const item = createItem({ onCancel: 'keep', isDeaf: true, reject: () => undefined, settle });
    const { id, promise } = generation.context.awakeable<Item>(item);
    const message: WhyMessage = { generation: generation.number, awakeableId: id };
    tellDesk(generation, 'why', message);
    addItem(generation, item, promise);
  });
}

/** Waits for mail from the desk: signals. */
export function listen(generation: Generation): void {
  expectMail(generation, { isPrompt: false, onMail: () => undefined });
}

interface Expected {
  readonly isPrompt: boolean;
  readonly onMail: () => void;
}

function expectMail(generation: Generation, { isPrompt, onMail }: Expected): void {
  const settle = (value: unknown): void => {
    const { signals } = value as Mail; // What the desk sends.
    for (const signal of signals) {
      generation.inbox.add(signal);
      deliver(generation, signal.name);
    }
    onMail();
    if (generation.stop === undefined) listenAgain(generation);
  };
  const item = createItem({ onCancel: 'keep', reject: () => undefined, settle });
  const { id, promise } = generation.context.awakeable<Item>(item);
  const took = generation.took.splice(0);
  const about = { generation: generation.number, awakeableId: id, took };
  const message: ListenMessage = isPrompt ? { ...about, isPrompt } : about;
  tellDesk(generation, 'listen', message);
  item.promise = promise;
  generation.mail = item;
}

/** Mail is the first that came since the program listened last: where that is a while ago, the desk may have more. */
function listenAgain(generation: Generation): void {
  if (!generation.isBehind) return listen(generation);
  generation.isBehind = false;
  generation.catchingUp = new Promise((resolve) => {
    const onMail = (): void => {
      generation.catchingUp = undefined;
      resolve();
    };
    expectMail(generation, { isPrompt: true, onMail });
  });
}
