import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAgent } from '../../src/index.ts';
import type { PermissionRule } from '../../src/index.ts';
import { simulated } from '../../src/providers/simulated/index.ts';
import { openWorkspace, workspaceTools } from '../../src/tools/workspace/index.ts';

// The embedded model with the tools of a workspace: real files, and a real run of their tests.

type Files = Readonly<Record<string, string>>;

const allowed: readonly PermissionRule[] = [
  { tool: 'shell', permission: 'allow' },
  { tool: 'edit_file', permission: 'allow' },
];

interface Fixed {
  readonly answer: string;
  readonly tools: readonly string[];
  readonly files: Files;
}

async function fix(files: Files, permissions = allowed, prompt = plea): Promise<Fixed> {
  const folder = await mkdtemp(path.join(tmpdir(), 'rerail-fix-test-'));
  try {
    for (const [name, content] of Object.entries({ 'package.json': '{"type":"module"}', ...files })) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), content);
    }
    const tools: string[] = [];
    const agent = createAgent({
      model: simulated(),
      tools: workspaceTools(await openWorkspace(folder), { fetch: false }),
      policy: { permissions },
      limits: { maxTurns: 40 },
      callbacks: { onEvent: (event) => void (event.type === 'tool-started' && tools.push(event.name)) },
    });
    const outcome = await agent.run(prompt);
    const after = await Promise.all(
      Object.keys(files).map(
        async (name) => [name, await readFile(path.join(folder, name), 'utf8')] as const,
      ),
    );
    return {
      answer: outcome.type === 'completed' ? outcome.text : outcome.type,
      tools,
      files: Object.fromEntries(after),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

// The file by itself: a runner around it would take twice as long.
const plea = 'The tests fail (`node test/it.test.js`). Find out why and fix it.';
const program = (source: string, name: string, check: string): Files => ({
  'src/it.js': source,
  'test/it.test.js': `import { test } from 'node:test';\nimport assert from 'node:assert/strict';\nimport { ${name} } from '../src/it.js';\n\ntest('${name}', () => {\n  ${check}\n});\n`,
});

const sum = program(
  'export function sum(a, b) {\n  return a - b;\n}\n',
  'sum',
  'assert.equal(sum(2, 3), 5);',
);

describe('the embedded model, asked to fix tests', { timeout: 60_000 }, () => {
  it('gives up after a bound, says so, and leaves the files as they were', async () => {
    const source = 'export function parse(text, a, b) {\n  if (a > b) return a + b;\n  return text;\n}\n';
    const hopeless = program(source, 'parse', "assert.equal(parse('MCMXCIV', 1, 2), 1994);");
    const { answer, files, tools } = await fix(hopeless);
    expect(answer).toMatch(/^I could not fix it\. I tried \d small changes\. Everything is as it was\./);
    expect(answer).toContain('Still failing: "parse"');
    expect(files).toEqual(hopeless);
    expect(tools.filter((name) => name === 'edit_file').length % 2).toBe(0);
  });

  it.each([
    { denied: 'shell', says: 'I cannot run the tests, so I have changed nothing more.', calls: 0 },
    { denied: 'edit_file', says: 'I cannot change the files, so the tests still fail.', calls: 0 },
  ])('says so where $denied is denied, and changes nothing', async ({ denied, says, calls }) => {
    const rules = allowed.map((rule) =>
      rule.tool === denied ? { ...rule, permission: 'deny' as const } : rule,
    );
    const { answer, tools, files } = await fix(sum, rules);
    expect(answer).toContain(says);
    expect(tools.filter((name) => name === denied)).toHaveLength(calls);
    expect(files).toEqual(sum);
  });

  it('changes nothing where the tests pass', async () => {
    const good = program('export const one = () => 1;\n', 'one', 'assert.equal(one(), 1);');
    const { answer, tools } = await fix(good);
    expect(answer).toBe('The tests pass. There is nothing to fix, and I have changed nothing.');
    expect(tools).not.toContain('edit_file');
  });

  it('tries another command where the first one runs no tests, and then says what came back', async () => {
    const { answer, tools } = await fix({ 'a.txt': '' }, allowed, 'Fix the tests');
    expect(tools.filter((name) => name === 'shell')).toHaveLength(2);
    expect(answer).toMatch(/^I cannot find out how the tests are run\./);
  });

  it.each([
    { name: 'a wrong operator', files: sum, fixed: 'a + b' },
    {
      name: 'a boundary that is off by one',
      files: program(
        'const adult = 18;\nexport function mayVote(age) {\n  return age > adult;\n}\n',
        'mayVote',
        'assert.equal(mayVote(18), true);\n  assert.equal(mayVote(17), false);',
      ),
      fixed: 'age >= adult',
    },
    {
      name: 'what is behind a change that does not help',
      files: program(
        'export function clip(a, b) {\n  const low = a > b;\n  return low ? a : a - b;\n}\n',
        'clip',
        'assert.equal(clip(2, 3), 5);',
      ),
      fixed: 'low ? a : a + b',
    },
  ])('fixes $name', async ({ files, fixed }) => {
    const { answer, files: after } = await fix(files);
    expect(after['src/it.js']).toContain(fixed);
    expect(answer).toMatch(/^The tests pass now \(1 of 1\)\. Before: "\w+" fails: .+ !== .+\./);
    expect(answer).toMatch(/src\/it\.js:\d+\n\n```diff\n- .+\n\+ .+\n```/);
  });

  it('leaves other requests to the rest of the model', async () => {
    const { answer } = await fix(sum, allowed, 'Hello there');
    expect(answer).not.toContain('I run the tests first');
  });
});
