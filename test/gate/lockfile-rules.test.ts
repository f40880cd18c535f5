import { describe, expect, it } from 'vitest';
import { findLockfileProblems } from '../../scripts/lockfile-rules.mjs';

const manifest = { engines: { node: '>=20.19' }, devDependencies: { a: '1.0.0', b: 'npm:@scope/b@2.0.0' } };

type Locked = Parameters<typeof findLockfileProblems>[0]['packages'][string];

function check(locked: Locked): readonly string[] {
  return findLockfileProblems({
    manifest,
    packages: { '': {}, 'node_modules/a': { version: '1.0.0', ...locked } },
  });
}

describe('findLockfileProblems()', () => {
  it.each(['>=22', '^20.20.0 || >=22', '^18', '>=20.19.1'])(
    'reports engines that exclude Node 20.19.0: %s',
    (node) => {
      expect(check({ engines: { node } })).toEqual([
        `a@1.0.0 excludes Node 20.19.0: its engines say "${node}"`,
      ]);
    },
  );

  it('reports engines written as a list', () => {
    expect(check({ engines: ['node >= 22'] })).toEqual([expect.stringContaining('excludes Node 20.19.0')]);
  });

  it('reports a nested package that is optional and for another platform', () => {
    const packages = { 'node_modules/a/node_modules/@x/b': { version: '1.0.0', engines: { node: '>=24' } } };
    expect(findLockfileProblems({ manifest, packages })).toEqual([
      expect.stringContaining('@x/b@1.0.0 excludes'),
    ]);
  });

  it('reports install scripts and addresses of a registry', () => {
    expect(check({ hasInstallScript: true })).toEqual(['a@1.0.0 runs a script while it is installed']);
    expect(check({ resolved: 'https://example.com/a.tgz' })).toEqual([
      'a@1.0.0 is locked to the address it came from',
    ]);
  });

  it('takes an install script that npm is told not to run', () => {
    const denied = { ...manifest, allowScripts: { a: false } };
    const packages = { 'node_modules/a': { version: '1.0.0', hasInstallScript: true } };
    expect(findLockfileProblems({ manifest: denied, packages })).toEqual([]);
  });

  it('reports an optional package that is not locked', () => {
    expect(check({ optionalDependencies: { '@x/linux-x64': '1.0.0' } })).toEqual([
      '@x/linux-x64 is optional and not locked, so npm ci fails: run "npm run lock"',
    ]);
  });

  it.each(['^1.0.0', '~1.0.0', '*', 'latest', 'npm:b@^1.0.0'])('reports the loose version %s', (range) => {
    const loose = { ...manifest, dependencies: { c: range } };
    expect(findLockfileProblems({ manifest: loose, packages: { 'node_modules/a': {} } })).toEqual([
      `c is not pinned to an exact version, but to "${range}"`,
    ]);
  });

  it('reports a manifest without engines, and a lockfile without packages', () => {
    expect(findLockfileProblems({ manifest: {}, packages: { 'node_modules/a': {} } })).toHaveLength(1);
    expect(findLockfileProblems({ manifest, packages: { '': {} } })).toEqual([
      'package-lock.json lists no packages',
    ]);
  });

  it.each(['>=20', '^20.19.0 || >=22.12.0', '*', '>=14'])('accepts engines %s', (node) => {
    expect(check({ engines: { node } })).toEqual([]);
    expect(check({ engines: [`node ${node}`] })).toEqual([]);
    expect(check({})).toEqual([]);
  });
});
