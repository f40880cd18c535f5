import { describe, expect, it } from 'vitest';
import type { CliIo } from '../start/io.ts';
import { readRunFlags, readSchemaFile } from './run-flags.ts';

const piped = { isTerminal: { stdin: false, stdout: false, stderr: false }, terminal: undefined } as CliIo;
const typed = { isTerminal: { stdin: true, stdout: true, stderr: true }, terminal: undefined } as CliIo;

function file(content: string): CliIo {
  return {
    ...piped,
    stderr: { write: () => undefined },
    async *readFile() {
      yield new TextEncoder().encode(content);
    },
  };
}

describe('readRunFlags()', () => {
  it.each([
    { flags: { maxTurns: '0' }, message: '--max-turns must be a whole number from 1 to 10000, got "0"' },
    { flags: { maxTurns: '1.5' }, message: '--max-turns must be a whole number from 1 to 10000, got "1.5"' },
    { flags: { timeout: 'soon' }, message: '--timeout must be a time up to 24h, as 90s or 10m, got "soon"' },
    { flags: { timeout: '0s' }, message: '--timeout must be a time up to 24h, as 90s or 10m, got "0s"' },
    { flags: { timeout: '25h' }, message: '--timeout must be a time up to 24h, as 90s or 10m, got "25h"' },
    { flags: { runId: '' }, message: '--run-id must be a name of 1 to 200 characters' },
  ])('refuses $flags', ({ flags, message }) => {
    expect(() => readRunFlags({ flags }, piped)).toThrow(message);
  });

  it.each([
    { timeout: '90s', timeoutMs: 90_000 },
    { timeout: '10m', timeoutMs: 600_000 },
    { timeout: '1h', timeoutMs: 3_600_000 },
    { timeout: '500ms', timeoutMs: 500 },
    { timeout: '1.5', timeoutMs: 1500 },
  ])('reads --timeout $timeout', ({ timeout, timeoutMs }) => {
    expect(readRunFlags({ flags: { timeout } }, piped).limits).toEqual({ timeoutMs });
  });

  it.each([
    { name: 'denies without a person', io: piped, flags: {}, onApproval: 'deny' },
    { name: 'asks where a person sits there', io: typed, flags: {}, onApproval: 'ask' },
    {
      name: 'denies under --json, which no person reads',
      io: typed,
      flags: { json: true },
      onApproval: 'deny',
    },
    { name: 'does as it is told', io: typed, flags: { onApproval: 'suspend' }, onApproval: 'suspend' },
  ])('$name', ({ io, flags, onApproval }) => {
    expect(readRunFlags({ flags }, io).onApproval).toBe(onApproval);
  });
});

describe('readSchemaFile()', () => {
  it.each([
    { content: '{"type":', message: '--output-schema "a.json" is not JSON' },
    { content: '[]', message: '--output-schema "a.json" is no JSON object' },
  ])('refuses $content', async ({ content, message }) => {
    await expect(readSchemaFile('a.json', file(content))).rejects.toThrow(message);
  });

  it('gives the schema', async () => {
    expect(await readSchemaFile('a.json', file('{"type":"object"}'))).toEqual({ type: 'object' });
  });
});
