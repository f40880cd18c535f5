import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Connection } from './held.ts';
import { getRows, inTransaction } from './query.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A connection whose server answers when the test says so. */
function silent(): { readonly connection: Connection; readonly answer: (number: number) => void } {
  const answers: (() => void)[] = [];
  const query = (): Promise<unknown> =>
    new Promise((resolve) => answers.push(() => resolve({ rows: [], rowCount: 0 })));
  const held = { texts: new Map(), settings: { schema: 'rerail', statementTimeoutMs: 500 } };
  const connection = { held, client: { query }, asked: undefined, watch: undefined } as unknown as Connection; // As far as it is used.
  return { connection, answer: (number) => answers[number]?.() };
}

const overdue = 'Error: No answer for 2500 ms';

/** What came of a statement. */
function ask(connection: Connection): Promise<string> {
  return getRows(connection, { text: 'SELECT 1' }).then(
    () => 'answered',
    (error: unknown) => String(error),
  );
}

describe('a statement that is not answered', () => {
  it('is given up, each after its own time', async () => {
    const { connection, answer } = silent();
    const first = ask(connection);
    await vi.advanceTimersByTimeAsync(2400);
    answer(0);
    expect(await first).toBe('answered');
    const second = ask(connection);
    await vi.advanceTimersByTimeAsync(2400);
    expect(connection.asked).toBeDefined();
    await vi.advanceTimersByTimeAsync(200);
    expect(await second).toBe(overdue);
  });

  it('is given up also where the one before is answered meanwhile, too late', async () => {
    const { connection, answer } = silent();
    const first = ask(connection);
    await vi.advanceTimersByTimeAsync(2600);
    expect(await first).toBe(overdue);
    const second = ask(connection);
    answer(0);
    await vi.advanceTimersByTimeAsync(2600);
    expect(await second).toBe(overdue);
  });

  it('ends its transaction with it: whoever says nothing is not told to undo it', async () => {
    const { connection, answer } = silent();
    const ended = inTransaction(connection, () =>
      ask(connection).then((end) => Promise.reject(new Error(end))),
    );
    const told = ended.catch(String);
    answer(0);
    await vi.advanceTimersByTimeAsync(2600);
    expect(await told).toContain('No answer for 2500 ms');
    expect(connection.isBroken).toBe(true);
  });

  it('leaves no watch behind that looks after nothing for ever', async () => {
    const { connection, answer } = silent();
    const only = ask(connection);
    answer(0);
    expect(await only).toBe('answered');
    await vi.advanceTimersByTimeAsync(2600);
    expect([connection.watch, vi.getTimerCount()]).toEqual([undefined, 0]);
  });
});
