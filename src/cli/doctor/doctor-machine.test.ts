import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/system.ts';
import { sandboxLevels } from '../../tools/sandbox/sandbox.ts';
import { openWorkspace } from '../../tools/workspace/open-workspace.ts';
import { checkClock, checkSandbox, checkTerminal } from './doctor-machine.ts';
import type { Moment, ServerTime } from './doctor-machine.ts';

const at = (wallMs: number, monotonicMs: number): Moment => ({ wallMs, monotonicMs });
const now = Date.UTC(2026, 10, 15, 12, 0, 0);
const server = (offsetMs: number): ServerTime => ({
  provider: 'openai',
  serverMs: now + offsetMs,
  wallMs: now,
});

interface ClockRow {
  readonly what: string;
  readonly from?: Moment;
  readonly to: Moment;
  readonly servers?: readonly ServerTime[];
  readonly says: RegExp;
}

describe('checkClock() warns of', () => {
  it.each<ClockRow>([
    { what: 'a year that cannot be', to: at(0, 0), says: /1970-01-01 00:00:00 UTC, which cannot be/ },
    { what: 'a far future', to: at(Date.UTC(2101, 0, 1), 0), says: /2101/ },
    { what: 'no time at all', to: at(Number.NaN, 0), says: /nothing that is a time/ },
    { what: 'a jump back', from: at(now, 0), to: at(now - 5000, 100), says: /jumped by -5100 ms/ },
    { what: 'a jump ahead', from: at(now, 0), to: at(now + 900, 100), says: /jumped by 800 ms/ },
    {
      what: 'being ahead',
      to: at(now, 0),
      servers: [server(0), server(-90_000)],
      says: /90 s ahead of openai/,
    },
    { what: 'being behind', to: at(now, 0), servers: [server(3_600_000)], says: /3600 s behind openai/ },
  ])('$what', ({ from, to, servers, says }) => {
    const check = checkClock(from ?? to, to, servers);
    expect(check.status).toBe('warning');
    expect(check.text).toMatch(says);
    expect(check.advice).toContain('NTP');
  });

  it('nothing where the clock can be believed', () => {
    expect(checkClock(at(now, 0), at(now + 550, 500), [server(2000)])).toEqual({
      name: 'clock',
      status: 'ok',
      text: '2026-11-15 12:00:00 UTC, and openai agrees',
    });
  });
});

describe('checkTerminal()', () => {
  const terminal = { stdin: true, stdout: true, stderr: true };
  it.each([
    { what: 'no Unicode', env: { LANG: 'C' }, status: 'warning', says: /perhaps no Unicode/ },
    { what: 'no locale', env: {}, status: 'warning', says: /perhaps no Unicode/ },
    { what: 'all', env: { LANG: 'en_GB.UTF-8' }, status: 'ok', says: /^120 columns, colour, Unicode/ },
    { what: 'no colour', env: { LC_ALL: 'C.utf8', NO_COLOR: '1' }, status: 'ok', says: /no colour/ },
  ])('says of a terminal with $what what it can do', ({ env, status, says }) => {
    const check = checkTerminal({ isTerminal: terminal, columns: 120, env, terminal: undefined });
    expect(check.status).toBe(status);
    expect(check.text).toMatch(says);
  });

  it('is content with no terminal', () => {
    const none = { stdin: false, stdout: false, stderr: false };
    const check = checkTerminal({ isTerminal: none, columns: undefined, env: {}, terminal: undefined });
    expect(check).toMatchObject({ status: 'ok', text: expect.stringMatching(/^no terminal/) as string });
  });
});

describe('checkSandbox()', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rerail-doctor-'));
  const { signal } = new AbortController();
  const ask = { folder, choice: {}, clock: systemClock, signal };
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('fails where there is no such folder', async () => {
    const check = await checkSandbox({ ...ask, folder: path.join(folder, 'none') });
    expect(check).toMatchObject({ status: 'failure', failure: { code: 'CONFIG_ERROR' } });
  });

  it('ends when it is interrupted', async () => {
    const aborted = AbortSignal.abort(new Error('enough'));
    await expect(checkSandbox({ ...ask, signal: aborted })).rejects.toThrow('enough');
  });

  it('warns where it was switched off, in the words of the label', async () => {
    const check = await checkSandbox({ ...ask, choice: { off: 'a test' } });
    expect(check).toMatchObject({ status: 'warning', text: 'Containment switched off by a test.' });
  });

  it('says what this machine has, with the label of the sandbox itself', async () => {
    const sandbox = await (await openWorkspace(folder)).sandbox();
    const check = await checkSandbox(ask);
    expect(check.text.startsWith(sandbox.label)).toBe(true);
    expect(check.status).toBe(sandbox.level === sandboxLevels[0] ? 'ok' : 'warning');
  });
});
