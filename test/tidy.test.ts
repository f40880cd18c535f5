import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkTidy } from './tidy/check-tidy.ts';

describe('the repository', () => {
  const files = readRepository();
  const report = checkTidy(files);

  it('keeps the rules of the house', () => {
    const lines = report.problems.map(
      ({ rule, path, line, message }) => `${path}:${line} ${rule}: ${message}`,
    );
    expect(lines).toEqual([]);
  });

  it('was really looked at: every module and at least every import that a plain search finds', () => {
    const sources = [...files].filter(([path]) => /\.(ts|mjs)$/.test(path));
    const plainImports = sources.flatMap(([, text]) => text.match(/^import .* from '.+';$/gm) ?? []);
    expect(sources.map(([path]) => path)).toContain('src/base/assert.ts');
    expect(report.modules).toBe(sources.length);
    expect(plainImports.length).toBeGreaterThan(20);
    expect(report.imports).toBeGreaterThanOrEqual(plainImports.length);
  });
});

/** Tracked files and new ones that are not ignored, so that a problem shows before it is committed. */
function readRepository(): ReadonlyMap<string, string> {
  const listing = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    encoding: 'utf8',
  });
  const paths = listing.split('\0').filter((path) => path !== '' && existsSync(path));
  const texts = paths.map((path) => [path, readFileSync(path, 'utf8')] as const);
  // A NUL marks a binary file, such as an image of the docs.
  return new Map(texts.filter(([, text]) => !text.includes('\0')));
}
