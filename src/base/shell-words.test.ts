import { spawnSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPlainCommand } from './shell-words.ts';

describe('readPlainCommand() reads nothing into', () => {
  it.each([
    { what: 'nothing', text: '' },
    { what: 'a space', text: ' ' },
    { what: 'a list', text: 'echo a && id' },
    { what: 'a sequence', text: 'echo a; id' },
    { what: 'a sequence without spaces', text: 'echo a;id' },
    { what: 'a pipe', text: 'echo a | id' },
    { what: 'a background job', text: 'echo a &' },
    { what: 'a subshell', text: '(echo a)' },
    { what: 'a group', text: '{ echo a; }' },
    { what: 'a redirection', text: 'echo a > f' },
    { what: 'a redirection without spaces', text: 'echo a>f' },
    { what: 'a here-document', text: 'cat <<EOF\n$(id)\nEOF' },
    { what: 'a substitution', text: 'echo $(id)' },
    { what: 'a quoted substitution', text: 'echo "$(id)"' },
    { what: 'an old substitution', text: 'echo `id`' },
    { what: 'a variable', text: 'echo $HOME' },
    { what: 'a quoted variable', text: 'echo "$HOME"' },
    { what: 'a text with escapes', text: String.raw`echo $'\x41'` },
    { what: 'an escape', text: String.raw`echo a\ b` },
    { what: 'an escape in double quotes', text: String.raw`echo "a\"b"` },
    { what: 'history', text: 'echo !!' },
    { what: 'quoted history', text: 'echo "!!"' },
    { what: 'a glob', text: 'ls *.ts' },
    { what: 'a glob inside a word', text: 'ls src/?.ts' },
    { what: 'a set', text: 'ls [ab]' },
    { what: 'braces', text: 'echo {a,b}' },
    { what: 'a home folder', text: 'ls ~/x' },
    { what: 'a home folder after a sign', text: 'ls a=~/x' },
    { what: 'a comment', text: 'echo a #b' },
    { what: 'an assignment before it', text: 'X=1 git status' },
    { what: 'an assignment', text: 'PATH=/x' },
    { what: 'an escaped command', text: String.raw`\echo` },
    { what: 'a quoted command', text: "'ec'ho a" },
    { what: 'an option for a command', text: '-x' },
    { what: 'a reserved word', text: 'time id' },
    { what: 'a negation', text: '! id' },
    { what: 'two lines', text: 'echo a\nid' },
    { what: 'a line break at its end', text: 'echo a\n' },
    { what: 'a carriage return', text: 'echo a\rid' },
    { what: 'a tab', text: 'echo\tid' },
    { what: 'two spaces', text: 'echo  a' },
    { what: 'a space before it', text: ' echo a' },
    { what: 'a space after it', text: 'echo a ' },
    { what: 'a space that does not break', text: 'echo\u00a0id' },
    { what: 'a zero-width space', text: 'git\u200b status' },
    { what: 'a changed reading direction', text: 'git status \u202eid' },
    { what: 'a letter that looks like another', text: 'g\u0456t status' },
    { what: 'a NUL', text: 'echo a\0id' },
    { what: 'an open quote', text: "echo 'a" },
    { what: 'an open double quote', text: 'echo "a' },
    { what: 'a path by name', text: 'echo =ls' },
    { what: '65 words', text: Array.from({ length: 65 }, () => 'a').join(' ') },
    { what: '4,097 characters', text: `echo ${'a'.repeat(4092)}` },
    { what: '64 KB of spaces', text: `echo ${' '.repeat(65_536)}id` },
  ])('$what', ({ text }) => {
    expect(readPlainCommand(text)).toBeUndefined();
  });
});

describe('readPlainCommand()', () => {
  it.each([
    { text: 'ls', words: ['ls'] },
    { text: 'git diff HEAD~1 HEAD^', words: ['git', 'diff', 'HEAD~1', 'HEAD^'] },
    { text: "git commit -m 'a; b $(c)'", words: ['git', 'commit', '-m', 'a; b $(c)'] },
    { text: `echo "a  b" '' a'b'"c"`, words: ['echo', 'a  b', '', 'abc'] },
    { text: 'npm run build --if-present', words: ['npm', 'run', 'build', '--if-present'] },
    { text: './bin/x a=b,c:%1', words: ['./bin/x', 'a=b,c:%1'] },
    { text: `echo ${'a'.repeat(4091)}`, words: ['echo', 'a'.repeat(4091)] },
  ])('reads $text', ({ text, words }) => {
    expect(readPlainCommand(text)).toEqual(words);
  });

  it('reads the same words as a real shell, whatever it reads at all', () => {
    const plain = 'a Z9 -x --y=1 . / : = , @ % + ~ ^ * ? [ # ! $x ; {'.split(' ');
    const quoted = ["'a b'", '"c  d"', "''", "';$(id)'", '"&|<>"', '\\', ' ', ' ', ' ', ' '];
    const pieces = fc.constantFrom(...plain, ...quoted);
    const texts = fc
      .sample(fc.array(pieces, { maxLength: 12 }), { numRuns: 4000, seed: 6 })
      .map((parts) => `printf ${parts.join('')}`)
      .filter((text) => (readPlainCommand(text)?.length ?? 0) > 1);
    expect(texts.length).toBeGreaterThan(100);
    const separator = '\u0001';
    const script = texts
      .map((text) => `${text.replace('printf', String.raw`printf '%s\001'`)}; echo`)
      .join('\n');
    const { stdout, stderr } = spawnSync('sh', ['-c', script], { encoding: 'utf8', cwd: '/' });
    expect(stderr).toBe('');
    const read = stdout.split('\n').slice(0, -1);
    expect(read).toEqual(texts.map((text) => wordsAfterFirst(text).join(separator) + separator));
  });
});

function wordsAfterFirst(text: string): readonly string[] {
  return readPlainCommand(text)?.slice(1) ?? [];
}
