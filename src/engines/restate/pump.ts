import { addItem, cancelGeneration, tellDesk } from './generation.ts';
import type { Answered, Generation } from './generation.ts';
import type { ListenMessage, Mail } from './messages.ts';
import { cancelledInRestate } from './record.ts';
import { readingSerde } from './serde.ts';
import { deliver } from './waits.ts';

/**
 * Gives the program what the journal answers, one answer at a time.
 *
 * Restate tells in which order answers came only to whoever waits for all of them together. So whatever the program waits for
 * is waited for here, in one place; each answer is followed through until the program has made its next verbs, and only then
 * is the next one asked for. That makes every attempt come the same way, also where branches of a program run side by side.
 */
export async function pump(generation: Generation, isOver: () => boolean): Promise<void> {
  // Ends with the program: it is bounded by its journal.
  for (;;) {
    await programRests();
    if (isOver()) return;
    const answered = await nextAnswer(generation);
    if (answered === 'cancelled') cancelGeneration(generation, cancelledInRestate);
    else if (answered !== 'nudged') take(generation, answered);
  }
}

/** The program follows its answers by promises alone, and Node has done with those before it does this. */
function programRests(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/** Waits for mail from the desk: signals, and the wish to end. */
export function listen(generation: Generation): void {
  const settle = (value: unknown): void => {
    generation.items.delete(item);
    const { signals, cancelReason } = value as Mail; // What the desk sends.
    for (const signal of signals) {
      generation.inbox.add(signal);
      deliver(generation, signal.name);
    }
    if (cancelReason !== undefined) cancelGeneration(generation, cancelReason);
    if (generation.stop === undefined) listen(generation);
  };
  const item = addItem(generation, { onCancel: 'keep', reject: () => undefined, settle }, (answer) => {
    const { id, promise } = generation.context.awakeable<Answered>(readingSerde(answer));
    const took = generation.took.splice(0);
    const message: ListenMessage = { generation: generation.number, awakeableId: id, took };
    tellDesk(generation, 'listen', message);
    return promise;
  });
}

function nextAnswer(generation: Generation): Promise<Answered | 'nudged' | 'cancelled'> {
  const { sdk } = generation.host;
  // One promise and not a race of several: this is done for every step.
  return new Promise((resolve, reject) => {
    generation.nudge = () => resolve('nudged');
    const promises = Array.from(generation.items, ({ promise }) => promise);
    if (promises.length === 0) return;
    sdk.RestatePromise.race(promises).then(resolve, (error: unknown) => {
      if (error instanceof sdk.CancelledError) resolve('cancelled');
      else reject(error);
    });
  });
}

function take({ items }: Generation, answered: Answered): void {
  const { item, value } = answered;
  answered.item = undefined;
  answered.value = undefined;
  // Somebody may have stopped waiting for it meanwhile.
  if (item !== undefined && items.has(item)) item.settle(value);
}
