import { callHash } from '../../src/agent/approval/call-hash.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cancelWith } from '../../src/cli/commands/cancel-command.ts';
import { explainWith } from '../../src/cli/commands/explain-command.ts';
import { runRuns } from '../../src/cli/commands/runs-command.ts';
import { runShow } from '../../src/cli/commands/show-command.ts';
import { answerCall } from '../../src/cli/run-reading/answer-call.ts';
import { runWhy } from '../../src/cli/commands/why-command.ts';
import type { CommandRun } from '../../src/cli/specs/command-spec.ts';
import { flow } from '../../src/flow/flow.ts';
import { handOff } from '../../src/flow/hand-off.ts';
import { team } from '../../src/flow/team.ts';
import { createAgent } from '../../src/runtime/create-agent.ts';
import type { Agent } from '../../src/runtime/create-agent.ts';
import { createGates } from '../../src/runtime/model-call/gates.ts';
import { sqlite } from '../../src/storage/sqlite/sqlite.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import type { ScriptStep } from '../../src/testing/scripted-model.ts';
import { tool } from '../../src/tools/tool.ts';
import { perform } from './fake-io.ts';
import type { Done } from './fake-io.ts';
import { fakeSeam } from './fake-seam.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'rerail-flow-runs-'));
const store = path.join(folder, 'runs.db');

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pay = tool({
  name: 'pay',
  description: 'Pays.',
  input: { type: 'object' },
  permission: 'ask',
  execute: () => 'paid',
});
const payOnce: ScriptStep = { toolCalls: [{ name: 'pay', arguments: { cents: 5 } }] };
const passOn: ScriptStep = { toolCalls: [{ name: 'hand_off', arguments: { to: 'till', reason: 'money' } }] };
const giveJobs: ScriptStep = {
  toolCalls: [
    { name: 'finder', arguments: { task: 'Find it.' } },
    { name: 'reader', arguments: { task: 'Read it.' } },
  ],
};

const agent = (script: readonly ScriptStep[], tools = [pay].slice(1)): Agent<unknown> =>
  createAgent({ tools, gates: createGates(), model: scriptedModel(script) });

/** A flow that waits, one that failed, a hand-off that waits, and a team that is done. */
beforeAll(async () => {
  const kept = sqlite(store);
  const reader = (): Agent<unknown> => agent(['Five cents are due.']);
  const bill = flow('read >> settle >> tell', {
    name: 'bill',
    agents: { read: reader(), settle: agent([payOnce], [pay]), tell: agent(['Told.']) },
    nodes: { read: { when: () => true } },
    store: kept,
  });
  await bill.run('Pay the bill', { runId: 'waiting' });
  const broken = flow('read >> (skipped | tell)', {
    name: 'letter',
    agents: { read: reader(), skipped: agent([]), tell: agent([{ failure: 'INVALID_REQUEST' }]) },
    nodes: { skipped: { when: () => false } },
    store: kept,
  });
  await broken.run('Write a letter', { runId: 'failed' });
  const counter = handOff({
    name: 'counter',
    agents: { desk: agent([passOn]), till: agent([payOnce], [pay]) },
    start: 'desk',
    store: kept,
  });
  await counter.run('Pay my bill', { runId: 'handed' });
  const lead = createAgent({
    name: 'lead',
    store: kept,
    gates: createGates(),
    model: scriptedModel([giveJobs, 'Both are done.']),
  });
  await team({ lead, agents: { finder: agent(['Found.']), reader: reader() } }).run('Go', {
    runId: 'teamed',
  });
  await kept.close();
}, 60_000);

const at = (
  run: CommandRun,
  args: readonly string[],
  flags: Readonly<Record<string, unknown>> = {},
): Promise<Done> => perform(run, { args: [...args], flags: { store, ...flags } }, { now: () => Date.now() });

describe('rerail runs, where runs have child runs', () => {
  it('lists only those without a parent', async () => {
    const { out } = await at(runRuns, []);
    expect(out).toContain('waiting');
    expect(out).not.toMatch(/(waiting|failed|handed|teamed)\/|^ *\//m);
  });

  it('lists all of them under those that they belong to', async () => {
    const { out } = await at(runRuns, [], { all: true });
    const names = out
      .split('\n')
      .slice(1, -3)
      .map((line) => line.split(/ {2,}(?=\S)/).find((cell) => cell.trim() !== ''));
    expect(names.slice(0, 4).map((name) => name?.trim())).toEqual([
      'teamed',
      '/finder-1-call_0_0',
      '/reader-1-call_0_1',
      'handed',
    ]);
    expect(out).toMatch(/^waiting .+\n {2}\/read .+\n {2}\/settle .+$/m);
  });

  it('lists those below one, with their whole names', async () => {
    const { out } = await at(runRuns, [], { below: 'waiting' });
    expect(out).toMatch(/^waiting\/settle .+\nwaiting\/read /m);
    expect(out).not.toContain('failed/');
  });

  it('gives a program the whole ids', async () => {
    const { out } = await at(runRuns, [], { below: 'handed', json: true });
    expect(out).toContain('"runId":"handed/0-desk"');
  });
});

describe('rerail show', () => {
  it('finds a flow by its first letters, for the runs below it have those too', async () => {
    const { out } = await at(runShow, ['wait']);
    expect(out).toContain('waiting of agent bill');
  });

  it('shows the nodes of a flow, what became of them, and their runs', async () => {
    const { out } = await at(runShow, ['waiting']);
    expect(out).toMatch(/^Nodes\n {2}read +succeeded \(run waiting\/read\): Five cents are due\.$/m);
    expect(out).toMatch(/^ {2}settle +waits \(run waiting\/settle\)/m);
    expect(out).toMatch(/^ {2}tell +not reached$/m);
    expect(out).toContain('Node settle waits for approval by a person (run waiting/settle)');
    expect(out).toContain('Step 2');
    expect(out).not.toMatch(/Turn|model|tool call|\{"do"/);
  });

  it('shows the nodes in the order of the outcome, whatever ended first', async () => {
    const kept = sqlite(store);
    const slow = tool({
      name: 'slow',
      description: 'Is slow.',
      input: { type: 'object' },
      execute: () => sleep(30, 'done'),
    });
    const wide = flow('(late | early) >> last', {
      name: 'wide',
      agents: {
        late: agent([{ toolCalls: [{ name: 'slow' }] }, 'Late.'], [slow]),
        early: agent(['Early.']),
        last: agent([{ failure: 'INVALID_REQUEST' }]),
      },
      store: kept,
    });
    const { nodes = [] } = await wide.run('Go', { runId: 'wide' });
    await kept.close();
    const { out } = await at(runShow, ['wide'], { json: true });
    const shown = (JSON.parse(out) as { readonly nodes: readonly { readonly name: string }[] }).nodes;
    expect(shown.map(({ name }) => name)).toEqual(['late', 'early', 'last']);
    expect(shown.map(({ name }) => name)).toEqual(nodes.map(({ name }) => name));
  });

  it('shows what was skipped and what failed', async () => {
    const { out } = await at(runShow, ['failed']);
    expect(out).toMatch(/^ {2}skipped +skipped: /m);
    expect(out).toMatch(/^ {2}tell +failed \(run failed\/tell\): INVALID_REQUEST/m);
    expect(out).toContain('Now: skipped, tell, side by side');
    expect(out).toContain('Node skipped was skipped: ');
  });

  it('shows who passed a conversation on', async () => {
    const { out } = await at(runShow, ['handed']);
    expect(out).toMatch(/^ {2}desk +succeeded \(run handed\/0-desk\): passed on to till: money$/m);
    expect(out).toMatch(/Node desk passed the conversation on to till .+: money/);
  });

  it('shows the jobs of a team beside the calls of its lead', async () => {
    const { out } = await at(runShow, ['teamed']);
    expect(out).toMatch(
      /^Jobs given to others\n {2}finder +succeeded \(run teamed\/finder-1-call_0_0\): Found\.$/m,
    );
    expect(out).toContain('called finder, reader');
    expect(out).toContain('Turn 1');
  });

  it('shows a run below by its name', async () => {
    const { out } = await at(runShow, ['waiting/settle']);
    expect(out).toContain('waiting/settle of agent bill/settle');
    expect(out).toContain('called pay');
  });

  it('has the nodes for programs', async () => {
    const { out } = await at(runShow, ['waiting'], { json: true });
    const { nodes, isConducted } = JSON.parse(out) as { nodes: readonly unknown[]; isConducted: boolean };
    expect(isConducted).toBe(true);
    expect(nodes[1]).toMatchObject({ name: 'settle', status: 'waiting', runId: 'waiting/settle' });
  });
});

describe('what to do about a flow that waits', () => {
  it.each([{ run: 'waiting' }, { run: 'waiting/settle' }])(
    'is said of the flow, seen from $run',
    async ({ run }) => {
      const { out } = await at(runShow, [run]);
      const hash = callHash({ name: 'pay', input: { cents: 5 } }).slice(0, 12);
      expect(out).toContain(`rerail approve waiting --call ${hash} --no-resume --store ${store}`);
      expect(out).toContain(`rerail reject waiting --call ${hash} --reason "…" --no-resume --store ${store}`);
    },
  );

  it('is never to resume it here, where its code is not: what it asks is answered in its program', async () => {
    const kept = sqlite(store);
    const doubts = tool({
      name: 'doubts',
      description: 'Is never done.',
      input: { type: 'object' },
      timeoutMs: 10,
      execute: () => sleep(2000, 'late'),
    });
    await flow('settle', {
      name: 'doubtful',
      agents: { settle: agent([{ toolCalls: [{ name: 'doubts' }] }], [doubts]) },
      policy: { inDoubt: 'ask' },
      store: kept,
    }).run('Pay', { runId: 'doubted' });
    await kept.close();
    const { out } = await at(runWhy, ['doubted']);
    expect(out).toMatch(/rerail settle doubted --call [0-9a-f]{12} --happened --no-resume/);
    expect(out).toMatch(/rerail settle doubted --call [0-9a-f]{12} --did-not-happen --no-resume/);
    expect(out).not.toContain('rerail resume');
  });

  it.each([{ run: 'failed' }, { run: 'failed/tell' }])(
    'is to go on with it in its program where it failed, seen from $run',
    async ({ run }) => {
      const { out } = await at(runWhy, [run]);
      expect(out).toContain('await agent.resume("failed")');
      expect(out.replaceAll(/\s+/g, ' ')).toContain('in the program that has the agent "letter"');
      expect(out).not.toContain('rerail resume');
    },
  );

  it('is recorded by approve, and the flow resumes with it', async () => {
    const kept = sqlite(store);
    const paid: ScriptStep = ({ messages }) => (messages.at(-1)?.role === 'tool' ? 'Paid.' : payOnce);
    const make = (): Agent<unknown> =>
      flow('settle', { name: 'till', agents: { settle: agent([paid, paid], [pay]) }, store: kept });
    await make().run('Pay', { runId: 'approved' });
    const approve: CommandRun = (given, io) =>
      answerCall({ seam: fakeSeam({ file: store }), io, verdict: 'yes' }, given);
    const { out, err } = await at(approve, ['approved'], {
      noResume: true,
      call: callHash({ name: 'pay', input: { cents: 5 } }),
    });
    expect({ err, out }).toMatchObject({
      err: '',
      out: expect.stringMatching(
        /^Recorded: yes\. A worker of its program .+: await agent\.resume\("approved"\)$/m,
      ) as string,
    });
    expect(await make().resume('approved')).toMatchObject({ type: 'completed', text: 'Paid.' });
    await kept.close();
  });

  it('is to end it, with the runs below it', async () => {
    const kept = sqlite(store);
    const make = (): Agent<unknown> =>
      flow('settle', { name: 'till', agents: { settle: agent([payOnce], [pay]) }, store: kept });
    await make().run('Pay', { runId: 'unwanted' });
    const cancel: CommandRun = (given, io) => cancelWith(fakeSeam({ file: store }), given, io);
    const { out } = await at(cancel, ['unwanted']);
    expect(out).toContain('the next worker will end the run "unwanted"');
    expect(await make().resume('unwanted')).toMatchObject({ type: 'cancelled' });
    expect((await kept.runs.find('unwanted/settle'))?.status).toBe('cancelled');
    await kept.close();
  });

  it('is not done to a run below it', async () => {
    const approve: CommandRun = (given, io) =>
      answerCall({ seam: fakeSeam({ file: store }), io, verdict: 'yes' }, given);
    const { err, exitCode } = await at(approve, ['waiting/settle']);
    expect(err).toContain('The run "waiting/settle" is a child of "waiting"');
    expect(err).toContain('Type: rerail approve waiting');
    expect(exitCode).toBe(2);
  });
});

describe('rerail why and explain', () => {
  it('say whose question it is', async () => {
    const { out } = await at(runWhy, ['waiting']);
    expect(out).toContain('It waits for approval of this: pay {"cents":5}');
    expect(out).toMatch(/The node that waits is settle, run waiting\/settle\. \[events? \d/);
    expect(out).not.toMatch(/\bmodel\b/);
  });

  it('say by which node a flow failed, and where its record is', async () => {
    const { out } = await at(runWhy, ['failed']);
    expect(out.replaceAll(/\s+/g, ' ')).toMatch(
      /It failed after 3 steps, because the node tell did: INVALID_REQUEST.+Its own record is run failed\/tell\./,
    );
  });

  it('say that it is the nodes that ask models', async () => {
    const { out } = await at(runWhy, ['failed', 'model']);
    expect(out.replaceAll(/\s+/g, ' ')).toContain('It asks no model itself: the runs of its nodes do');
  });

  it('explain a flow in terms of nodes', async () => {
    const explain: CommandRun = (given, io) => explainWith(fakeSeam({ file: store }), given, io);
    const { out } = await at(explain, ['failed']);
    expect(out).toContain('tell');
    expect(out).not.toMatch(/tool "?(read|tell|skipped)/);
  });

  it('say of a node what is on its record, and of a skipped one nothing that it did', async () => {
    const explain: CommandRun = (given, io) => explainWith(fakeSeam({ file: store }), given, io);
    const { out } = await at(explain, ['failed'], { static: true });
    const text = out.replaceAll(/\s+/g, ' ');
    expect(text).toContain('- read: once. What it finished is on its own record');
    expect(text).toContain('What was finished (read) is on record and is not done again');
    expect(text).not.toMatch(/may have changed something|not done twice|skipped: once/);
  });
});
