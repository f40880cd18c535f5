import { describe, expect, it } from 'vitest';
import { lookAlikesIn, markLookAlikes } from './look-alikes.ts';

const bracket = (found: string): string => `[${found.codePointAt(0)?.toString(16)}]`;

describe('markLookAlikes()', () => {
  it.each([
    ['a host with Cyrillic letters', 'https://\u0440\u0430ypal.com/x', 'https://[440][430]ypal.com/x'],
    [
      'a host that is Cyrillic but for its end',
      '\u0430\u0440\u0440\u04CF\u0435.com',
      '[430][440][440][4cf][435].com',
    ],
    ['a program with a Greek letter', 'g\u03B9t push', 'g[3b9]t push'],
    ['a path with one foreign letter', 'src/\u0441onfig.ts', 'src/[441]onfig.ts'],
    ['a word that could be Latin throughout', 'rm \u0441\u043E\u0440\u0443', 'rm [441][43e][440][443]'],
    ['fullwidth letters', '\uFF47\uFF49\uFF54 push', '[ff47][ff49][ff54] push'],
    ['mathematical letters beside plain ones', 'gi\u{1D42D}', 'gi[1d42d]'],
    ['a full stop of another script in a host', 'example\u3002com', 'example[3002]com'],
    ['a slash that is none', 'evil\u2215bin', 'evil[2215]bin'],
    ['a hyphen that is none', 'rm\u2010rf', 'rm[2010]rf'],
    ['a phonetic letter', '\u0261it', '[261]it'],
    ['an Armenian letter', 'n\u0578de', 'n[578]de'],
  ])('marks %s', (_what, text, shown) => {
    expect(markLookAlikes(text, bracket)).toBe(shown);
    expect(lookAlikesIn(text)).not.toEqual([]);
  });

  it.each([
    ['plain ASCII', 'git status --short && npm test'],
    ['accents', 'docs/café.md, naïve, Grüße, Ångström, señor'],
    ['Russian', 'Привет, мир: рост цен и сор у дома'],
    ['Greek prose', 'Καλημέρα κόσμε, το ρολόι'],
    ['Chinese with a program in it', '使用git。然后运行npm test：好'],
    ['Japanese', 'テストを実行してください'],
    ['Arabic and Hebrew', 'مرحبا שלום'],
    ['an emoji', 'done ✅ 🚀'],
    ['typographic quotes and dashes in prose', '“quoted” – and ‘so’ — on…'],
  ])('leaves %s as it is', (_what, text) => {
    expect(markLookAlikes(text, bracket)).toBe(text);
    expect(lookAlikesIn(text)).toEqual([]);
  });

  it('marks the dotless i of Turkish, the one letter of a living alphabet: hosts are forged with it', () => {
    expect(markLookAlikes('açık sandık', bracket)).toBe('aç[131]k sand[131]k');
  });
});
