import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gatherEvidence } from '../evidence.ts';
import { normalise } from '../normalise.ts';
import { requiredLiterals } from './required-literals.ts';
import { createRuleIndex } from './rule-index.ts';
import type { WordingRule } from '../verdict.ts';
import { allWording } from './wording.ts';

const rules = [...new Set(allWording().map(({ rule }) => rule))];

describe('requiredLiterals()', () => {
  it.each<[pattern: RegExp, literals: readonly string[] | undefined]>([
    [/a.b/, undefined],
    [/\d+/, undefined],
    [/quota|./, undefined],
    [/(?:quota)?/, undefined],
    [/[abc]{3}/, undefined],
    [/qu/, undefined],
    [/quota/, ['quota']],
    [/quota|credit/, ['quota', 'credit']],
    [/(?:insufficient|no) (?:balance|funds)/, ['balance', 'funds']],
    [/colou?r/, ['colo']],
    [/reach(?:ed)? the limit/, [' the limit']],
    [/rate.{0,3}limit/, ['limit']],
    [/limit\b (?!of)reached/, ['limit reached']],
    [/(?<!no )quota/, ['quota']],
    [/go{2,}gle/, ['gle']],
    [/error code: \d{4}/, ['error code: ']],
    [/a\.b\/c\(d/, ['a.b/c(d']],
    [/余额.{0,6}不足/, ['余额']],
  ])('of %s are %j', (pattern, literals) => {
    expect(requiredLiterals(pattern)).toEqual(literals);
  });

  it('are known for every rule of the tables, so that none is tried on every text', () => {
    const unknown = rules.filter(({ pattern }) => requiredLiterals(pattern) === undefined);
    expect(unknown.map(({ example }) => example)).toEqual([]);
  });
});

describe('the index of rules', () => {
  const index = createRuleIndex(rules);
  const indexed = index.indexed(rules);

  it('refuses a rule that it does not hold', () => {
    const stranger: WordingRule = { code: 'UNKNOWN', pattern: /x/, example: 'a stranger' };
    expect(() => index.indexed([stranger])).toThrow('a stranger');
  });

  it('never leaves out a rule that matches, on our own cases', () => {
    const cases = readFileSync('test/fixtures/provider-errors.jsonl', 'utf8').trim().split('\n');
    const texts = cases.map((line) => {
      const { body, message } = JSON.parse(line) as {
        readonly body: string | null;
        readonly message: string | null;
      };
      return gatherEvidence({ body: `${body ?? ''} ${message ?? ''}` }).text;
    });
    expect(texts.length).toBeGreaterThan(100);
    expect(texts.flatMap(missedRules)).toEqual([]);
  });

  it('never leaves out a rule that matches, on texts pieced together from the tables', () => {
    const pieces = fc.constantFrom(
      ...rules.flatMap(({ pattern, example }) => [
        ...(requiredLiterals(pattern) ?? []),
        normalise([example]),
      ]),
    );
    const text = fc.array(fc.oneof(pieces, fc.string({ maxLength: 6 })), { maxLength: 6 });
    const separator = fc.constantFrom('', ' ', '. ', ' | ');
    fc.assert(
      fc.property(text, separator, (parts, between) => {
        expect(missedRules(parts.join(between))).toEqual([]);
      }),
      { numRuns: 2000, seed: 20_261_115 },
    );
  });

  it('sorts out most rules on an ordinary sentence', () => {
    const candidates = index.candidates('the server is on fire and nobody knows why');
    expect(candidates.filter((flag) => flag === 1).length).toBeLessThan(rules.length / 5);
  });

  function missedRules(text: string): readonly string[] {
    const candidates = index.candidates(text);
    return indexed
      .filter(({ rule, id }) => candidates[id] === 0 && rule.pattern.test(text))
      .map(({ rule }) => `${rule.example} in "${text}"`);
  }
});
