import { describe, expect, it } from 'vitest';
import type { Addition, Store } from '../../model/store/store.ts';
import { simulatedClock } from '../../testing/index.ts';
import { drained, handedOver, write, writeSoon } from './gathered-writes.ts';
import { freshRun, put } from './kept-runs.ts';
import type { Keeping, KeptRun } from './kept-runs.ts';

interface Scene {
  readonly held: Keeping;
  /** What was handed to the store, by its events. */
  readonly handed: string[];
  /** Ends the write that is under way longest. */
  readonly end: (error?: Error) => Promise<void>;
  readonly begin: () => KeptRun;
}

function setScene(durability: Store['durability'] = 'required'): Scene {
  const clock = simulatedClock();
  const handed: string[] = [];
  const open: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  const append = (_lease: unknown, { events }: Addition): Promise<void> => {
    handed.push(events.map(({ type }) => type).join('+'));
    return new Promise((resolve, reject) => open.push({ resolve, reject }));
  };
  const store = { durability, runs: { append } } as unknown as Store;
  const options = { store, clock, onUnsaved: () => undefined } as unknown as Keeping['options'];
  const held: Keeping = { options, runs: new Map(), beginning: new Map(), stopRenewing: undefined };
  return {
    held,
    handed,
    end: async (error) => {
      const next = open.shift();
      if (error === undefined) next?.resolve();
      else next?.reject(error);
      await rest();
    },
    begin: () => {
      const lease = { runId: 'r', ownerId: 'o', epoch: 1 };
      const run: KeptRun = { ...freshRun(), lease };
      held.runs.set('r', run);
      return run;
    },
  };
}

const rest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const entry = (type: string): Addition => ({ events: [{ type, body: null }] });

describe('what is written', () => {
  it('in one callback is one write, and what comes meanwhile the next', async () => {
    const { held, handed, end, begin } = setScene();
    begin();
    const first = writeSoon(held, 'r', entry('a'));
    expect(writeSoon(held, 'r', entry('b'))).toBe(first);
    await rest();
    const second = writeSoon(held, 'r', entry('c'));
    void writeSoon(held, 'r', entry('d'));
    await rest();
    expect(handed).toEqual(['a+b']);
    await end();
    await first;
    expect(handed).toEqual(['a+b', 'c+d']);
    await end();
    await second;
  });

  it('takes rows and signals along', async () => {
    const { held, begin } = setScene();
    const run = begin();
    void writeSoon(held, 'r', { ...entry('a'), took: ['1'] });
    void writeSoon(held, 'r', { ...entry('b'), took: ['2'], row: { turns: 1, code: 'X' } });
    void writeSoon(held, 'r', { ...entry('c'), row: { turns: 2 } });
    expect(run.gathered).toMatchObject({ took: ['1', '2'], row: { turns: 2, code: 'X' } });
  });
});

describe('where an entry cannot be written down', () => {
  it('none that comes after it is, whenever it comes', async () => {
    const { held, handed, end, begin } = setScene();
    const run = begin();
    const first = writeSoon(held, 'r', entry('a'));
    await rest();
    const second = writeSoon(held, 'r', entry('b'));
    const ends = Promise.allSettled([first, second]);
    await end(new Error('no space'));
    const third = writeSoon(held, 'r', entry('c'));
    const fourth = write(held, 'r', entry('began'));
    const all = await Promise.allSettled([ends, third, fourth, drained(held, 'r', run)]);
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
    expect(handed).toEqual(['a']);
  });

  it('but a note that cannot be written takes nothing with it', async () => {
    const { held, handed, end, begin } = setScene();
    begin();
    const note = write(held, 'r', entry('note'));
    const noted = Promise.allSettled([note]);
    await end(new Error('no space'));
    expect((await noted)[0].status).toBe('rejected');
    void writeSoon(held, 'r', entry('a'));
    await rest();
    expect(handed).toEqual(['note', 'a']);
  });
});

describe('a life of a run that is over', () => {
  it('writes nothing by the lease of the next one', async () => {
    const { held, handed, end, begin } = setScene();
    begin();
    void writeSoon(held, 'r', entry('a'));
    await rest();
    const late = Promise.allSettled([writeSoon(held, 'r', entry('late'))]);
    begin();
    await end();
    expect((await late)[0]).toMatchObject({ status: 'rejected', reason: { code: 'STORAGE_LOCKED' } });
    expect(handed).toEqual(['a']);
  });

  it('is handed over when what was gathered is written', async () => {
    const { held, handed, end, begin } = setScene();
    const run = begin();
    void writeSoon(held, 'r', entry('a'));
    await rest();
    void writeSoon(held, 'r', entry('b'));
    const over = handedOver(held, 'r', run);
    await end();
    await end();
    await over;
    expect(handed).toEqual(['a', 'b']);
  });
});

describe('a wish that could not be written down', () => {
  it.each([
    { what: 'a step', row: undefined, handed: 'cancelled+next' },
    { what: 'the beginning of a generation', row: { beginsGeneration: true }, handed: 'next+cancelled' },
  ])('goes with $what', async ({ row, handed: expected }) => {
    const { held, handed, begin } = setScene();
    const run = begin();
    run.owed = entry('cancelled').events;
    void write(held, 'r', { ...entry('next'), ...(row === undefined ? {} : { row }) });
    await rest();
    expect(handed).toEqual([expected]);
  });
});

describe('a store that does its best', () => {
  it('has tried everything again before the end counts as written', async () => {
    const { held, handed, end, begin } = setScene('bestEffort');
    const run = begin();
    const first = writeSoon(held, 'r', entry('a'));
    await rest();
    await end(new Error('no space'));
    await first;
    void put(held, 'r', entry('cancelled'));
    let isWritten = false;
    const last = write(held, 'r', entry('ended')).then(() => void (isWritten = true));
    await rest();
    expect([handed, isWritten]).toEqual([['a', 'a'], false]);
    for (let writes = 0; writes < 3; writes += 1) await end();
    await last;
    expect(handed).toEqual(['a', 'a', 'cancelled', 'ended']);
    expect([run.failure, run.unsaved]).toEqual([undefined, []]);
  });
});
