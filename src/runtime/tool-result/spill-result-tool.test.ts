import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolEnd } from '../../agent/tools/tool-call.ts';
import { hashText } from '../../base/hash.ts';
import type { Json } from '../../base/json.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { createLeftBehind } from '../tool-call/left-behind.ts';
import { runTool } from '../tool-call/run-tool.ts';
import { readResultTool } from './spill-result-tool.ts';
import { planSpill, refOf } from './spill-result.ts';

const lines = Array.from(
  { length: 5000 },
  (_, index) => `line ${index}: ${index % 1000 === 7 ? 'Needle' : 'hay'} 😀`,
);
const text = lines.join('\n');
const hash = hashText(text);
const ref = refOf(hash);

interface Given {
  readonly blobs?: Readonly<Record<string, string>>;
  readonly canRead?: (hash: string, runId: string) => boolean;
  readonly get?: (hash: string) => Promise<string | undefined>;
}

/** One call as a run makes it: checked by the schema, bounded and encoded. */
async function call(
  input: Json,
  { blobs = { [hash]: text }, canRead = () => true, get }: Given = {},
): Promise<ToolEnd> {
  const kept = new Map(Object.entries(blobs));
  const tool = readResultTool({ get: get ?? ((wanted) => Promise.resolve(kept.get(wanted))) }, { canRead });
  const ended = await runTool(
    { tool, callId: 'c', input, runId: 'run-1', turn: 1, attempt: 1, idempotencyKey: 'k', leftMs: 60_000 },
    {
      clock: simulatedClock(),
      signal: new AbortController().signal,
      onProgress: () => undefined,
      onLate: () => undefined,
      leftBehind: createLeftBehind(),
      owner: { onStray: () => 'taken' },
      assist: () => Promise.reject(new Error('not used')),
      onBackground: () => undefined,
    },
  );
  return ended as ToolEnd; // It asks nobody.
}

async function textOf(input: Json, given?: Given): Promise<string> {
  const end = await call(input, given);
  expect(end.type).toBe('ok');
  expect(end.content).toBeTypeOf('string');
  return end.content as string; // Checked the line before.
}

/** The call that an answer tells the model to make next. */
function nextCall(answer: string): Json {
  const [, told = 'null'] = /call read_result with (\{.*\})\]$/.exec(answer) ?? [];
  return JSON.parse(told) as Json;
}

describe('read_result', () => {
  it.each([
    { what: 'a path', hostile: 'result_../../../../etc/passwd' },
    { what: 'a bare hash', hostile: hash },
    { what: 'an endless text', hostile: 'result_'.repeat(100_000) },
    { what: 'an empty text', hostile: '' },
    { what: 'SQL', hostile: "result_x' OR '1'='1" },
  ])('tells how a reference looks when it is given $what, and asks no store', async ({ hostile }) => {
    const asked: string[] = [];
    const get = (wanted: string): Promise<undefined> => {
      asked.push(wanted);
      return Promise.resolve(undefined);
    };
    const end = await call({ ref: hostile }, { get });
    expect(end).toMatchObject({ type: 'retry', content: expect.stringContaining('Copy it from') as unknown });
    expect(end.content.length).toBeLessThan(500);
    expect(asked).toEqual([]);
  });

  it('says the same of what is not there and of what is not its own', async () => {
    const missing = await call({ ref: refOf(hashText('other')) });
    const foreign = await call({ ref }, { canRead: () => false });
    expect(missing).toMatchObject({ type: 'failed', failure: { code: 'NOT_FOUND', sideEffect: 'none' } });
    expect(foreign.content).toBe(missing.content);
    expect(foreign.failure).toEqual(missing.failure);
  });

  it('does not fetch what the run may not read, and asks by run', async () => {
    const asked: unknown[] = [];
    const canRead = (wanted: string, runId: string): boolean => {
      asked.push([wanted, runId]);
      return false;
    };
    await call({ ref }, { canRead, get: () => Promise.reject(new Error('fetched')) });
    expect(asked).toEqual([[hash, 'run-1']]);
  });

  it('keeps the failure of a store as it is', async () => {
    const locked = createFailure('STORAGE_LOCKED', { origin: 'storage', message: 'the file is locked' });
    const end = await call({ ref }, { get: () => Promise.reject(RerailError.from(locked)) });
    expect(end).toMatchObject({ type: 'failed', failure: { code: 'STORAGE_LOCKED' } });
  });

  it.each([
    { what: 'reading', input: { ref, from: text.length } },
    { what: 'searching', input: { ref, from: text.length + 9, find: 'x' } },
    { what: 'reading what is empty', input: { ref, from: 0 }, blobs: { [hash]: '' } },
  ])('tells the range when $what begins beyond the end', async ({ input, blobs }) => {
    const end = await call(input, blobs === undefined ? {} : { blobs });
    expect(end).toMatchObject({
      type: 'retry',
      content: expect.stringMatching(/only \d+ characters/) as unknown,
    });
  });

  it.each([
    { what: 'a negative place', input: { ref, from: -1 } },
    { what: 'half a character', input: { ref, from: 1.5 } },
    { what: 'no length', input: { ref, length: 0 } },
    { what: 'nothing to find', input: { ref, find: '' } },
    { what: 'too much to find', input: { ref, find: 'x'.repeat(201) } },
    { what: 'a strange field', input: { ref, path: '/' } },
    { what: 'no reference', input: {} },
    { what: 'a list of references', input: { ref: [ref] } },
  ])('refuses $what by its schema', async ({ input }) => {
    await expect(call(input)).resolves.toMatchObject({
      type: 'failed',
      failure: { code: 'VALIDATION_ERROR' },
    });
  });

  it('reads on exactly where the shortened result says', async () => {
    const content = planSpill(text, { maxCharacters: 2000 })?.contentFor(hash) ?? '';
    const [, told = 'null'] = /call read_result with (\{.*?\})/.exec(content) ?? [];
    const answer = await textOf(JSON.parse(told) as Json);
    const head = content.slice(0, content.indexOf('\n… ['));
    expect(answer).toContain(`]\n${text.slice(head.length, head.length + 100)}`);
  });

  it('gives no more than its bound, whatever is asked', async () => {
    const answer = await textOf({ ref, length: 2_000_000_000 });
    expect(answer).toMatch(/^\[Characters 0 to (20000|19999) of \d+\]\n/);
    expect(answer.length).toBeLessThan(20_500);
  });

  it('gives the whole text without a gap, followed from call to call, in pieces of any length', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('😀', 'a', '\n', '漢'), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 5 }),
        async (pieces, length) => {
          const whole = pieces.join('');
          let input: Json = { ref, length };
          let read = '';
          for (let round = 0; round < 100 && input !== null; round += 1) {
            const answer = await textOf(input, { blobs: { [hash]: whole } });
            const body = answer.slice(answer.indexOf('\n') + 1, answer.lastIndexOf('\n'));
            expect(() => encodeURIComponent(body)).not.toThrow();
            read += body;
            const next = nextCall(answer);
            input = next === null ? null : { ...(next as object), length };
          }
          expect(read).toBe(whole);
        },
      ),
      { seed: 5, numRuns: 100 },
    );
  });

  it('begins with the whole pair where it is asked for half of one', async () => {
    await expect(textOf({ ref, from: 2 }, { blobs: { [hash]: 'a😀b' } })).resolves.toBe(
      '[Characters 1 to 4 of 4]\n😀b\n[This is the end of it.]',
    );
  });

  it('finds words without regard to letter case, each with the place to read on from', async () => {
    const answer = await textOf({ ref, find: 'NEEDLE' });
    const places = [...answer.matchAll(/^\[from (\d+)\] (.*)$/gm)].map(([, from, shown]) => [
      shown,
      text.slice(Number(from), Number(from) + (shown?.length ?? 0)),
    ]);
    const expected = [7, 1007, 2007, 3007, 4007].map((index) => lines[index]);
    expect(places).toEqual(expected.map((line) => [line, line]));
    expect(answer).toMatch(/\[No more matches\.\]$/);
  });

  it('says where to search on when there are more matches than are shown', async () => {
    const first = await textOf({ ref, find: 'hay' });
    const second = await textOf(nextCall(first));
    expect(first.match(/^\[from /gm)).toHaveLength(40);
    expect(second).toMatch(/^Matches[^]*?\n\[from \d+\] line 41: hay/);
  });

  it('says that nothing was found', async () => {
    await expect(textOf({ ref, find: '.*' })).resolves.toMatch(/^"\.\*" does not occur from character 0 /);
  });

  it('shows what stands around a match in one endless line, with no pair cut', async () => {
    const endless = `${'😀'.repeat(5001)}${'İ'.repeat(1000)}x needle ${'😀'.repeat(5000)}`;
    const answer = await textOf({ ref, find: 'x Needle' }, { blobs: { [hash]: endless } });
    expect(answer).toContain('x needle');
    expect(answer.length).toBeLessThan(600);
    expect(() => encodeURIComponent(answer)).not.toThrow();
  });

  it('searches four million characters with a hostile needle in bounded output', async () => {
    const answer = await textOf(
      { ref, find: `${'a'.repeat(199)}b` },
      { blobs: { [hash]: 'a'.repeat(4_000_000) } },
    );
    expect(answer).toContain('does not occur');
  });
});
