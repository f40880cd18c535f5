// Scores the classifier on labelled cases and lists the misses: npm run corpus -- FILE …
import { existsSync, readFileSync } from 'node:fs';
import { classifyProviderFailure } from '../dist/errors/index.js';
import { scoreCases } from './corpus-score.mjs';

const own = 'test/fixtures/provider-errors.jsonl';
const shared = '../shared/corpus/provider-errors.jsonl';
const given = process.argv.slice(2);
const files = given.length > 0 ? given : [own, shared].filter((file) => existsSync(file));

try {
  for (const file of files) report(file, read(file));
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  console.error(`Cannot score: ${reason}. Give files with one JSON case a line: npm run corpus -- FILE`);
  process.exitCode = 2;
}

/**
 * @param {string} file
 * @returns {readonly import('./corpus-score.mjs').LabelledCase[]}
 */
function read(file) {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => /** @type {import('./corpus-score.mjs').LabelledCase} */ (JSON.parse(line)));
}

/**
 * @param {string} file
 * @param {readonly import('./corpus-score.mjs').LabelledCase[]} cases
 */
function report(file, cases) {
  const score = scoreCases(cases, classifyProviderFailure);
  const percent = (/** @type {number} */ value) => `${value.toFixed(1)} %`;
  console.log(
    `${file}: ${score.cases} cases, codes ${percent(score.codes)}, retry decisions ${percent(score.retries)}, ` +
      `delays ${percent(score.delays)} (where stated ${percent(score.statedDelays)}), ${score.misses.length} misses`,
  );
  for (const miss of score.misses) {
    const text = miss.case.message ?? miss.case.body ?? '';
    console.log(`  ${miss.id} (${miss.case.provider} ${miss.case.status ?? '-'})`);
    console.log(`    wanted ${miss.wanted}\n    got    ${miss.got}`);
    console.log(`    ${text.replaceAll(/\s+/g, ' ').slice(0, 300)}`);
  }
}
