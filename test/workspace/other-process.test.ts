import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAgent, createWorker } from '../../src/index.ts';
import type { Agent, Message, RunOutcome } from '../../src/index.ts';
import { memoryStore } from '../../src/testing/memory-store.ts';
import type { MemoryStore } from '../../src/testing/memory-store.ts';
import { scriptedModel, seededRandom } from '../../src/testing/index.ts';
import type { ScriptedAnswer, ScriptStep } from '../../src/testing/index.ts';
import { openWorkspace } from '../../src/tools/workspace/open-workspace.ts';
import { workspaceTools } from '../../src/tools/workspace/workspace-tools.ts';
import type { Json } from '../../src/base/json.ts';
import { temporaryWorkspace } from './temporary-workspace.ts';
import type { TemporaryWorkspace } from './temporary-workspace.ts';

// What a run has read of a file is known to whoever carries it on: the store in memory stands for the disk, and each process opens the
// workspace anew.

let place: TemporaryWorkspace;
let store: MemoryStore;

beforeEach(async () => {
  place = await temporaryWorkspace({ 'a.ts': 'one\ntwo\n', 'b.ts': 'other\n' });
  store = memoryStore();
});
afterEach(() => place.remove());

/** Another process with the same code. */
async function live(script: readonly ScriptStep[], handle = store.reopen()): Promise<Agent> {
  const workspace = await openWorkspace(place.workspace.root);
  return createAgent({
    name: 'editor',
    random: seededRandom(7),
    model: scriptedModel(script),
    tools: workspaceTools(workspace, { shell: false, fetch: false }),
    store: handle,
  });
}

type Call = readonly [name: string, input: Readonly<Record<string, Json>>];

function calling(...calls: readonly Call[]): ScriptedAnswer {
  return { toolCalls: calls.map(([name, input]) => ({ name, arguments: input })) };
}

const read = (path: string): Call => ['read_file', { path }];
const edit = (oldText: string, newText: string): Call => [
  'edit_file',
  { path: 'a.ts', edits: [{ oldText, newText }] },
];
const overwrite: Call = ['write_file', { path: 'a.ts', content: 'all new\n' }];

const resume = (agent: Agent, answer?: boolean): Promise<RunOutcome> =>
  agent.resume('r1', answer === undefined ? {} : { answer });

function lastResult(messages: readonly Message[]): unknown {
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
  return results.at(-1)?.content;
}

/** A run that has read a file and waits for a yes to a change. */
async function asked(...calls: readonly Call[]): Promise<void> {
  const agent = await live([calling(read('a.ts')), calling(...calls)]);
  const outcome = await agent.run('Change it.', { runId: 'r1' });
  expect(outcome).toMatchObject({ type: 'suspended', reason: 'approval' });
}

const content = (): string => readFileSync(place.at('a.ts'), 'utf8');

describe('a change that another process makes', () => {
  it.each([
    { what: 'an edit', call: edit('two', 'TWO') },
    { what: 'a file that is written over', call: overwrite },
  ])('is refused where the file has changed since: $what', async ({ call }) => {
    await asked(call);
    writeFileSync(place.at('a.ts'), 'one\ntwo\nand mine\n');
    const outcome = await resume(await live(['Done.']), true);
    expect(lastResult(outcome.messages)).toMatch(/it has changed since it was read; read it again/);
    expect(content()).toBe('one\ntwo\nand mine\n');
  });

  it('is refused where the run has read another file only', async () => {
    const agent = await live([calling(read('b.ts')), calling(overwrite)]);
    await agent.run('Change it.', { runId: 'r1' });
    const outcome = await resume(await live(['Done.']), true);
    expect(lastResult(outcome.messages)).toMatch(/has not been read/);
    expect(content()).toBe('one\ntwo\n');
  });

  it.each([
    { what: 'an edit', call: edit('two', 'TWO'), after: 'one\nTWO\n' },
    { what: 'a file that is written over', call: overwrite, after: 'all new\n' },
  ])('goes on from what the run has read: $what', async ({ call, after }) => {
    await asked(call);
    const outcome = await resume(await live(['Done.']), true);
    expect(outcome.type).toBe('completed');
    expect(content()).toBe(after);
  });

  it('is made by a worker once the yes is written down', async () => {
    await asked(edit('two', 'TWO'));
    const row = await store.runs.find('r1');
    const payload = { answer: { given: true, value: { approved: true } }, wallMs: Date.now() };
    await store.runs.signal('r1', { id: `resume:${row?.headSeq}`, name: 'resume', payload });
    const handle = store.reopen();
    const worker = createWorker([await live(['Done.'], handle)], handle, { signals: false });
    await worker.start();
    await worker.idle();
    await worker.stop();
    expect(content()).toBe('one\nTWO\n');
  });

  it('goes on from a change that yet another one has made', async () => {
    await asked(edit('one', 'ONE'), edit('two', 'TWO'));
    expect(await resume(await live([]), true)).toMatchObject({ type: 'suspended', reason: 'approval' });
    expect(await resume(await live(['Done.']), true)).toMatchObject({ type: 'completed' });
    expect(content()).toBe('ONE\nTWO\n');
  });

  it('needs no second look after the first process was killed', async () => {
    const handle = store.reopen();
    const killed = new Promise<void>((resolve) => {
      const die = (): string => {
        handle.kill();
        resolve();
        return 'nobody hears of it';
      };
      void live([calling(read('a.ts')), die], handle).then((first) =>
        first.run('Change it.', { runId: 'r1' }),
      );
    });
    await killed;
    const second = await live([calling(overwrite)]);
    expect(await resume(second)).toMatchObject({ type: 'suspended', reason: 'approval' });
    expect(await resume(await live(['Done.']), true)).toMatchObject({ type: 'completed' });
    expect(content()).toBe('all new\n');
  });
});
