import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explainWith } from '../../src/cli/commands/explain-command.ts';
import { runExport } from '../../src/cli/commands/export-command.ts';
import { runImport } from '../../src/cli/commands/import-command.ts';
import type { CliIo } from '../../src/cli/start/io.ts';
import { runShow } from '../../src/cli/commands/show-command.ts';
import { displayWidth } from '../../src/cli/text/wrap.ts';
import { tool } from '../../src/index.ts';
import type { Model } from '../../src/index.ts';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { flipByte } from './broken-stores.ts';
import { perform } from './fake-io.ts';
import type { Done } from './fake-io.ts';
import { fakeSeam } from './fake-seam.ts';
import { call, look, openStories, secret, tellStories } from './run-stories.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'rerail-show-'));
const store = path.join(folder, 'runs.db');

beforeAll(() => tellStories(store), 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const show = (
  run: string,
  flags: Readonly<Record<string, unknown>> = {},
  world: Partial<CliIo> = {},
): Promise<Done> => perform(runShow, { args: [run], flags: { store, ...flags } }, world);

describe('rerail show refuses', () => {
  it.each([
    { run: 'nobody', flags: {}, exitCode: 30, says: /There is no run "nobody"/ },
    {
      run: 'failed',
      flags: { turn: '7' },
      exitCode: 2,
      says: /The run "failed" has no turn 7: there are 1\. Type: --turn 1/,
    },
    {
      run: 'failed',
      flags: { turn: 'x' },
      exitCode: 2,
      says: /--turn must be the number of a turn, from 1, got "x"/,
    },
    { run: 'failed', flags: { store: '--json' }, exitCode: 2, says: /--store needs the path of a file/ },
  ])('$run $flags', async ({ run, flags, exitCode, says }) => {
    const done = await show(run, flags);
    expect(done.err).toMatch(says);
    expect({ exitCode: done.exitCode, out: done.out }).toEqual({ exitCode, out: '' });
  });

  it('what is damaged from the damage on, and shows what comes before it', async () => {
    const file = path.join(folder, 'damaged.db');
    const stories = openStories(file);
    const found = look(() => 'MARKER of a result');
    await stories.agent([call('look'), 'Done.'], { tools: [found] }).run('Look', { runId: 'damaged' });
    await stories.close();
    flipByte(file);
    const done = await show('damaged', { store: file });
    expect(done.out).toMatch(/one:one-large answered in 0 ms, 15 tokens, and called look/);
    expect(done.out).toMatch(/From event 3 on the record cannot be read: STORAGE_CORRUPT/);
    expect(done.out).toMatch(new RegExp(`rerail doctor --store ${file}`));
    expect(done.exitCode).toBe(30);
  });
});

describe('rerail show', () => {
  it('shows a run turn by turn: attempts, decisions, waits', async () => {
    const { out } = await show('asked-wait');
    expect(out).toBe(
      `run       asked-wait of agent rerail:shop-1f0c77ae
status    completed
asked     “Ask”
began     2026-01-31 03:02:00 UTC; the last event came 20.0 s later
models    one:one-large
used      1 turn, 2 requests, 0 tool calls, 15 tokens, the cost of 2 requests is not known, waited
          20.0 s

Turn 1
+0 ms     one:one-large failed after 0 ms: RATE_LIMITED, Slow down
+0 ms     Decided: it is tried again (a wait of 20.0 s was asked for, then attempt 2)
+0 ms     Waited 20.0 s (as one asked)
+20.0 s   one:one-large answered in 0 ms, attempt 2, 15 tokens: “Done.”
+20.0 s   The run ended: completed
`,
    );
  });

  it('reports a crash, a call in doubt and of the question about it, with the events', async () => {
    const { out } = await show('in-doubt', { events: true });
    expect(out).toMatch(
      /^\+1:00:00 +Its process had vanished, and another one took it over \(crash 1\)\. \[event 4\]$/m,
    );
    expect(out).toMatch(
      /hang \{"cents":5\} may have happened or not: UNKNOWN_OUTCOME[^[]+\[events\s+2-3, 5\]/,
    );
    expect(out).toMatch(
      /It waits outside any process: for a person to say whether a call happened\s+\[events 5-6\]/,
    );
    expect(out).toMatch(/rerail settle in-doubt --call [0-9a-f]{12} --did-not-happen/);
  });

  it('paints recoveries gold and failures red', async () => {
    const { out } = await show('fallen-back', {}, { env: { FORCE_COLOR: '1' } });
    expect(out).toContain('\u001b[38;5;178mDecided: another one is asked in its place');
    expect(out).toContain('\u001b[31mone:one-large failed after 0 ms: QUOTA_EXCEEDED');
    expect(out).toContain('\u001b[38;5;178mNow two:two-large instead of one:one-large');
  });

  it.each([{ run: 'in-doubt' }, { run: 'long-wait' }, { run: 'retried' }])(
    'fits a narrow screen: $run',
    async ({ run }) => {
      const { out } = await show(run, {}, { columns: 40 });
      const lines = out.split('\n').filter((line) => !line.startsWith('    rerail'));
      expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(40);
    },
  );

  it('gives a program everything but the conversation, and no secret', async () => {
    const { out } = await show('retried', { json: true });
    const reading = JSON.parse(out) as {
      items: readonly { type: string; seqs: readonly number[] }[];
      outcome: object;
    };
    expect(reading.items.map(({ type }) => type)).toEqual([
      'began',
      'turn',
      'attempt',
      'decision',
      'wait',
      'attempt',
      'ended',
    ]);
    expect(reading.items[4]?.seqs).toEqual([2, 3, 4]);
    expect(reading.outcome).not.toHaveProperty('messages');
    expect(out).not.toContain(secret);
  });

  it.each([
    {
      what: 'the shell tool says',
      name: 'shell',
      result: 'exit code: 0\nduration: 1 ms\nsandbox: contained\nstdout: empty',
      says: true,
    },
    {
      what: 'its command prints',
      name: 'shell',
      result: 'exit code: 0\nduration: 1 ms\nstdout (18 bytes):\nx\nsandbox: contained',
      says: false,
    },
    { what: 'another tool gives', name: 'read', result: 'sandbox: contained', says: false },
  ])('names the sandbox of a call where $what it: $says', async ({ name, result, says }) => {
    const file = path.join(folder, `${name}-${result.length}.db`);
    const stories = openStories(file);
    const shell = tool({ name, description: 'Runs.', input: { type: 'object' }, execute: () => result });
    await stories.agent([call(name), 'Done.'], { tools: [shell] }).run('Run it', { runId: 'shell' });
    await stories.close();
    const { out } = await show('shell', { store: file });
    expect(out.replaceAll(/\s+/g, ' ').includes('in the sandbox "contained"')).toBe(says);
  });

  it('shows one turn alone', async () => {
    const { out } = await show('stopped', { turn: '1' });
    expect(out).toMatch(/^Turn 1$/m);
    expect(out).not.toContain('What to do now');
  });
});

describe('rerail explain', () => {
  const explain = (
    run: string,
    model?: Model,
    flags: Readonly<Record<string, unknown>> = {},
  ): Promise<Done> => {
    const models = model === undefined ? [] : [{ name: 'one:large', model }];
    const seam = fakeSeam({ file: store, models });
    return perform((given, io) => explainWith(seam, given, io), { args: [run], flags: { store, ...flags } });
  };

  it('prints the report alone where the model fails, and one line says so', async () => {
    const { out, err, exitCode } = await explain('failed', scriptedModel([{ failure: 'OVERLOADED' }]));
    expect(out).toMatch(/^The work could not be finished\.\n/);
    expect(out).not.toContain('In the words of');
    expect(err).toBe(
      'rerail: one:large could not put it in plain words (OVERLOADED); the report above is complete without it.\n',
    );
    expect(exitCode).toBe(0);
  });

  it('asks no model where there is only the embedded one, or where that is requested', async () => {
    const model = scriptedModel(['Words.']);
    const seam = fakeSeam({ file: store, models: [{ name: 'simulated:embedded', model }] });
    const embedded = await perform((given, io) => explainWith(seam, given, io), {
      args: ['failed'],
      flags: { store },
    });
    const still = await explain('failed', model, { static: true });
    expect(model.calls).toEqual([]);
    expect(embedded.err).toBe(
      'rerail: No model is available to put it in plain words; the report above is complete without it. Name one with --model, or see: rerail doctor\n',
    );
    expect([embedded.exitCode, still.err]).toEqual([0, '']);
  });

  const said = (words: object): Model =>
    scriptedModel([
      JSON.stringify({
        summary: 'The provider broke.',
        claims: [{ text: 'The run failed with SERVER_ERROR.', facts: [1] }],
        nextSteps: ['wait', 'switch-model'],
        ...words,
      }),
    ]);

  it.each([
    { what: 'no JSON', model: scriptedModel(['The provider broke.']) },
    { what: 'an invented number', model: said({ summary: 'The provider broke 99 times.' }) },
    { what: 'an invented tool', model: said({ claims: [{ text: 'The tool "refund" broke.', facts: [1] }] }) },
    { what: 'an invented command', model: said({ nextSteps: ['rm -rf /'] }) },
  ])('does not show what does not stand in the record: $what', async ({ model }) => {
    const { out, err, exitCode } = await explain('failed', model);
    expect(out).not.toContain('In the words of');
    expect(err).toBe(
      'rerail: What one:large said is not shown, because the record does not support it; the report above is complete without it.\n',
    );
    expect(exitCode).toBe(0);
  });

  it('puts the words of a model under the report, with what to type', async () => {
    const model = said({}) as ReturnType<typeof scriptedModel>;
    const { out } = await explain('failed', model);
    expect(out.indexOf('The work could not be finished')).toBeLessThan(
      out.indexOf('In the words of one:large, checked against the record\n  The provider broke.'),
    );
    expect(out).toContain('- The run failed with SERVER_ERROR.');
    expect(out).toContain('rerail resume failed --model <provider>:<model>');
    expect(out).toContain('The report above is complete without it.');
    expect(model.calls[0]?.request.maxOutputTokens).toBe(500);
    expect(JSON.stringify(model.calls[0]?.request)).toContain('SERVER_ERROR');
    expect(JSON.stringify(model.calls[0]?.request)).not.toContain(secret);
  });

  it('shows no secret and nothing that a terminal obeys', async () => {
    const { out } = await explain('failed', said({ summary: `It broke.\u001b[2J ${secret}` }));
    const still = await explain('failed', said({ summary: `It broke. ${secret}` }));
    expect(`${out}${still.out}`).not.toContain(secret);
    expect(out).not.toContain('\u001b');
  });

  it('explains also what waits, by what can be typed for it', async () => {
    const { out, err } = await explain(
      'to-approve',
      said({ claims: [{ text: 'It waits for approval.', facts: [1] }], nextSteps: ['approve'] }),
    );
    expect(err).toBe('');
    expect(out).toContain('- It waits for approval.');
  });

  it('says of a run that has no report how it stands', async () => {
    const { out } = await explain('to-approve');
    expect(out).toMatch(/^Run to-approve of agent "rerail:shop-1f0c77ae": waits for approval\n/);
    expect(out).toContain('rerail approve to-approve');
  });

  it('gives a program the report and what came of asking', async () => {
    const model = said({ claims: [{ text: 'It was stopped.', facts: [1] }], nextSteps: [] });
    const { out } = await explain('stopped', model, { json: true });
    expect(JSON.parse(out)).toMatchObject({
      runId: 'stopped',
      report: { person: expect.stringContaining('The work was stopped') as unknown },
      explanation: {
        type: 'explained',
        model: 'one:large',
        summary: 'The provider broke.',
        claims: [{ text: 'It was stopped.', facts: [{ number: 1 }] }],
      },
    });
  });
});

describe('rerail import', () => {
  const world = { readFile: (file: string) => bytesOf(file) };

  async function* bytesOf(file: string): AsyncIterable<Uint8Array> {
    yield readFileSync(file);
  }

  it('refuses what is no bundle, and a name that is taken, and says what to type', async () => {
    const notes = path.join(folder, 'notes.txt');
    writeFileSync(notes, 'notes');
    const target = path.join(folder, 'target.db');
    const broken = await perform(runImport, { args: [notes], flags: { store: target } }, world);
    expect(broken.err).toMatch(/STORAGE_CORRUPT/);
    const bundle = path.join(folder, 'failed.json');
    await perform(runExport, { args: ['fail'], flags: { store, out: bundle } });
    const first = await perform(runImport, { args: [bundle], flags: { store: target } }, world);
    expect(first.out).toBe(
      `Imported "failed": 3 events, failed. See it: rerail show failed --store ${target}\n`,
    );
    const second = await perform(runImport, { args: [bundle], flags: { store: target } }, world);
    expect(second.err).toMatch(
      /There is a run "failed" in .+ already.+rerail import … --as <name> \(ALREADY_REGISTERED\)/,
    );
    expect([broken.exitCode, first.exitCode, second.exitCode]).toEqual([30, 0, 2]);
    const again = await perform(runImport, { args: [bundle], flags: { store: target, as: 'copy' } }, world);
    expect(again.out).toContain('Imported "copy" (there "failed")');
    const { out } = await show('copy', { store: target });
    expect(out).toMatch(/Everything before came out of a bundle of run failed/);
  });

  it('parks a run that waits, and says what it asks', async () => {
    const bundle = path.join(folder, 'waiting.json');
    const target = path.join(folder, 'parked.db');
    await perform(runExport, { args: ['to-approve'], flags: { store, out: bundle } });
    await perform(runImport, { args: [bundle], flags: { store: target } }, world);
    const opened = sqlite(target);
    expect((await opened.runs.find('to-approve'))?.status).toBe('parked');
    await opened.close();
    const { out } = await show('to-approve', { store: target });
    expect(out).toContain('rerail approve to-approve');
  });
});
