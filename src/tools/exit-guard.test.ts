import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { guardExit } from './exit-guard.ts';

/** What the process really does is noted instead of done. */
const exits: unknown[] = [];
type Exit = (code?: number) => void;

// By reflection: the platform's type says that it never returns, and so everything behind it would be unreachable.
const readExit = (): Exit => Reflect.get(process, 'exit');
const writeExit = (exit: Exit): boolean => Reflect.set(process, 'exit', exit);
const callExit: Exit = (code) => readExit().call(process, code);

const realExit = readExit();
const notedExit: Exit = (code) => {
  exits.push(code);
};

beforeEach(() => {
  exits.length = 0;
  writeExit(notedExit);
});
afterEach(() => {
  writeExit(realExit);
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('guardExit()', () => {
  it.each([
    { when: 'at once', execute: () => process.exit(1) },
    {
      when: 'after a wait',
      execute: async () => {
        await turn();
        process.exit(1);
      },
    },
    {
      when: 'deep inside what it waits for',
      execute: async () => {
        const inner = async (): Promise<void> => {
          await turn();
          process.exit(1);
        };
        await Promise.all([turn(), inner()]);
      },
    },
  ])('makes process.exit throw in a tool that calls it $when', async ({ execute }) => {
    const guarded = guardExit(execute);
    await expect(async () => guarded({}, {})).rejects.toThrow(/The tool called process\.exit\(1\)/);
    expect(exits).toEqual([]);
    expect(readExit()).toBe(notedExit);
  });

  it('lets everybody else exit while a tool runs', async () => {
    let finish = (): void => undefined;
    const running = guardExit(() => new Promise<void>((resolve) => (finish = resolve)))({}, {});
    expect(readExit()).not.toBe(notedExit);
    callExit(7);
    expect(exits).toEqual([7]);
    finish();
    await running;
    expect(readExit()).toBe(notedExit);
  });

  it('restores process.exit after the last of several tools, also after one that throws', async () => {
    const guarded = guardExit(async (input: string) => {
      await turn();
      if (input === 'throw') throw new Error('thrown');
      return input;
    });
    const settled = await Promise.allSettled([guarded('a', {}), guarded('throw', {}), guarded('b', {})]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(readExit()).toBe(notedExit);
  });

  it('does not loop when somebody has put his own on top', async () => {
    const guarded = guardExit(turn);
    const running = guarded({}, {});
    const ours = readExit(); // As a library does that wraps it.
    writeExit((code) => ours(code));
    await running;
    callExit(9);
    expect(exits).toEqual([9]);
  });

  it('does not loop when it is put on top of somebody who calls it', async () => {
    const running = guardExit(turn)({}, {});
    const ours = readExit();
    writeExit((code) => ours(code));
    await running;
    const again = guardExit(turn)({}, {});
    callExit(2);
    await again;
    expect(exits).toEqual([2]);
  });

  it('does not loop when ours was taken and put back in later', async () => {
    const running = guardExit(turn)({}, {});
    const ours = readExit();
    await running;
    writeExit((code) => ours(code));
    callExit(4);
    expect(exits).toEqual([4]);
  });

  it('leaves the formatting of stacks as it was', () => {
    const { stackTraceLimit } = Error;
    expect(() => guardExit(() => process.exit(1))({}, {})).toThrow('process.exit');
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
    expect(new Error('text').stack).toContain('text');
  });
});
