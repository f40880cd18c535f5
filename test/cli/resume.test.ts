import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approveWith } from '../../src/cli/commands/approve-command.ts';
import { cancelWith } from '../../src/cli/commands/cancel-command.ts';
import type { Given } from '../../src/cli/specs/command-spec.ts';
import type { CliIo, Terminal } from '../../src/cli/start/io.ts';
import { rejectWith } from '../../src/cli/commands/reject-command.ts';
import { resumeWith } from '../../src/cli/commands/resume-command.ts';
import type { AgentSeam } from '../../src/cli/run-reading/agent-seam.ts';
import { openQuestion } from '../../src/cli/run-reading/next-steps.ts';
import { readRun } from '../../src/cli/run-reading/read-run.ts';
import { runShow } from '../../src/cli/commands/show-command.ts';
import { settleWith } from '../../src/cli/commands/settle-command.ts';
import { createFailure, RerailError, tool } from '../../src/index.ts';
import type { Tool } from '../../src/index.ts';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';
import { laterMs, perform } from './fake-io.ts';
import type { Done } from './fake-io.ts';
import { fakeSeam } from './fake-seam.ts';
import type { SeamOptions } from './fake-seam.ts';
import { abandon, call, hang, openStories, pay, startMs, tellStories } from './run-stories.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'rerail-resume-'));
const original = path.join(folder, 'told.db');
let copies = 0;

beforeAll(() => tellStories(original), 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A store of its own for each test. */
function copy(): string {
  copies += 1;
  const file = path.join(folder, `copy-${copies}.db`);
  for (const end of ['', '-wal', '-heads'].filter((one) => existsSync(`${original}${one}`)))
    cpSync(`${original}${end}`, `${file}${end}`);
  return file;
}

/** The run belongs to another folder. */
function elsewhere(file: string): AgentSeam {
  const failure = createFailure('PATH_OUTSIDE_WORKSPACE', {
    message: 'Run to-approve belongs to the workspace "/the other", not to "/somewhere"',
    context: { other: '/the other' },
  });
  return {
    ...fakeSeam({ file }),
    runBelongsHere: () => Promise.resolve({ type: 'elsewhere', error: RerailError.from(failure) }),
  };
}

type With = (seam: AgentSeam, given: Given, io: CliIo) => Promise<number>;

interface Typed extends Partial<SeamOptions> {
  readonly flags?: Given['flags'];
  readonly world?: Partial<CliIo>;
}

function type(
  command: With,
  run: string,
  { flags = {}, world = {}, file = copy(), ...rest }: Typed = {},
): Promise<Done> {
  const seam = fakeSeam({ file, ...rest });
  return perform((given, io) => command(seam, given, io), { args: [run], flags }, world);
}

/** The hash of the call that a run asks about. */
async function pendingCall(file: string, runId: string): Promise<string> {
  const store = sqlite(file);
  const request = openQuestion(await readRun(store, runId));
  await store.close();
  return request !== undefined && 'hash' in request ? request.hash.slice(0, 12) : '';
}

async function statusOf(file: string, runId: string): Promise<string | undefined> {
  const store = sqlite(file);
  const row = await store.runs.find(runId);
  await store.close();
  return row?.status;
}

async function phaseOf(file: string, runId: string): Promise<string | undefined> {
  const store = sqlite(file);
  const found = await store.runs.find(runId);
  const reading = found === undefined ? undefined : await readRun(store, runId);
  await store.close();
  return reading?.phase;
}

describe('a run that cannot be resumed', () => {
  it.each([
    {
      what: 'one that is not there',
      command: resumeWith,
      run: 'nobody',
      exitCode: 30,
      says: /There is no run "nobody".+\(STORAGE_NOT_FOUND\)/,
    },
    {
      what: 'letters that fit several',
      command: resumeWith,
      run: 'in',
      exitCode: 2,
      says: /Several runs begin with "in"/,
    },
    {
      what: 'one that completed',
      command: resumeWith,
      run: 'retried',
      exitCode: 2,
      says: /The run "retried" has ended \(completed, 1 h ago\): nothing was done.+rerail show retried \(INVALID_STATE\)/,
    },
    {
      what: 'one that was stopped',
      command: resumeWith,
      run: 'stopped',
      exitCode: 2,
      says: /has ended \(stopped: turns/,
    },
    {
      what: 'an approval of one that completed',
      command: approveWith,
      run: 'retried',
      exitCode: 2,
      says: /has ended \(completed/,
    },
    {
      what: 'an approval of one that asks nothing',
      command: approveWith,
      run: 'failed',
      exitCode: 2,
      says: /asks for no approval\. See what it does: rerail why failed/,
    },
    {
      what: 'an approval of a call in doubt',
      command: approveWith,
      run: 'in-doubt',
      exitCode: 2,
      says: /asks whether a call of "hang" happened, not whether it may.+rerail settle in-doubt --call [0-9a-f]{12} --happened/,
    },
    {
      what: 'a no to a call in doubt',
      command: rejectWith,
      run: 'in-doubt',
      exitCode: 2,
      says: /not whether it may/,
    },
    {
      what: 'the end of one that completed',
      command: cancelWith,
      run: 'retried',
      exitCode: 2,
      says: /has ended \(completed/,
    },
  ])('is refused: $what', async ({ command, run, exitCode, says }) => {
    const done = await type(command, run);
    expect(done.err).toMatch(says);
    expect({ exitCode: done.exitCode, out: done.out }).toEqual({ exitCode, out: '' });
  });

  it('is refused with an answer to a question that is not asked', async () => {
    const done = await type(resumeWith, 'failed', { flags: { answer: 'yes' } });
    expect(done.err).toMatch(/The run "failed" asks nothing that could be answered\. Leave --answer out/);
    expect(done.exitCode).toBe(2);
  });

  it.each([
    { what: 'resume', command: resumeWith },
    { what: 'approve', command: approveWith },
  ])('is refused while another process carries it: $what says who and until when', async ({ command }) => {
    const file = copy();
    const store = sqlite(file);
    const claimed = await store.runs.claim('to-approve', { id: 'somebody-else', leaseMs: 3_600_000 });
    expect(claimed.type).toBe('claimed');
    const done = await type(command, 'to-approve', { file });
    await store.close();
    expect(done.err).toMatch(
      /running in another process \(somebody-else\), until \d{4}-.+ UTC at least.+rerail cancel to-approve \(STORAGE_LOCKED\)/,
    );
    expect(done.exitCode).toBe(31);
  });

  it('is refused where it belongs to another workspace', async () => {
    const failure = createFailure('PATH_OUTSIDE_WORKSPACE', {
      message: 'Run failed belongs to the workspace "/other"',
    });
    const seam: AgentSeam = {
      ...fakeSeam({ file: copy() }),
      runBelongsHere: () => Promise.resolve({ type: 'elsewhere', error: RerailError.from(failure) }),
    };
    const done = await perform((given, io) => resumeWith(seam, given, io), { args: ['failed'] });
    expect(done.err).toMatch(/belongs to the workspace "\/other"/);
    expect(done.exitCode).toBe(24);
  });

  it.each([
    { what: 'resume', command: resumeWith, flags: { answer: 'yes' }, more: ' --answer yes' },
    { what: 'approve', command: approveWith, flags: {}, more: '' },
    { what: 'reject', command: rejectWith, flags: { reason: 'not now' }, more: " --reason 'not now'" },
    {
      what: 'resume',
      command: resumeWith,
      flags: { store: 'x.db', model: ['simulated'] },
      more: ' --model simulated --store x.db',
    },
  ])(
    'is not even shown in another workspace: $what says where it belongs and what to type',
    async ({ what, command, flags, more }) => {
      const file = copy();
      const done = await perform((given, io) => command(elsewhere(file), given, io), {
        args: ['to-app'],
        flags,
      });
      expect(done.out).toBe('');
      expect(done.err).toBe(
        `rerail: Run to-approve belongs to the workspace "/the other", not to "/somewhere"; looked in the store "${file}". Type: rerail ${what} to-approve${more} --workspace '/the other' (PATH_OUTSIDE_WORKSPACE)\n`,
      );
      expect(done.exitCode).toBe(24);
      expect(await statusOf(file, 'to-approve')).toBe('suspended');
    },
  );

  it.each([
    { run: 'to-approve', reason: 'approval' },
    { run: 'in-doubt', reason: 'in-doubt' },
  ])('has an outcome in JSON where it waits for a person: $reason', async ({ run, reason }) => {
    const done = await type(resumeWith, run, { flags: { json: true } });
    expect(done.exitCode).toBe(23);
    expect(done.out.split('\n')).toHaveLength(2);
    expect(JSON.parse(done.out)).toMatchObject({
      type: 'run-finished',
      outcome: { type: 'suspended', reason, runId: run, turns: 1, request: { type: reason } },
    });
  });

  it('is not denied by being resumed without an answer', async () => {
    const file = copy();
    const done = await type(resumeWith, 'to-approve', { file });
    expect(done.exitCode).toBe(23);
    expect(done.err).toMatch(/May "pay" run\?/);
    expect(done.err).toMatch(/rerail approve to-approve --call [0-9a-f]{12}\n/);
    expect(await statusOf(file, 'to-approve')).toBe('suspended');
  });

  it('is not approved after its time', async () => {
    const file = copy();
    const world = { now: () => startMs + 90_000_000 };
    const done = await type(approveWith, 'to-approve', { file, world });
    expect(done.err).toMatch(
      /its question expired at 2026-02-01 03:03:20 UTC, and a later approval is denied.+rerail reject to-approve/,
    );
    expect(done.exitCode).toBe(2);
  });
});

describe('rerail resume', () => {
  it.each([
    { what: 'failed again', run: 'failed', script: [{ failure: 'SERVER_ERROR' as const }], exitCode: 13 },
    {
      what: 'stopped',
      run: 'failed',
      script: [call('look')],
      options: { limits: { maxTurns: 2 }, policy: { salvage: false } },
      exitCode: 21,
    },
    { what: 'waits', run: 'failed', script: [call('pay')], exitCode: 23 },
    { what: 'completed', run: 'failed', script: ['Done.'], exitCode: 0 },
    { what: 'fixed', run: 'no-key', script: ['Done.'], exitCode: 0 },
    { what: 'due', run: 'long-wait', script: ['Done.'], exitCode: 0, afterMs: 8_000_000 },
    { what: 'taken over', run: 'interrupted', script: ['Done.'], options: { tools: [hang()] }, exitCode: 23 },
  ])('ends with the exit code of the outcome: $what', async ({ run, exitCode, ...rest }) => {
    const retry = { policy: { retry: 'none' as const, ...rest.options?.policy } };
    const done = await type(resumeWith, run, { ...rest, options: { ...rest.options, ...retry } });
    expect(done.exitCode).toBe(exitCode);
    expect(done.err).toBe('');
  });

  it('shows the run in plain lines and says what to type where it waits', async () => {
    const done = await type(resumeWith, 'failed', { script: [call('pay')], flags: { store: 'x.db' } });
    expect(done.out).toMatch(
      /What to do now\n {2}approve it, and resume:\n {4}rerail approve failed --call [0-9a-f]{12} --store x\.db\n/,
    );
  });

  it.each([
    { answer: 'happened', tells: 'It happened: a person checked.' },
    { answer: '{"happened":true,"result":"It is on the statement"}', tells: 'It is on the statement' },
    { answer: 'unknown', tells: 'It is not known' },
  ])('hands the answer on: $answer', async ({ answer, tells }) => {
    const file = copy();
    const done = await type(resumeWith, 'in-doubt', {
      file,
      flags: { answer, json: true, call: await pendingCall(file, 'in-doubt') },
      options: { tools: [hang()] },
    });
    expect(done.exitCode).toBe(0);
    expect(done.out).toContain(tells);
    expect(await statusOf(file, 'in-doubt')).toBe('completed');
  });

  it('asks the person at the terminal before it resumes', async () => {
    const file = copy();
    const asked: string[] = [];
    const done = await type(resumeWith, 'to-approve', {
      file,
      world: { terminal },
      ask: (request) => {
        asked.push(request.id);
        return { approved: true };
      },
    });
    expect(asked).toEqual(['to-approve:1:0:approval']);
    expect(done.exitCode).toBe(0);
  });

  it('leaves the question open where the person at the terminal says nothing', async () => {
    const file = copy();
    const done = await type(resumeWith, 'to-approve', { file, world: { terminal }, ask: () => undefined });
    expect(done.exitCode).toBe(23);
    expect(await statusOf(file, 'to-approve')).toBe('suspended');
  });
});

const terminal: Terminal = {
  onKeys: () => () => undefined,
  write: () => undefined,
  size: () => ({ columns: 80, rows: 24 }),
  onResize: () => () => undefined,
};

describe('rerail approve and reject', () => {
  it('show the exact call first, and then let it be done', async () => {
    const paid: unknown[] = [];
    const options = { tools: [pay(() => paid.push('paid') && 'paid')] };
    const file = copy();
    const flags = { call: await pendingCall(file, 'to-approve') };
    const done = await type(approveWith, 'to', { file, options, flags });
    expect(done.out).toMatch(/^May "pay" run\?\n[^]+"cents": 5[^]+Done\./);
    expect(paid).toEqual(['paid']);
    expect(done.exitCode).toBe(0);
  });

  it('tell the model the reason of a no, and run nothing', async () => {
    const paid: unknown[] = [];
    const options = { tools: [pay(() => paid.push('paid'))] };
    const file = copy();
    const flags = { reason: 'too much', json: true, call: await pendingCall(file, 'to-approve') };
    const done = await type(rejectWith, 'to-approve', { file, options, flags });
    expect(done.out).toContain('a person denied it: too much');
    expect(paid).toEqual([]);
    expect(done.exitCode).toBe(0);
  });

  it('only record the answer with --no-resume; the first answer counts, and resume uses it', async () => {
    const file = copy();
    const paid: unknown[] = [];
    const flags = { noResume: true, call: await pendingCall(file, 'to-approve') };
    const recorded = await type(approveWith, 'to-approve', { file, flags });
    expect(recorded.out).toMatch(
      /Recorded: yes\. A worker resumes it with this answer, or you do: rerail resume to-approve\n$/,
    );
    expect(await statusOf(file, 'to-approve')).toBe('suspended');
    const json = await type(approveWith, 'to-approve', { file: copy(), flags: { ...flags, json: true } });
    expect(JSON.parse(json.out)).toEqual({ type: 'answer-recorded', runId: 'to-approve', verdict: 'yes' });
    const late = await type(rejectWith, 'to-approve', { file });
    expect(late.err).toMatch(
      /it was answered already, and the first answer counts\. Resume it: rerail resume to-approve/,
    );
    const options = { tools: [pay(() => paid.push('paid') && 'paid')] };
    const resumed = await type(resumeWith, 'to-approve', { file, options });
    expect(paid).toEqual(['paid']);
    expect(resumed.exitCode).toBe(0);
  });

  it('answer a question whose process died while it was asking', async () => {
    const file = path.join(folder, 'asking.db');
    const stories = openStories(file);
    const never = new Promise<never>(() => undefined);
    void stories
      .agent([call('pay')], { callbacks: { onApproval: () => never } })
      .run('Pay', { runId: 'asking' });
    await expect.poll(() => phaseOf(file, 'asking')).toBe('asking');
    const named = { call: await pendingCall(file, 'asking') };
    const recorded = await type(approveWith, 'asking', { file, flags: { ...named, noResume: true } });
    expect(recorded.err).toMatch(/so it can only be answered by resuming it\. Leave --no-resume out/);
    const paid: unknown[] = [];
    const options = { tools: [pay(() => paid.push('paid') && 'paid')] };
    const done = await type(approveWith, 'asking', { file, options, flags: named });
    expect(done.out).not.toContain('suspended');
    expect(paid).toEqual(['paid']);
    expect(done.exitCode).toBe(0);
    await stories.close();
  });
});

describe('an answer to a call', () => {
  const verdicts = [
    { what: 'approve', command: approveWith, run: 'to-approve', flags: {} },
    { what: 'reject', command: rejectWith, run: 'to-approve', flags: {} },
    { what: 'settle', command: settleWith, run: 'in-doubt', flags: { happened: true } },
    { what: 'resume', command: resumeWith, run: 'to-approve', flags: { answer: 'yes' } },
  ] as const;

  it.each(verdicts)(
    'by $what is refused where another call is asked about',
    async ({ command, run, flags }) => {
      const file = copy();
      const done = await type(command, run, { file, flags: { ...flags, call: 'ffffffffffff' } });
      expect(done.err).toMatch(
        /asks about the call [0-9a-f]{12} of "\w+", not about ffffffffffff.+INVALID_STATE/,
      );
      expect(done.exitCode).toBe(2);
      expect(await statusOf(file, run)).toBe('suspended');
    },
  );

  it.each(verdicts)('by $what is refused by a hash that is too short', async ({ command, run, flags }) => {
    const file = copy();
    const call7 = (await pendingCall(file, run)).slice(0, 7);
    const done = await type(command, run, { file, flags: { ...flags, call: call7 } });
    expect(done.err).toContain('--call must be the hash of a call');
    expect(done.exitCode).toBe(2);
    expect(await statusOf(file, run)).toBe('suspended');
  });

  it.each(verdicts.filter(({ what }) => what !== 'resume'))(
    'by $what in a script without --call does nothing, and says the exact command',
    async ({ what, command, run, flags }) => {
      const file = copy();
      const done = await type(command, run, { file, flags });
      const hash = await pendingCall(file, run);
      expect(done.err).toContain(`Type: rerail ${what} ${run} --call ${hash}`);
      expect(done.exitCode).toBe(23);
      expect(await statusOf(file, run)).toBe('suspended');
    },
  );

  it.each([
    { typed: 'y\n', paid: ['paid'], status: 'completed' },
    { typed: '\n', paid: [], status: 'suspended' },
    { typed: 'approve\n', paid: [], status: 'suspended' },
  ])('at a terminal is what is typed after the call was shown: $typed', async ({ typed, paid, status }) => {
    const file = copy();
    const done: string[] = [];
    const world: Partial<CliIo> = {
      isTerminal: { stdin: true, stdout: true, stderr: true },
      async *stdin() {
        yield Buffer.from(typed);
      },
    };
    const options = { tools: [pay(() => done.push('paid') && 'paid')] };
    const { out } = await type(approveWith, 'to-approve', { file, world, options });
    expect(out).toMatch(/"cents": 5[^]+Run exactly this, once\? \[y\/N\] /);
    expect(done).toEqual(paid);
    expect(await statusOf(file, 'to-approve')).toBe(status);
  });

  const cents = {
    type: 'object',
    properties: { cents: { type: 'integer', maximum: 9 } },
    required: ['cents'],
  };
  const payer = (paid: unknown[]): Tool =>
    tool({
      name: 'pay',
      description: 'Pays.',
      input: cents,
      permission: 'ask',
      execute: (input) => paid.push(input) && 'paid',
    });

  it.each([{ typed: '{"cents": 3}' }, { typed: '@arguments.json' }])(
    'runs the call with the arguments of --input $typed, and show has both',
    async ({ typed }) => {
      const file = copy();
      const paid: unknown[] = [];
      const flags = { call: await pendingCall(file, 'to-approve'), input: typed };
      const world = { readFile: () => Readable.from([Buffer.from('{"cents": 3}')]) };
      const options = { tools: [payer(paid)] };
      const done = await type(approveWith, 'to-approve', { file, flags, world, options });
      expect(done.out).toMatch(/"cents": 3[^]+The model asked for/);
      expect(done.exitCode).toBe(0);
      expect(paid).toEqual([{ cents: 3 }]);
      const shown = await perform(runShow, { args: ['to-approve'], flags: { store: file } });
      expect(shown.out).toMatch(/changed from\s+\{"cents":5\} to \{"cents":3\}/);
    },
  );

  it.each([
    { input: '{"cents": 30}', says: /Cannot approve the call of "pay"[^]+VALIDATION_ERROR/ },
    { input: '{"cents": 1e999}', says: /--input must be the arguments of the call/ },
    { input: '[1]', says: /--input must be the arguments of the call/ },
    { input: 'cents', says: /--input must be the arguments of the call/ },
  ])('refuses --input $input, and the question stays open', async ({ input, says }) => {
    const file = copy();
    const paid: unknown[] = [];
    const flags = { call: await pendingCall(file, 'to-approve'), input };
    const done = await type(approveWith, 'to-approve', { file, flags, options: { tools: [payer(paid)] } });
    expect(`${done.out}${done.err}`).toMatch(says);
    expect(paid).toEqual([]);
    expect(await statusOf(file, 'to-approve')).toBe('suspended');
  });

  it('opens the question again where --no-resume wrote down what does not fit', async () => {
    const file = copy();
    const paid: unknown[] = [];
    const flags = { call: await pendingCall(file, 'to-approve'), input: '{"cents": 30}', resume: false };
    await type(approveWith, 'to-approve', { file, flags });
    const options = { tools: [payer(paid)] };
    const resumed = await type(resumeWith, 'to-approve', { file, options });
    expect(resumed.exitCode).toBe(23);
    expect(paid).toEqual([]);
    expect(await statusOf(file, 'to-approve')).toBe('suspended');
  });

  it.each([
    { flags: { happened: true, result: '{"id":"p-8"}' }, tells: 'p-8' },
    { flags: { unknown: true }, tells: 'It is not known' },
  ])('settles a call in doubt: $tells', async ({ flags, tells }) => {
    const file = copy();
    const named = { ...flags, json: true, call: await pendingCall(file, 'in-doubt') };
    const done = await type(settleWith, 'in-doubt', { file, flags: named, options: { tools: [hang()] } });
    expect(done.exitCode).toBe(0);
    expect(done.out).toContain(tells);
  });

  it('of a run of another program is recorded, and that program reads it', async () => {
    const file = copy();
    const failure = createFailure('NOT_REGISTERED', { message: 'of another program' });
    const seam: AgentSeam = {
      ...fakeSeam({ file }),
      runBelongsHere: () => Promise.resolve({ type: 'elsewhere', error: RerailError.from(failure) }),
    };
    const flags = { happened: true, result: 'paid, no. 8', call: await pendingCall(file, 'in-doubt') };
    const done = await perform((given, io) => settleWith(seam, given, io), { args: ['in-doubt'], flags });
    expect(done.out).toContain('Recorded: happened.');
    const stories = openStories(file);
    stories.clock.move(4_000_000);
    const outcome = await stories.agent(['Done.'], { tools: [hang()] }).resume('in-doubt');
    expect(outcome).toMatchObject({ type: 'completed' });
    expect(JSON.stringify(outcome.messages)).toContain('paid, no. 8');
    await stories.close();
  });

  it.each([
    { flags: {}, says: /Say one thing about the call/ },
    { flags: { happened: true, unknown: true }, says: /Say one thing about the call/ },
    { flags: { unknown: true, result: 'x' }, says: /--result belongs to --happened/ },
  ])('that says nothing, or too much, is refused: $says', async ({ flags, says }) => {
    const done = await type(settleWith, 'in-doubt', { flags });
    expect(done.err).toMatch(says);
    expect(done.exitCode).toBe(2);
  });
});

describe('rerail cancel', () => {
  it('cancels a run that waits, and says how to resume it', async () => {
    const file = copy();
    const done = await type(cancelWith, 'to-approve', { file, flags: { reason: 'not needed' } });
    expect(done.out).toBe('Cancelled. What was done stays done. To resume it: rerail resume to-approve\n');
    expect(await statusOf(file, 'to-approve')).toBe('cancelled');
    const again = await type(cancelWith, 'to-approve', { file });
    expect(again.out).toMatch(/was cancelled already/);
    expect([done.exitCode, again.exitCode]).toEqual([0, 0]);
  });

  it('is refused for a run of another workspace, and says where it belongs and what to type', async () => {
    const file = copy();
    const done = await perform((given, io) => cancelWith(elsewhere(file), given, io), {
      args: ['to-approve'],
    });
    expect(done.out).toBe('');
    expect(done.err).toMatch(
      /belongs to the workspace "\/the other".+Type: rerail cancel to-approve --workspace '\/the other' \(PATH_OUTSIDE_WORKSPACE\)/,
    );
    expect(done.exitCode).toBe(24);
    expect(await phaseOf(file, 'to-approve')).toBe('suspended');
  });

  it('says that another process will cancel it', async () => {
    const file = copy();
    const store = sqlite(file, { clock: clockAt(laterMs) });
    await store.runs.claim('interrupted', { id: 'somebody-else', leaseMs: 1e12 });
    const done = await type(cancelWith, 'interrupted', { file });
    expect(done.out).toMatch(
      /Another process \(somebody-else\) runs "interrupted"\. It receives the request within 5 s/,
    );
    expect((await store.runs.signals('interrupted')).map(({ name }) => name)).toEqual(['cancel']);
    await store.close();
  });
});

function clockAt(wallMs: number) {
  return { wallMs: () => wallMs, monotonicMs: () => 0, after: () => () => undefined };
}

describe('a run whose process died', () => {
  it('resumes where it was, and a call that may have happened is asked about', async () => {
    const file = path.join(folder, 'dead.db');
    const stories = openStories(file);
    await abandon(stories, 'dead');
    const done = await type(resumeWith, 'dead', { file, options: { tools: [hang()] } });
    expect(done.out).toMatch(/rerail settle dead --call [0-9a-f]{12} --happened\n/);
    expect(done.exitCode).toBe(23);
    await stories.close();
  });
});
