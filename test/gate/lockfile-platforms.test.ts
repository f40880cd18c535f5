import { describe, expect, it } from 'vitest';
import { describePlatform, findMissingPlatforms } from '../../scripts/lockfile-platforms.mjs';

const optionalDependencies = { '@x/binding-darwin-arm64': '1.0.0' };

describe('findMissingPlatforms()', () => {
  it('finds an optional package that nothing locks, once', () => {
    const dependent = { dev: true, optionalDependencies };
    expect(findMissingPlatforms({ 'node_modules/a': dependent, 'node_modules/b': dependent })).toEqual([
      {
        name: '@x/binding-darwin-arm64',
        version: '1.0.0',
        path: 'node_modules/@x/binding-darwin-arm64',
        isDev: true,
      },
    ]);
  });

  it.each(['node_modules/@x/binding-darwin-arm64', 'node_modules/a/node_modules/@x/binding-darwin-arm64'])(
    'sees that it is locked at %s',
    (path) => {
      expect(findMissingPlatforms({ 'node_modules/a': { optionalDependencies }, [path]: {} })).toEqual([]);
    },
  );
});

describe('describePlatform()', () => {
  const describeNamed = (name: string, version = '1.0.0'): unknown =>
    describePlatform({ name, version, path: `node_modules/${name}`, isDev: true });

  it('refuses a package that does not say its platform, or that is not pinned', () => {
    expect(() => describeNamed('left-pad')).toThrow('left-pad@1.0.0 does not say version and platform');
    expect(() => describeNamed('@x/darwin-x64', '^1.0.0')).toThrow('does not say version and platform');
  });

  it.each([
    ['@x/binding-darwin-arm64', { cpu: ['arm64'], os: ['darwin'] }],
    ['@x/win32-x64', { cpu: ['x64'], os: ['win32'] }],
    ['@x/binding-linux-x64-musl', { cpu: ['x64'], os: ['linux'], libc: ['musl'] }],
    ['@x/binding-linux-arm-gnueabihf', { cpu: ['arm'], os: ['linux'], libc: ['glibc'] }],
    ['@x/binding-wasm32-wasi', { cpu: ['wasm32'] }],
  ])('reads the platform of %s from its name', (name, platform) => {
    expect(describeNamed(name)).toEqual({ version: '1.0.0', dev: true, optional: true, ...platform });
  });
});
