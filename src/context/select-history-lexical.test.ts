import { describe, expect, it } from 'vitest';
import { scoreLexically, wordsOf } from './select-history-lexical.ts';

function bestOf(texts: readonly string[], query: string): string | undefined {
  const scores = scoreLexically(texts, query);
  return texts[scores.indexOf(Math.max(...scores))];
}

describe('scoreLexically()', () => {
  it.each([
    { what: 'a query without words', texts: ['a b', 'c'], query: '… 😀 ?!' },
    { what: 'words that nobody used', texts: ['apples', 'pears'], query: 'engine' },
    { what: 'texts without words', texts: ['', '—'], query: 'engine' },
  ])('gives 0 for $what', ({ texts, query }) => {
    expect(scoreLexically(texts, query)).toEqual([0, 0]);
  });

  it('gives nothing for no texts', () => {
    expect(scoreLexically([], 'anything')).toEqual([]);
  });

  it.each([
    { what: 'letter case', texts: ['the INVOICE', 'the weather'], query: 'invoice', best: 'the INVOICE' },
    { what: 'accents', texts: ['le café', 'le train'], query: 'Cafe', best: 'le café' },
    { what: 'Cyrillic', texts: ['счёт за июль', 'погода'], query: 'СЧЕТ', best: 'счёт за июль' },
    { what: 'Chinese', texts: ['今天天气很好', '请把发票寄给我'], query: '发票', best: '请把发票寄给我' },
    { what: 'one Chinese letter', texts: ['天气', '黑猫在家'], query: '猫', best: '黑猫在家' },
    { what: 'Japanese', texts: ['天気はどう', '請求書を送って'], query: '請求書', best: '請求書を送って' },
    { what: 'Thai', texts: ['อากาศดี', 'ส่งใบแจ้งหนี้'], query: 'ใบแจ้งหนี้', best: 'ส่งใบแจ้งหนี้' },
    { what: 'Hindi', texts: ['मौसम अच्छा है', 'बिल भेजो'], query: 'बिल', best: 'बिल भेजो' },
    { what: 'full-width letters', texts: ['ＡＢＣ１２３', 'xyz'], query: 'abc123', best: 'ＡＢＣ１２３' },
    {
      what: 'a rare word above a common one',
      texts: ['order order order', 'order', 'the zeppelin flies'],
      query: 'order zeppelin',
      best: 'the zeppelin flies',
    },
    {
      what: 'a short text above a long one',
      texts: [`invoice ${'and more '.repeat(50)}`, 'invoice'],
      query: 'invoice',
      best: 'invoice',
    },
  ])('knows $what', ({ texts, query, best }) => {
    expect(bestOf(texts, query)).toBe(best);
  });

  it('takes words such as "constructor" for words', () => {
    expect(bestOf(['nothing here', 'the constructor __proto__'], 'constructor __proto__')).toBe(
      'the constructor __proto__',
    );
  });
});

describe('wordsOf()', () => {
  it('splits where scripts meet, and gives letters and pairs where no spaces are written', () => {
    expect(wordsOf('Rate-limit für 東京の v2')).toEqual([
      'rate',
      'limit',
      'fur',
      '東',
      '東京',
      '京',
      '京の',
      'の',
      'v2',
    ]);
  });

  it('takes half a surrogate pair for no letter', () => {
    expect(wordsOf('a\ud800b')).toEqual(['a', 'b']);
  });
});
