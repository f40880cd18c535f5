import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PersonRequest } from '../../agent/run-outcome.ts';
import type { Json } from '../../base/json.ts';
import { openWorkspace } from '../../tools/workspace/open-workspace.ts';
import { requestFacts } from './request-facts.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'rerail-preview-'));
const workspace = path.join(folder, 'workspace');

beforeAll(() => {
  mkdirSync(path.join(workspace, 'src'), { recursive: true });
  writeFileSync(path.join(workspace, 'src', 'a.ts'), 'inside\n');
  writeFileSync(path.join(workspace, 'large'), 'x'.repeat(1024 * 1024 + 1));
  writeFileSync(path.join(workspace, 'binary'), Uint8Array.of(0, 255, 0, 1));
  writeFileSync(path.join(folder, 'secret'), 'outside\n');
  symlinkSync(path.join(folder, 'secret'), path.join(workspace, 'link'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const request = (tool: string, input: Json): PersonRequest => ({
  type: 'approval',
  id: 'a',
  tool,
  input,
  hash: 'h',
  why: 'it asks',
  expiresAt: 0,
});

describe('requestFacts()', () => {
  it.each([
    { what: 'a link to the outside', tool: 'write_file', input: { path: 'link' }, shown: '' },
    { what: 'a path to the outside', tool: 'write_file', input: { path: '../secret' }, shown: '' },
    { what: 'a folder', tool: 'write_file', input: { path: 'src' }, shown: '' },
    { what: 'a file that is too long', tool: 'edit_file', input: { path: 'large' }, shown: '' },
    { what: 'a file that is no text', tool: 'write_file', input: { path: 'binary' }, shown: '' },
    { what: 'a file that is not there', tool: 'write_file', input: { path: 'new.ts' }, shown: undefined },
    { what: 'a file below a file', tool: 'write_file', input: { path: 'large/x' }, shown: undefined },
    { what: 'a call that changes no file', tool: 'read_file', input: { path: 'src/a.ts' }, shown: undefined },
    { what: 'arguments of another form', tool: 'write_file', input: ['src/a.ts'], shown: undefined },
    { what: 'a file', tool: 'edit_file', input: { path: 'src/a.ts' }, shown: 'inside\n' },
  ])('gives for $what: $shown', async ({ tool, input, shown }) => {
    const options = { signal: new AbortController().signal, command: 'rerail' };
    const facts = await requestFacts(await openWorkspace(workspace), request(tool, input), options);
    expect(facts).toMatchObject({ command: 'rerail' });
    expect(facts.preview).toBe(shown);
  });
});
