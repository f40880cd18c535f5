import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createConfigWorld } from '../../../test/cli/config-world.ts';
import type { ConfigWorld } from '../../../test/cli/config-world.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { agentNameOf, runBelongsHere } from '../config/workspace-names.ts';
import type { RunPlace } from '../config/workspace-names.ts';
import { openAgent } from './open-agent.ts';
import type { OpenAgentOptions, OpenedAgent } from './open-agent.ts';

async function open(world: ConfigWorld, options: OpenAgentOptions = {}): Promise<OpenedAgent> {
  const settings = await world.load();
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? 'It says hello.'
      : { toolCalls: [{ name: 'read_file', arguments: { path: 'a.txt' } }] },
  );
  const opened = await openAgent({ ...settings, models: [{ name: 'scripted', model }] }, options);
  onTestFinished(() => opened.close());
  return opened;
}

function textOf(place: RunPlace): string {
  return place.type === 'here' ? 'here' : `${place.error.code}: ${place.error.message}`;
}

describe('a store that is a folder', () => {
  it('is refused, with the file that may be meant, and nothing is written beside it', async () => {
    const world = createConfigWorld();
    const folder = path.join(world.folder, 'kept');
    mkdirSync(folder);
    const settings = await world.load({ store: folder });
    await expect(openAgent(settings)).rejects.toMatchObject({
      code: 'CONFIG_ERROR',
      message: expect.stringContaining('is a folder') as string,
    });
    expect(existsSync(`${folder}-workspaces.json`)).toBe(false);
  });
});

describe('a run of another workspace (U06)', () => {
  it('is recognised, and the other workspace is named', async () => {
    const world = createConfigWorld();
    world.write('a.txt', 'hello');
    const { agent, store } = await open(world);
    const { runId } = await agent.run('What does a.txt say?');
    const row = await store.runs.find(runId);
    expect(row?.agent).toMatch(/^rerail:shop-[0-9a-f]{8}$/);
    const known = row ?? { runId, agent: '' };
    expect(await runBelongsHere(known, await world.load())).toEqual({ type: 'here' });
    const other = path.join(world.folder, 'blog');
    mkdirSync(other);
    const elsewhere = await runBelongsHere(known, await world.load({ workspace: other }));
    expect(elsewhere).toMatchObject({
      type: 'elsewhere',
      error: {
        code: 'PATH_OUTSIDE_WORKSPACE',
        message: `Run ${runId} belongs to the workspace "${world.workspace}", not to "${other}"`,
        failure: { hint: `Type: cd "${world.workspace}"` },
      },
    });
  });

  it('is recognised where the other workspace is no longer known, and where another program made it', async () => {
    const world = createConfigWorld();
    const settings = await world.load();
    const gone = await runBelongsHere({ runId: 'r1', agent: 'rerail:shop-00000000' }, settings);
    expect(textOf(gone)).toMatch(
      /^PATH_OUTSIDE_WORKSPACE: Run r1 belongs to another workspace \("shop-00000000"\)/,
    );
    const foreign = await runBelongsHere({ runId: 'r1', agent: 'support\u001b' }, settings);
    expect(textOf(foreign)).toMatch(
      /^NOT_REGISTERED: Run r1 was begun by the agent "support<U\+001B>" of another program/,
    );
  });

  it('has a name by the path, not only by the folder', () => {
    expect(agentNameOf('/a/shop')).not.toBe(agentNameOf('/b/shop'));
  });
});

describe('openAgent()', () => {
  it('has a failure explained only where the configuration requests it', async () => {
    const said =
      '{"summary": "It failed.", "claims": [{ "text": "It failed.", "facts": [1] }], "nextSteps": []}';
    const explained = async (config: string): Promise<string | undefined> => {
      const world = createConfigWorld();
      world.write('rerail.config.json', config);
      await world.trust();
      const model = scriptedModel([{ failure: 'INVALID_REQUEST' }, said]);
      const opened = await openAgent({ ...(await world.load()), models: [{ name: 'scripted', model }] });
      onTestFinished(() => opened.close());
      const outcome = await opened.agent.run('Go.');
      return outcome.type === 'failed' ? outcome.report.explanation?.summary : outcome.type;
    };
    expect(await explained('{}')).toBeUndefined();
    expect(await explained('{ "explain": "auto" }')).toBe('It failed.');
  });

  it('works in the workspace, and keeps its runs privately in the state folder', async () => {
    const world = createConfigWorld();
    world.write('a.txt', 'hello');
    const events: string[] = [];
    const { agent, settings, workspace } = await open(world, {
      onEvent: ({ type }) => void events.push(type),
    });
    const outcome = await agent.run('What does a.txt say?');
    expect(outcome).toMatchObject({ type: 'completed', text: 'It says hello.' });
    expect(JSON.stringify(outcome.messages)).toMatch('hello');
    expect(workspace.root).toBe(world.workspace);
    expect(events).toContain('tool-finished');
    expect(settings.storeFile).toBe(path.join(world.home, '.local', 'state', 'rerail', 'runs.db'));
    expect(existsSync(settings.storeFile)).toBe(true);
    expect(statSync(`${settings.storeFile}-workspaces.json`).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(`${settings.storeFile}-workspaces.json`, 'utf8'))).toEqual({
      version: 1,
      workspaces: { [agent.name]: world.workspace },
    });
  });

  it('hands over the tools of the workspace, without fetch where it was forbidden, and those of the configuration', async () => {
    const world = createConfigWorld();
    const settings = await world.load({ fetch: false });
    const names: string[] = [];
    const model = scriptedModel(({ tools = [] }) => {
      names.push(...tools.map(({ name }) => name));
      return 'done';
    });
    const opened = await openAgent({ ...settings, models: [{ name: 'scripted', model }] });
    onTestFinished(() => opened.close());
    await opened.agent.run('Hello');
    expect(names).toEqual(
      expect.arrayContaining([
        'read_file',
        'write_file',
        'edit_file',
        'list_files',
        'find_files',
        'search_files',
        'shell',
      ]),
    );
    expect(names).not.toContain('fetch');
  });

  it('gives a structured answer where a schema was handed in', async () => {
    const world = createConfigWorld();
    const settings = await world.load();
    const model = scriptedModel(() => '{"count": 3}');
    const outputSchema = {
      type: 'object',
      properties: { count: { type: 'number' } },
      required: ['count'],
    } as const;
    const opened = await openAgent(
      { ...settings, models: [{ name: 'scripted', model }] },
      { outputSchema, extraInstructions: 'Count.', loadTools: () => Promise.resolve([]) },
    );
    onTestFinished(() => opened.close());
    expect(await opened.agent.run('How many?')).toMatchObject({ type: 'completed', output: { count: 3 } });
  });
});
