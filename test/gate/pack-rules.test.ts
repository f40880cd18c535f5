import { describe, expect, it } from 'vitest';
import { findPackProblems } from '../../scripts/pack-rules.mjs';

const manifest = {
  exports: {
    '.': { types: './dist/index.d.ts', default: './dist/index.js' },
    './package.json': './package.json',
  },
  bin: { rerail: 'dist/cli/main.js' },
};
const good = [
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'dist/index.js',
  'dist/index.d.ts',
  'dist/cli/main.js',
  'docs/errors.md',
];

function check(files: readonly string[], map = '{}'): readonly string[] {
  return findPackProblems({ files, manifest, readText: () => map });
}

describe('findPackProblems()', () => {
  it.each([
    'dist/index.test.js',
    'src/index.ts',
    'test/tidy.test.ts',
    '.npmrc',
    'docs/notes.txt',
    'dist/errors/fixtures/a.js',
    'dist/tsconfig.tsbuildinfo',
  ])('reports %s, which must not be published', (file) => {
    expect(check([...good, file])).toEqual([expect.stringContaining(`${file} must not be published`)]);
  });

  it.each(['README.md', 'LICENSE', 'CHANGELOG.md'])('reports a missing %s', (file) => {
    expect(check(good.filter((name) => name !== file))).toEqual([`${file} is missing`]);
  });

  it.each(['dist/index.js', 'dist/index.d.ts', 'dist/cli/main.js'])('reports a missing target %s', (file) => {
    expect(check(good.filter((name) => name !== file))).toEqual([
      `${file} is missing, but package.json names it in "exports" or "bin"`,
    ]);
  });

  it('reports a map whose source is not in the package', () => {
    expect(check([...good, 'dist/index.d.ts.map'], '{ "sources": ["../src/index.ts"] }')).toEqual([
      'dist/index.d.ts.map points to src/index.ts, which is not in the package',
    ]);
  });

  it('accepts a complete package, and a map whose source is in it', () => {
    expect(check(good)).toEqual([]);
    expect(check([...good, 'dist/index.js.map'], '{ "sources": ["./index.js"] }')).toEqual([]);
  });
});
