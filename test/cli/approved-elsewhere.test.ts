import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildCommandLine } from './command-line.ts';
import type { CommandLine, Result } from './command-line.ts';

// A change that one process asks about, a second one approves, and a third one makes.

let program: CommandLine;
let folder: string;

const area = 'export function perimeter(width, height) {\n  return 2 * (width - height);\n}\n';
const files = {
  'project/package.json': '{"type":"module"}',
  'project/src/area.js': area,
  'project/test/area.test.js': `import { test } from 'node:test';\nimport assert from 'node:assert/strict';\nimport { perimeter } from '../src/area.js';\n\ntest('perimeter', () => {\n  assert.equal(perimeter(3, 2), 10);\n});\n`,
  'allow.json': '{"permissions":[{"tool":"shell","permission":"allow"}]}',
};

beforeAll(async () => {
  program = await buildCommandLine();
}, 60_000);
afterAll(() => program.remove());

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rerail-approved-'));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  }
  return () => rm(folder, { recursive: true, force: true });
});

function rerail(...argv: readonly string[]): Promise<Result> {
  const standing = ['--workspace', path.join(folder, 'project'), '--store', path.join(folder, 'runs.db')];
  const config = ['--config', path.join(folder, 'allow.json'), '--model', 'simulated:embedded'];
  return program.run([...argv, ...standing, ...config], { env: { HOME: folder, TERM: 'dumb' } });
}

const source = (): string => path.join(folder, 'project/src/area.js');

async function approved(): Promise<void> {
  const asked = await rerail(
    'run',
    'The tests fail (node --test). Find out why and fix it.',
    '--run-id',
    'r1',
    '--on-approval',
    'suspend',
  );
  expect(asked.exitCode).toBe(23);
  const shown = await rerail('approve', 'r1', '--no-resume');
  expect(shown.exitCode).toBe(23);
  const [, hash = ''] = / --call ([0-9a-f]{12}) /.exec(shown.err) ?? [];
  const written = await rerail('approve', 'r1', '--no-resume', '--call', hash);
  expect(written.out).toContain('Recorded: yes.');
  expect(await readFile(source(), 'utf8')).toBe(area);
}

describe('a change that was approved with --no-resume', { timeout: 60_000 }, () => {
  it('is not made where the file has changed since it was read', async () => {
    await approved();
    await writeFile(source(), `// mine\n${area}`);
    const done = await rerail('resume', 'r1');
    expect(`${done.out}${done.err}`).toContain('it has changed since it was read');
    expect(await readFile(source(), 'utf8')).toBe(`// mine\n${area}`);
  });

  it('is made by the process that resumes the run', async () => {
    await approved();
    const done = await rerail('resume', 'r1');
    expect(done).toMatchObject({ exitCode: 0 });
    expect(await readFile(source(), 'utf8')).toContain('2 * (width + height)');
  });
});
