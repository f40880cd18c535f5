import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RerailError } from '../../errors/rerail-error.ts';
import { pathName } from './path-name.ts';

const root = '/home/somebody/ws';

describe('pathName()', () => {
  it.each([
    { asked: '../x', says: 'leads out of the workspace' },
    { asked: 'a/../../x', says: 'leads out of the workspace' },
    { asked: 'a/b/../../../ws-evil/f', says: 'leads out of the workspace' },
    { asked: './..', says: 'leads out of the workspace' },
    { asked: '/', says: 'leads out of the workspace' },
    { asked: '/etc/passwd', says: 'leads out of the workspace' },
    { asked: '/home/somebody/ws-evil/f', says: 'leads out of the workspace' },
    { asked: '/home/somebody/ws/../ws-evil', says: 'leads out of the workspace' },
    { asked: '/home/somebody', says: 'leads out of the workspace' },
    { asked: '~', says: '"~" is not understood' },
    { asked: '~/x', says: '"~" is not understood' },
    { asked: '~root/x', says: '"~" is not understood' },
    { asked: '%2e%2e/x', says: 'written with %' },
    { asked: 'a/%2E%2E%2fx', says: 'written with %' },
    { asked: '%252e%252e/x', says: 'written with %' },
    { asked: '..\\x', says: 'backslash' },
    { asked: 'a\\b', says: 'backslash' },
    { asked: 'C:\\x', says: 'backslash' },
    { asked: 'a\0.png', says: 'NUL' },
    { asked: 'a\nb', says: 'control character' },
    { asked: 'a\u0085b', says: 'control character' },
    { asked: 'a\ud800', says: 'control character' },
    { asked: '.git.', says: 'ends with a dot or a blank' },
    { asked: '.git ', says: 'ends with a dot or a blank' },
    { asked: '.git /config', says: 'ends with a dot or a blank' },
    { asked: '.../x', says: 'ends with a dot or a blank' },
    { asked: '//server/share', says: 'two slashes' },
    { asked: 'file:///etc/passwd', says: 'an address' },
    { asked: '', says: 'empty' },
    { asked: 'x'.repeat(300), says: '255 bytes' },
    { asked: 'ü'.repeat(200), says: '255 bytes' },
    { asked: 'a/'.repeat(3000), says: '4,096 characters' },
  ])('refuses $asked', ({ asked, says }) => {
    const error = failureOf(() => pathName(root, asked));
    expect(error.code).toBe('PATH_OUTSIDE_WORKSPACE');
    expect(error.message).toContain(says);
    expect(error.failure.sideEffect).toBe('none');
    expect(error.failure.hint).toContain('path from the root of the workspace');
  });

  it('names the path asked for, with what cannot be seen made visible', () => {
    expect(failureOf(() => pathName(root, '../\u202egpj')).message).toContain('"../<U+202E>gpj"');
  });

  it.each([
    { asked: '.', name: '' },
    { asked: './', name: '' },
    { asked: root, name: '' },
    { asked: `${root}/`, name: '' },
    { asked: 'src/app.ts', name: 'src/app.ts' },
    { asked: './src//app.ts', name: 'src/app.ts' },
    { asked: 'src/', name: 'src' },
    { asked: 'a/../b', name: 'b' },
    { asked: `${root}/src/app.ts`, name: 'src/app.ts' },
    { asked: './~draft', name: '~draft' },
    { asked: 'a/~b', name: 'a/~b' },
    { asked: '..a', name: '..a' },
    { asked: 'pages/[...slug].tsx', name: 'pages/[...slug].tsx' },
    { asked: '100%.md', name: '100%.md' },
    { asked: 'a b/ü.txt', name: 'a b/ü.txt' },
  ])('reads $asked as $name', ({ asked, name }) => {
    expect(pathName(root, asked)).toBe(name);
  });

  it('lets no path through that climbs, whatever it is made of', () => {
    const pieces = ['..', '.', '', '/', 'a', 'ws-evil', '~', '%2e', '\\', ' ', root, '...', '\0', '.git'];
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...pieces), { maxLength: 8 }),
        fc.constantFrom('/', ''),
        (parts, glue) => {
          const name = nameOrNothing(parts.join(glue));
          const isInside = name === undefined || (!name.startsWith('/') && !name.split('/').includes('..'));
          expect(isInside).toBe(true);
        },
      ),
    );
  });
});

function nameOrNothing(asked: string): string | undefined {
  try {
    return pathName(root, asked);
  } catch {
    return undefined;
  }
}

function failureOf(act: () => unknown): RerailError {
  try {
    act();
  } catch (error) {
    if (RerailError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('It should have been refused');
}
