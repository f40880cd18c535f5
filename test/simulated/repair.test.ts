import { describe, expect, it } from 'vitest';
import type { Message } from '../../src/model/message.ts';
import { createMind } from '../../src/providers/simulated/mind.ts';
import { buggyPrograms } from './buggy-programs.ts';
import { plea, repair, repairTools } from './repair-driver.ts';

const hopeless = {
  'src/parse.js': `export function parse(text) {\n  return text.split('\\n').map((line) => line.trim());\n}\n`,
  'test/parse.test.js': `import { test } from 'node:test';\nimport assert from 'node:assert/strict';\nimport { parse } from '../src/parse.js';\n\ntest('reads a table of roman numerals', () => {\n  assert.deepEqual(parse('MCMXCIV;DXLVI'), [[1994, 546]]);\n});\n`,
};

describe('the embedded model, asked to mend a program', { timeout: 60_000 }, () => {
  it('gives up after a bound, says so, and leaves the files as they were', async () => {
    const { answer, files, turns } = await repair(hopeless);
    expect(answer).toMatch(/^I could not mend it\..*Everything is as it was\./);
    expect(answer).toContain('reads a table of roman numerals');
    expect(files).toEqual(hopeless);
    expect(turns).toBeLessThanOrEqual(22);
  });

  it('says that it cannot run the tests where that is denied, and changes nothing', async () => {
    const { answer, calls } = await repair(hopeless, { refuse: 'shell' });
    expect(answer).toBe(
      'I cannot run the tests, so I have changed nothing more. The tool shell said: Permission denied by a rule.',
    );
    expect(calls.map(({ name }) => name)).toEqual(['shell']);
  });

  it('says that it cannot change the files where that is denied', async () => {
    const { answer, calls } = await repair(buggyPrograms[0]?.files ?? {}, { refuse: 'edit_file' });
    expect(answer).toContain('I cannot change the files, so the tests still fail.');
    expect(calls.filter(({ name }) => name === 'edit_file')).toHaveLength(1);
  });

  it('changes nothing where the tests pass', async () => {
    const files = {
      'ok.test.js': `import { test } from 'node:test';\n\ntest('is well', () => {});\n`,
    };
    const { answer, calls } = await repair(files);
    expect(answer).toBe('The tests pass. There is nothing to mend, and I have changed nothing.');
    expect(calls.map(({ name }) => name)).toEqual(['shell']);
  });

  it('tries another command where the first one runs no tests, and then says what it was told', async () => {
    const { answer, calls } = await repair({ 'a.txt': '' }, { prompt: 'Fix the tests' });
    expect(calls.map(({ arguments: given }) => given['command'])).toEqual(['npm test', 'node --test']);
    expect(answer).toMatch(/^I cannot find out how the tests are run\./);
  });

  it.each(buggyPrograms)('mends $name', async ({ files, mended }) => {
    const file = Object.keys(files).find((name) => name.endsWith('.test.js'));
    // The file by itself: a runner around it would take twice as long.
    const prompt = `The tests fail (\`node ${file}\`). Find out why and mend it.`;
    const { answer, files: after, turns } = await repair(files, { prompt });
    expect(Object.values(after).join('\n')).toContain(mended);
    expect(answer).toMatch(/^The tests pass now \((\d+) of \1\)\. Before: "/);
    expect(answer).toMatch(/\w+\.js:\d+\n\n```diff\n- .+\n\+ .+\n```/);
    expect(turns).toBeLessThanOrEqual(8);
  });

  it('is not disturbed by a note of the runtime in the middle', () => {
    const messages: readonly Message[] = [
      { role: 'user', content: plea },
      { role: 'user', content: '[Note from the runtime] Your last answer was empty.' },
    ];
    const { toolCalls } = createMind().answer({ messages, tools: repairTools });
    expect(toolCalls).toEqual([{ name: 'shell', arguments: { command: 'node --test' } }]);
  });

  it.each([
    { name: 'there is no shell', tools: repairTools.slice(1), prompt: plea },
    { name: 'nobody asked for it', tools: repairTools, prompt: 'Hello there' },
  ])('leaves it to the rest of the mind where $name', ({ tools, prompt }) => {
    const answer = createMind().answer({ messages: [{ role: 'user', content: prompt }], tools });
    expect(answer.text ?? '').not.toContain('I run the tests first');
  });
});
