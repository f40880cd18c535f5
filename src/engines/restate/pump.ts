import { addItem, cancelGeneration, createItem, takeItem, tellDesk } from './generation.ts';
import type { Generation, Item } from './generation.ts';
import type { ListenMessage, Mail } from './messages.ts';
import { cancelledInRestate } from './record.ts';
import type { RestatePromise } from './sdk.ts';
import { deliver } from './waits.ts';

/**
 * Gives the program what the journal answers, one answer at a time.
 *
 * Restate tells in which order answers came only to whoever waits for all of them together. So whatever the program waits for
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
        (item) => (waiting === turn ? follow(() => takeItem(generation, item)) : undefined),
        (error: unknown) => (waiting === turn ? follow(() => cancelOrThrow(generation, error)) : undefined),
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

    const nudge = (): void => {
      if (waiting === undefined) return;
      waiting = undefined;
      // As after an answer, the promises of whoever nudges go first.
      queueMicrotask(whenProgramRests);
    };
    // Not written where it is assigned: V8 takes such a function for a method, and puts it where only a full collection comes by.
    generation.nudge = nudge;
    whenProgramRests();
  });
}

/** All that is waited for, together; undefined where there is nothing. */
function askJournal({ host, items }: Generation): RestatePromise<Item> | undefined {
  if (items.size === 0) return undefined;
  const promises: RestatePromise<Item>[] = [];
  for (const { promise } of items) if (promise !== undefined) promises.push(promise);
  return host.sdk.RestatePromise.race(promises);
}

function cancelOrThrow(generation: Generation, error: unknown): void {
  if (!(error instanceof generation.host.sdk.CancelledError)) throw error;
  cancelGeneration(generation, cancelledInRestate);
}

/** Waits for mail from the desk: signals, and the wish to end. */
export function listen(generation: Generation): void {
  const settle = (value: unknown): void => {
    const { signals, cancelReason } = value as Mail; // What the desk sends.
    for (const signal of signals) {
      generation.inbox.add(signal);
      deliver(generation, signal.name);
    }
    if (cancelReason !== undefined) cancelGeneration(generation, cancelReason);
    if (generation.stop === undefined) listen(generation);
  };
  const item = createItem({ onCancel: 'keep', reject: () => undefined, settle });
  const { id, promise } = generation.context.awakeable<Item>(item);
  const took = generation.took.splice(0);
  const message: ListenMessage = { generation: generation.number, awakeableId: id, took };
  tellDesk(generation, 'listen', message);
  addItem(generation, item, promise);
}
