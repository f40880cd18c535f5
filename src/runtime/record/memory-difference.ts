import type { JournalEntry } from './journal.ts';
import { firstDifference, showJson } from '../model-call/json-compare.ts';
import type { Asked } from './memory-generation.ts';

/** Both sides of a place at which a program does not fit its journal. */
export interface Difference {
  readonly position: number;
  readonly recorded: string;
  readonly asked: string;
}

/** What differs between an entry and the verb that is made now, if anything does. */
export function whatDiffers(entry: JournalEntry, asked: Asked): Difference | undefined {
  const { position } = asked;
  if (entry.type === 'call' && asked.type === 'call' && entry.effect === asked.effect) {
    const found = firstDifference(entry.input, asked.input);
    if (found === undefined) return undefined;
    const at = found.path === '' ? 'input' : `input${found.path} =`;
    const call = `a call of "${entry.effect}" with ${at}`;
    return { position, recorded: `${call} ${found.left}`, asked: `${call} ${found.right}` };
  }
  const [recorded, now] = [describe(entry), describe(asked)];
  return recorded === now ? undefined : { position, recorded, asked: now };
}

/** A verb in words. */
export function describe(verb: Asked | JournalEntry): string {
  switch (verb.type) {
    case 'call':
      return `a call of "${verb.effect}" with input ${showJson(verb.input)}`;
    case 'sleep':
      return `a sleep of ${verb.delayMs} ms`;
    default: {
      const bound = verb.timeoutMs === undefined ? 'without a timeout' : `for at most ${verb.timeoutMs} ms`;
      return `a wait for the signal "${verb.signal}" ${bound}`;
    }
  }
}
