import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createIsolated } from './isolate.ts';
import { findOwnCode, ownCode } from './own-code.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'rerail-own-code-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (name: string): string => path.join(root, name);

function put(name: string, text = ''): string {
  mkdirSync(path.dirname(at(name)), { recursive: true });
  writeFileSync(at(name), text);
  return at(name);
}

/** What of the code lies in the folder, from there. */
function own(
  module: string,
  { entry = '/usr/bin/agent', execPath = '/usr/bin/node' } = {},
): readonly string[] {
  return findOwnCode({ module: at(module), entry, execPath })
    .filter((place) => place.startsWith(`${root}/`))
    .map((place) => path.relative(root, place))
    .toSorted();
}

it('is the program and Node, also by the links that lead to them', () => {
  put('real/bin/node');
  put('agent.mjs');
  symlinkSync('real', at('current'));
  const names = own('nowhere/x.js', { entry: at('agent.mjs'), execPath: at('current/bin/node') });
  expect(names).toEqual(expect.arrayContaining(['agent.mjs', 'real/bin/node']));
});

it('is what a package needs, through all of its dependencies, and where a missing one would be looked for', () => {
  put(
    'node_modules/rerail/package.json',
    '{ "name": "rerail", "dependencies": { "a": "1" }, "peerDependencies": { "pg": "8" } }',
  );
  put('node_modules/a/package.json', '{ "name": "a", "dependencies": { "b": "1" } }');
  put(
    'node_modules/a/node_modules/b/package.json',
    '{ "name": "b", "optionalDependencies": { "@c/d": "1", "a": "1" } }',
  );
  put('node_modules/unrelated/package.json', '{ "name": "unrelated" }');
  expect(own('node_modules/rerail/dist/x.js')).toEqual(
    expect.arrayContaining([
      'node_modules/rerail',
      'node_modules/a',
      'node_modules/a/node_modules/b',
      'node_modules/pg',
      'node_modules/rerail/node_modules/pg',
      'node_modules/@c/d',
      'node_modules/a/node_modules/b/node_modules/@c/d',
    ]),
  );
  expect(own('node_modules/rerail/dist/x.js')).not.toContain('node_modules/unrelated');
});

it('is the folder of the built code in a checkout of Rerail, whose sources are somebody’s work', () => {
  put('package.json', '{ "name": "rerail" }');
  expect(own('dist/tools/x.js')).toEqual(['dist', 'package.json']);
});

it('is the file itself where it was bundled into another program', () => {
  put('package.json', '{ "name": "app", "dependencies": { "a": "1" } }');
  expect(own('build/server.js')).toEqual(['build/server.js']);
});

it('is the module of an isolated tool, from when the tool is made', () => {
  const module = put('tool.mjs', 'export default () => 1;');
  expect(ownCode()).not.toContain(module);
  createIsolated({ name: 'isolated', source: { module } });
  expect(ownCode()).toContain(module);
});
