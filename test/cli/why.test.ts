import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nextSteps } from '../../src/cli/run-reading/next-steps.ts';
import { readRun } from '../../src/cli/run-reading/read-run.ts';
import { whyAnswers } from '../../src/cli/run-reading/why-answers.ts';
import { runWhy } from '../../src/cli/commands/why-command.ts';
import { sqlite } from '../../src/storage/sqlite/index.ts';
import { perform } from './fake-io.ts';
import { secret, tellStories } from './run-stories.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'rerail-why-'));
const store = path.join(folder, 'runs.db');

beforeAll(() => tellStories(store), 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Answer {
  readonly topic: string;
  readonly points: readonly { readonly text: string; readonly seqs: readonly number[] }[];
}

interface Why {
  readonly words: string;
  readonly answers: readonly Answer[];
  readonly next: readonly { readonly text: string; readonly command: string }[];
}

async function why(run: string, topic?: string): Promise<Why> {
  const { out } = await perform(runWhy, { args: [run, topic], flags: { store, json: true } });
  return JSON.parse(out) as Why;
}

describe('rerail why refuses', () => {
  it.each([
    {
      what: 'a run that is not there',
      args: ['nobody'],
      exitCode: 30,
      says: /There is no run "nobody" in sqlite .+List the runs that are there: rerail runs --store \S+ \(STORAGE_NOT_FOUND\)/,
    },
    {
      what: 'letters that fit several',
      args: ['in'],
      exitCode: 2,
      says: /Several runs begin with "in": in-doubt \(waits: in doubt, 58 min ago\); interrupted \(interrupted, 58 min ago\)\. Type more letters/,
    },
    { what: 'no id', args: [''], exitCode: 30, says: /There is no run ""/ },
    {
      what: 'another question',
      args: ['failed', 'stoped'],
      exitCode: 2,
      says: /What can be asked is retried, model, stopped, waiting, origin, got "stoped"\. Did you mean stopped\?/,
    },
  ])('$what', async ({ args, exitCode, says }) => {
    const done = await perform(runWhy, { args, flags: { store } });
    expect(done.err).toMatch(says);
    expect({ exitCode: done.exitCode, out: done.out }).toEqual({ exitCode, out: '' });
  });

  it('a store that is not there, and makes none', async () => {
    const missing = path.join(folder, 'none.db');
    const done = await perform(runWhy, { args: ['failed'], flags: { store: missing } });
    expect(done.err).toMatch(/There is no store at/);
    expect(done.exitCode).toBe(30);
  });
});

describe('the exact words of rerail why', () => {
  const one = 'one:one-large';
  const only = (...seqs: readonly number[]) => ({
    topic: 'model',
    points: [{ text: `Every attempt was made at ${one}: it is the only one.`, seqs }],
  });

  it.each([
    {
      run: 'failed',
      words: 'failed: SERVER_ERROR',
      answers: [
        {
          topic: 'stopped',
          points: [
            {
              text: "It failed after 1 turn: SERVER_ERROR. one had an internal error. Try again later. If it goes on, look at the provider's status page.",
              seqs: [3],
            },
            {
              text: 'What decided it: the only attempt is used up; there is no further model; every rung of its ladder is used up.',
              seqs: [2],
            },
          ],
        },
        only(1, 2),
      ],
    },
    {
      run: 'stopped',
      words: 'stopped: turns',
      answers: [
        {
          topic: 'stopped',
          points: [
            {
              text: 'It was stopped after 1 turn: max-turns (the limit maxTurns). The work took more steps than it may.',
              seqs: [3, 4],
            },
          ],
        },
        only(1, 2),
      ],
    },
    {
      run: 'to-approve',
      words: 'waits for approval',
      answers: [
        {
          topic: 'waiting',
          points: [
            {
              text: 'It waits for approval of this: pay {"cents":5} (this tool asks before every call). Without an answer by 2026-02-01 03:03:20 UTC (in 22 h 56 min) it is denied.',
              seqs: [2, 3],
            },
          ],
        },
        only(1, 2),
      ],
    },
    {
      run: 'no-key',
      words: 'waits for a key',
      answers: [
        {
          topic: 'waiting',
          points: [
            {
              text: 'It waits for a person to fix this: one did not accept the API key. Check that the key is set, complete and still valid, then run again.',
              seqs: [2, 3],
            },
          ],
        },
        only(1, 2),
      ],
    },
    {
      run: 'interrupted',
      words: 'interrupted',
      answers: [
        {
          topic: 'stopped',
          points: [
            {
              text: 'No process is running it: the last one exited or released it while tools were at work. Its last event came 58 min ago. Nothing that is on record is lost.',
              seqs: [3],
            },
          ],
        },
        only(1, 2),
      ],
    },
    {
      run: 'in-doubt',
      words: 'waits: in doubt',
      answers: [
        {
          topic: 'waiting',
          points: [
            {
              text: 'It waits for a person to say whether this happened: hang {"cents":5} (The call of "hang" was started elsewhere, and its end was not recorded). It is not repeated automatically, because it may have been done.',
              seqs: [5, 6],
            },
          ],
        },
        only(1, 2),
      ],
    },
    {
      run: 'asked-wait',
      words: 'completed',
      answers: [
        {
          topic: 'stopped',
          points: [{ text: 'It did not stop early: it completed after 1 turn.', seqs: [6] }],
        },
        {
          topic: 'retried',
          points: [
            {
              text: `Turn 1, attempt 1 at ${one} failed after 0 ms: RATE_LIMITED, Slow down. So it is tried again: a wait of 20.0 s was asked for, then attempt 2. Waited 20.0 s (as one asked).`,
              seqs: [2, 3, 4],
            },
            { text: `Turn 1 was answered at attempt 2, by ${one}.`, seqs: [5] },
          ],
        },
        only(1, 2, 5),
      ],
    },
    {
      run: 'fallen-back',
      words: 'completed',
      answers: [
        {
          topic: 'stopped',
          points: [{ text: 'It did not stop early: it completed after 1 turn.', seqs: [4] }],
        },
        {
          topic: 'model',
          points: [
            { text: `The chain is ${one}, then two:two-large.`, seqs: [1] },
            {
              text: `Turn 1: two:two-large was asked instead of ${one}: QUOTA_EXCEEDED; QUOTA_EXCEEDED would not be mended by asking again.`,
              seqs: [2, 3],
            },
            { text: 'The last answer came from two:two-large.', seqs: [3] },
          ],
        },
      ],
    },
  ])('$run', async ({ run, words, answers }) => {
    const found = await why(run);
    expect({ words: found.words, answers: found.answers }).toEqual({ words, answers });
  });

  it.each([
    { run: 'failed', verbs: ['resume failed', 'explain failed'] },
    { run: 'stopped', verbs: ['explain stopped', 'run --help'] },
    { run: 'to-approve', verbs: ['approve to-approve --call #', 'reject to-approve --call # --reason "…"'] },
    {
      run: 'in-doubt',
      verbs: [
        'settle in-doubt --call # --happened',
        'settle in-doubt --call # --did-not-happen',
        'settle in-doubt --call # --unknown',
      ],
    },
    { run: 'interrupted', verbs: ['resume interrupted'] },
    { run: 'long-wait', verbs: ['resume long-wait'] },
    { run: 'retried', verbs: ['show retried'] },
  ])('what to type for $run', async ({ run, verbs }) => {
    const { next } = await why(run);
    const flag = ` --store ${store}`;
    const typed = next.map(({ command }) =>
      command.replace(flag, '').replace(/--call [0-9a-f]{12}/, '--call #'),
    );
    expect(typed).toEqual(verbs.map((verb) => `rerail ${verb}`));
  });

  it.each([
    {
      run: 'failed',
      topic: 'retried',
      text: 'Nothing was tried again: whatever was asked was answered the first time, or given up at once.',
    },
    { run: 'failed', topic: 'waiting', text: 'It is not waiting for anything.' },
    { run: 'to-approve', topic: 'stopped', text: 'It has not stopped.' },
  ])('what does not apply is said only where it is asked for: $run $topic', async ({ run, topic, text }) => {
    const { answers } = await why(run, topic);
    expect(answers).toEqual([{ topic, points: [{ text, seqs: expect.any(Array) as unknown }] }]);
  });
});

describe('rerail why', () => {
  it('takes the first letters of an id, and names the events beside each sentence', async () => {
    const { out, exitCode } = await perform(runWhy, { args: ['long'], flags: { store } });
    expect(out).toMatch(
      /^long-wait: waits for its time\n\nWhat it waits for\n {2}It waits until 2026-01-31 05:07:20 UTC, in 1 h/,
    );
    expect(out).toMatch(/\[events 2-3\]\n/);
    expect(exitCode).toBe(0);
  });

  it('fits a narrow screen and paints what may be recovered in gold', async () => {
    const env = { FORCE_COLOR: '1' };
    const { out } = await perform(
      runWhy,
      { args: ['to-approve', 'waiting'], flags: { store } },
      { env, columns: 44 },
    );
    expect(out).toContain('to-approve: \u001b[38;5;178mwaits for approval\u001b[0m');
    const sentences = out.split('\n').filter((line) => !line.startsWith('    rerail'));
    // eslint-disable-next-line no-control-regex
    const plain = sentences.map((line) => line.replaceAll(/\u001b\[[\d;]*m/g, ''));
    expect(Math.max(...plain.map(({ length }) => length))).toBeLessThanOrEqual(44);
  });

  it('shows no secret', async () => {
    const { out } = await perform(runWhy, { args: ['retried'], flags: { store } });
    expect(out).not.toContain(secret);
    expect(out).toContain('Waited 808 ms');
  });
});

describe('a run that waits, and whose record ends with its question', () => {
  it('says what it waits for, and what to answer', async () => {
    const kept = sqlite(store);
    const reading = await readRun(kept, 'in-doubt');
    await kept.close();
    // So it is where the first process that ran it could ask a person itself.
    const items = reading.items.filter(({ type }) => type !== 'suspended');
    const asking = { ...reading, phase: 'asking' as const, items };
    const [waiting] = whyAnswers(asking, { topic: 'waiting', nowMs: reading.row.updatedAtMs });
    expect(waiting?.points[0]?.text).toMatch(/^It waits for a person to say whether this happened: /);
    const steps = nextSteps(asking, { command: 'rerail', storeFlag: '', nowMs: reading.row.updatedAtMs });
    expect(steps[0]?.command).toMatch(/^rerail settle in-doubt --call [0-9a-f]{12} --happened$/);
  });
});
