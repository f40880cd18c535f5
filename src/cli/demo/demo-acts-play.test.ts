import { beforeAll, describe, expect, it } from 'vitest';
import { acts } from './demo-acts.ts';
import { playActs } from './demo-acts-play.ts';
import type { CliIo } from '../start/io.ts';
import { displayWidth } from '../text/wrap.ts';

// A run in each way of showing it. They wait for deaf tools in real time, so all are watched at once.
const shown = { plain: '', narrow: '', coloured: '' };

beforeAll(async () => {
  const watched = await Promise.all([
    watch(),
    watch({ columns: 50, command: 'node dist/cli/main.js' }),
    watch({ env: { FORCE_COLOR: '1' } }),
  ]);
  [shown.plain, shown.narrow, shown.coloured] = watched;
}, 60_000);

async function watch(io: Partial<CliIo> = {}): Promise<string> {
  let text = '';
  const whole: CliIo = {
    stdout: { write: (piece) => (text += piece) },
    stderr: { write: () => undefined },
    stdin: () => (async function* () {})(),
    readFile: () => (async function* () {})(),
    isTerminal: { stdin: false, stdout: false, stderr: false },
    columns: 80,
    env: {},
    now: () => 0,
    folder: '/somewhere',
    home: '/home/someone',
    terminal: undefined,
    command: 'npx rerail',
    version: '0.0.0',
    ...io,
  };
  await playActs(whole, { latencyMs: 0, chunkDelayMs: 0 });
  return text;
}

/** What stands beside a label in each act, one list for each. */
function told(label: string): readonly (readonly string[])[] {
  const row = new RegExp(`^ {3}${label} +(.+)$`, 'gm');
  return shown.plain
    .split(/^\d {2}/m)
    .slice(1)
    .map((act) => [...act.matchAll(row)].map(([, text = '']) => text));
}

describe('playActs()', () => {
  it('shows each failure, typed', () => {
    expect(told('failure')).toEqual([
      ['STREAM_INTERRUPTED'],
      ['OVERLOADED', 'OVERLOADED'],
      ['QUOTA_EXCEEDED'],
      ['TOOL_CALL_INVALID'],
      ['TIMEOUT', 'UNKNOWN_OUTCOME'],
      ['ENDLESS_LOOP', 'ENDLESS_LOOP', 'TOOL_NOT_FOUND', 'ENDLESS_LOOP'],
      ['RATE_LIMITED'],
      [],
    ]);
  });

  it('shows what is done about each', () => {
    const recoveries = told('recovery').map((act) => act.map((text) => text.replace(/:.*/, '')));
    expect(recoveries).toEqual([
      ['retry'],
      ['retry', 'retry'],
      ['fall-back'],
      ['retry'],
      ['retry', 'verify'],
      ['nudge', 'withdraw-tool', 'tell-model'],
      ['suspend'],
      [],
    ]);
  });

  it('ends every act with an answer, but for the loop and the long wait', () => {
    expect(told('answer').map((act) => act.length)).toEqual([1, 1, 1, 1, 1, 0, 0, 1]);
    expect(told('stopped').flat()).toEqual(['loop: nothing was answered so far']);
    expect(told('suspended').flat().join('\n')).toMatch(/^long-wait: .*\napproval: refund {"orderId":"23"/);
  });

  it('counts at the server and in the tools that nothing finished is done again', () => {
    expect(told('counted').flat()).toEqual([
      '3 requests, find_order ran once',
      '5 requests, find_order ran once, refund ran once',
      '3 requests, refund ran once',
      '3 requests, refund ran once',
      '3 requests, refund ran once, get_weather ran twice',
      '4 requests, search_orders ran 3 times',
      '2 requests, find_order ran once',
      '2 requests, refund ran once',
    ]);
    const text = shown.plain.replaceAll(/\s+/g, ' ');
    expect(text).toContain(
      '7 failures overcome. Counted at the server: 25 requests, 10 hit an injected fault.',
    );
    expect(text).toContain('5 refunds for 5 orders, 0 doubled.');
  });

  it('says of each act what is staged and what it would have been otherwise', () => {
    expect(told('staged').map((act) => act.length)).toEqual(acts.map(() => 1));
    expect(told('without').flat()).toEqual(acts.map((act) => act.without));
  });

  it('fits 80 columns and is plain without colour, and gold with it', () => {
    expect(Math.max(...shown.plain.split('\n').map(displayWidth))).toBeLessThanOrEqual(80);
    expect(shown.plain).not.toContain('\u001B');
    expect(shown.plain).not.toMatch(/\n\n\n/);
    expect(shown.coloured).toContain('\u001B[38;5;178mretry: ');
  });

  it('fits 50 columns', () => {
    expect(Math.max(...shown.narrow.split('\n').map(displayWidth))).toBeLessThanOrEqual(50);
  });

  it('ends with three commands to type', () => {
    const lines = shown.plain.trimEnd().split('\n');
    expect(lines.slice(lines.indexOf('Type next') + 1)).toHaveLength(3);
    expect(shown.narrow).toContain('  node dist/cli/main.js tour\n    seven failures');
  });
});
