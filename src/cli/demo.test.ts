import { describe, expect, it } from 'vitest';
import { acts } from './demo-acts.ts';
import { runDemo } from './demo.ts';
import type { CliIo } from './io.ts';
import { displayWidth } from './wrap.ts';

async function watch(io: Partial<CliIo> = {}): Promise<string> {
  let text = '';
  await runDemo({
    stdout: { write: (piece) => (text += piece) },
    stderr: { write: () => undefined },
    stdin: () => (async function* () {})(),
    readFile: () => (async function* () {})(),
    isTerminal: { stdin: false, stdout: false, stderr: false },
    columns: 80,
    env: {},
    now: () => 0,
    command: 'npx rerail',
    version: '0.0.0',
    ...io,
  });
  return text;
}

describe('runDemo()', () => {
  it('shows one failure, typed, for each act, and overcomes all but the wrong key', async () => {
    const text = await watch();
    const codes = [...text.matchAll(/failure {4}(\w+)/g)].map(([, code]) => code);
    expect(codes).toEqual([
      'STREAM_INTERRUPTED',
      'STREAM_INTERRUPTED',
      'RATE_LIMITED',
      'QUOTA_EXCEEDED',
      'EMPTY_RESPONSE',
      'TIMEOUT',
      'AUTHENTICATION_ERROR',
    ]);
    expect(text.match(/^ {3}answer /gm)).toHaveLength(acts.length - 1);
    expect(text.match(/^ {3}told /gm)).toHaveLength(1);
    expect(text.replaceAll(/\s+/g, ' ')).toContain('6 failures overcome with 13 requests in all');
  });

  it('fits 80 columns and is plain where nobody wants colour, and gold where somebody does', async () => {
    const text = await watch();
    expect(Math.max(...text.split('\n').map(displayWidth))).toBeLessThanOrEqual(80);
    expect(text).not.toContain('\u001B');
    expect(text).not.toMatch(/\n\n\n/);
    expect(await watch({ env: { FORCE_COLOR: '1' } })).toContain('\u001B[38;5;178m');
  });

  it('ends with three commands to type', async () => {
    const lines = (await watch()).trimEnd().split('\n');
    expect(lines.slice(lines.indexOf('Type next') + 1)).toHaveLength(3);
  });
});
