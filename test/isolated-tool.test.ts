import { expect, it } from 'vitest';
import { systemClock } from '../src/base/system.ts';
import type { Tool, ToolContext } from '../src/model/tool.ts';
import { createLeftBehind } from '../src/runtime/tool-call/left-behind.ts';
import { runTool } from '../src/runtime/tool-call/run-tool.ts';
import type { ToolRun, ToolRunOptions } from '../src/runtime/tool-call/run-tool.ts';
import { guardExit } from '../src/tools/exit-guard.ts';
import { createIsolated } from '../src/tools/isolate.ts';

function makeRun(execute: Tool['execute'], timeoutMs: number): ToolRun {
  const tool: Tool = {
    name: 'probe',
    description: 'For tests.',
    parameters: { type: 'object' },
    effect: 'read',
    timeoutMs,
    permission: 'allow',
    maxResultCharacters: 1000,
    parse: (value) => ({ type: 'valid', value }),
    execute,
  };
  const who = { callId: 'call-1', runId: 'run-1', turn: 1, attempt: 1, idempotencyKey: 'key-1' };
  return { tool, input: { a: 1 }, leftMs: 60_000, ...who };
}

const options: ToolRunOptions = {
  clock: systemClock,
  signal: new AbortController().signal,
  leftBehind: createLeftBehind(),
  owner: { onStray: () => 'taken' },
  onProgress: () => undefined,
  onLate: () => undefined,
  assist: () => Promise.reject(new Error('not asked for')),
  onBackground: () => undefined,
};

const spin = (): never => {
  for (;;);
};
const ask = (_input: unknown, { retry }: ToolContext): never => retry('with a number');
const find = (_input: unknown, { fail }: ToolContext): never => fail('no row 7', { code: 'NOT_FOUND' });
const connect = (): never => {
  throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
};
const method = (): unknown => ({ run: () => 1 });

it.each([
  { what: 'that spins for ever', source: spin, timeoutMs: 300, end: { failure: { code: 'TIMEOUT' } } },
  { what: 'that asks for a retry', source: ask, end: { type: 'retry', content: 'with a number' } },
  { what: 'that fails in its own words', source: find, end: { failure: { code: 'NOT_FOUND' } } },
  { what: 'that finds no server', source: connect, end: { failure: { code: 'NETWORK_ERROR' } } },
  { what: 'with a method in its result', source: method, end: { failure: { code: 'SERIALIZATION_ERROR' } } },
])('an isolated tool $what ends its call typed', async ({ source, timeoutMs = 60_000, end }) => {
  const execute = createIsolated({ name: 'probe', source });
  expect(await runTool(makeRun(execute, timeoutMs), options)).toMatchObject(end);
});

it('a tool that calls process.exit in this process has failed, and the process goes on', async () => {
  const execute = guardExit(async () => {
    await Promise.resolve();
    process.exit(1);
  });
  expect(await runTool(makeRun(execute, 60_000), options)).toMatchObject({
    type: 'failed',
    failure: { code: 'TOOL_EXECUTION_ERROR', message: expect.stringContaining('process.exit(1)') as string },
  });
});
