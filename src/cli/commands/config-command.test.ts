import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createConfigWorld } from '../../../test/cli/config-world.ts';
import { runConfig } from './config-command.ts';
import { configSpec } from '../specs/config-spec.ts';
import { runInit } from './init-command.ts';
import { initSpec } from '../specs/init-spec.ts';
import { parseCommandLine } from '../start/parse-command-line.ts';
import { settingFlagsOf } from '../specs/shared-options.ts';
import { trustSpec } from '../specs/trust-spec.ts';
import { runTrust } from './trust-command.ts';

const key = `sk-ant-api03-${'d'.repeat(90)}`;

describe('rerail config', () => {
  it('shows every value with where it came from, and no key', async () => {
    const world = createConfigWorld({ env: { ANTHROPIC_API_KEY: key } });
    world.write('rerail.config.json', '{\n"limits": { "maxTurns": 7 },\n"instructions": "Be brief." }');
    await world.trust();
    expect(await world.run(runConfig, { store: 'a.db', fetch: true })).toBe(0);
    expect(world.out()).toMatch(
      /^Workspace: .*shop\nModel: anthropic:claude-sonnet-5, because ANTHROPIC_API_KEY is set\.\n\n/,
    );
    expect(world.out()).toMatch(/^store +a\.db {2}\(flag --store\)$/m);
    expect(world.out()).toMatch(/^limits\.maxTurns +7 {2}\(rerail\.config\.json:2\)$/m);
    expect(world.out()).toMatch(/^instructions +Be brief\. {2}\(rerail\.config\.json:3\)$/m);
    expect(world.out()).toMatch(/^fetch +true$/m);
    expect(world.out()).not.toContain('ddddd');
  });

  it('prints one JSON object', async () => {
    const world = createConfigWorld({ env: { ANTHROPIC_API_KEY: key } });
    world.write('rerail.config.ts', 'export default {};');
    await world.run(runConfig, { json: true });
    expect(JSON.parse(world.out())).toMatchObject({
      workspace: world.workspace,
      model: 'Model: anthropic:claude-sonnet-5, because ANTHROPIC_API_KEY is set.',
      notices: [expect.stringMatching(/^rerail\.config\.ts was found and not used/)],
    });
    expect(world.out()).toContain('{"path":"fetch","value":"true","from":"default"}');
  });
});

describe('rerail init', () => {
  it.each([
    { flags: {}, file: 'rerail.config.ts' },
    { flags: { json: true }, file: 'rerail.config.json' },
  ])('writes $file, which is used at once and has no fault', async ({ flags, file }) => {
    const world = createConfigWorld();
    expect(await world.run(runInit, flags)).toBe(0);
    expect(world.out()).toMatch(`Wrote ${file}.\nWrote rerail-agent.ts.\n`);
    expect(world.out()).toMatch('  rerail trust ');
    const { limits, protect, permissions, notices } = await world.load();
    expect({ limits, protect, permissions, notices }).toEqual({
      limits: { maxTurns: 50, maxCostUsd: 5 },
      protect: ['.env'],
      permissions: [{ tool: 'fetch', permission: 'ask' }],
      notices: [],
    });
  });

  it('never writes over a file, nor through a link', async () => {
    const world = createConfigWorld();
    world.write('rerail.config.mjs', 'mine');
    symlinkSync(path.join(world.folder, 'elsewhere.ts'), path.join(world.workspace, 'rerail-agent.ts'));
    expect(await world.run(runInit)).toBe(0);
    expect(world.out()).toMatch(
      'rerail.config.mjs is there already and was left as it is.\nrerail-agent.ts is there already',
    );
    expect(readFileSync(path.join(world.workspace, 'rerail.config.mjs'), 'utf8')).toBe('mine');
    expect(existsSync(path.join(world.workspace, 'rerail.config.ts'))).toBe(false);
    expect(existsSync(path.join(world.folder, 'elsewhere.ts'))).toBe(false);
  });

  it('says where it cannot write', async () => {
    const world = createConfigWorld();
    await expect(world.run(runInit, { workspace: 'nowhere' })).rejects.toMatchObject({
      code: 'CONFIG_ERROR',
    });
  });

  it('asks for trust again after a change', async () => {
    const world = createConfigWorld();
    await world.run(runInit);
    world.write('rerail.config.ts', 'export default { fetch: false };');
    expect((await world.load()).notices).toHaveLength(1);
    await world.run(runTrust, { yes: true });
    expect((await world.load()).canFetch).toBe(false);
  });

  it('writes an example agent that runs without a key', async () => {
    const world = createConfigWorld();
    await world.run(runInit);
    const agent = readFileSync(path.join(world.workspace, 'rerail-agent.ts'), 'utf8');
    const quiet = agent.replace(
      /console\.log\(.*\);\n$/,
      'export default { instructions: outcome.type, fetch: false };\n',
    );
    const file = world.write('as-config.ts', quiet);
    expect(
      (await world.load({ config: file })).origins.find((origin) => origin.path === 'instructions')?.value,
    ).toBe('completed');
  });
});

describe('the specifications of config, init and trust', () => {
  it.each([configSpec, initSpec, trustSpec])(
    '$name loads its command, and its examples begin with its name',
    async ({ name, examples, load }) => {
      expect(await load()).toBeTypeOf('function');
      expect(examples.map(({ line }) => line.startsWith(`rerail ${name}`))).not.toContain(false);
    },
  );

  it('are read by the parser as the settings want them', () => {
    const argv =
      'config --model a:b --model c:d,e:f --no-fetch --sandbox off --workspace w --config none --store s';
    const asked = parseCommandLine(argv.split(' '), [configSpec]);
    expect(asked.type === 'command' ? settingFlagsOf(asked.given) : asked).toEqual({
      model: ['a:b', 'c:d,e:f'],
      config: 'none',
      store: 's',
      workspace: 'w',
      sandbox: 'off',
      fetch: false,
    });
  });

  it('say nothing where nothing was typed', () => {
    const values = Object.values(settingFlagsOf({ flags: { other: 1 } }));
    expect(values.filter((value) => value !== undefined)).toEqual([]);
  });
});
