import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ToolEnd } from '../../agent/tools/tool-call.ts';
import { createFailure, severityOf } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { emptyLedger } from '../../resilience/ledger.ts';
import { createLeftBehind } from '../../runtime/tool-call/left-behind.ts';
import { runTool, verifyTool } from '../../runtime/tool-call/run-tool.ts';
import type { ToolRun, ToolRunOptions } from '../../runtime/tool-call/run-tool.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { capability } from './capability.ts';
import { capabilityTool, maxProvidedCharacters } from './capability-tool.ts';
import type { CapabilityContext, CapabilityVerdict } from './plan-types.ts';

const weather = {
  name: 'weather',
  description: 'The weather in a city.',
  requires: { city: z.string() },
  provides: { degrees: z.number() },
} as const;

function runOf(made: ReturnType<typeof capability>, values: ToolRun['input']): [ToolRun, ToolRunOptions] {
  const run: ToolRun = {
    tool: capabilityTool(made),
    callId: 'call-1',
    input: { key: 'a', task: 'the task', objective: 'the objective', values },
    runId: 'run-1',
    turn: 1,
    attempt: 1,
    idempotencyKey: 'key-1',
    leftMs: 60_000,
  };
  const options: ToolRunOptions = {
    clock: simulatedClock(),
    signal: new AbortController().signal,
    leftBehind: createLeftBehind(),
    owner: { onStray: () => 'taken' },
    onProgress: () => undefined,
    onLate: () => undefined,
    onBackground: () => undefined,
    assist: () => Promise.resolve({ value: '', charge: emptyLedger }),
  };
  return [run, options];
}

async function call(
  made: ReturnType<typeof capability>,
  values: ToolRun['input'] = { city: 'Oslo' },
): Promise<ToolEnd> {
  return (await runTool(...runOf(made, values))) as ToolEnd; // None of these asks a person.
}

async function failed(
  made: ReturnType<typeof capability>,
  values?: ToolRun['input'],
): Promise<NonNullable<ToolEnd['failure']>> {
  const { type, failure } = await call(made, values);
  if (type !== 'failed' || failure === undefined) throw new Error(`It ended ${type}`);
  return failure;
}

describe('capabilityTool()', () => {
  it.each([
    { values: {}, message: 'requires the value "city", and it was not given' },
    { values: { city: 7 }, message: 'requires the value "city", and it does not fit' },
  ])('does not begin with $values, and asks for another plan', async ({ values, message }) => {
    let begun = 0;
    const made = capability({
      ...weather,
      execute: () => {
        begun += 1;
        return { degrees: 1 };
      },
    });
    const failure = await failed(made, values);
    expect(failure).toMatchObject({ code: 'VALIDATION_ERROR', retryable: false, sideEffect: 'none' });
    expect(failure.message).toContain(message);
    expect(severityOf(failure)).toBe('replanning');
    expect(begun).toBe(0);
  });

  it.each([
    { given: {}, message: 'promises to provide the value "degrees", and did not' },
    { given: undefined, message: 'promises to provide the value "degrees", and did not' },
    { given: { degrees: 'warm' }, message: 'promises to provide the value "degrees", and it does not fit' },
  ])('fails for good where it provides $given', async ({ given, message }) => {
    const made = capability({ ...weather, execute: () => given as { degrees: number } });
    const failure = await failed(made);
    expect(failure.message).toContain(`capability "weather" ${message}`);
    expect(severityOf(failure)).toBe('critical');
  });

  it('fails for good where a value cannot be written down', async () => {
    const made = capability({
      ...weather,
      provides: { degrees: z.date() },
      execute: () => ({ degrees: new Date(0) }),
    });
    expect((await failed(made)).message).toContain('it is no JSON');
  });

  it('asks for a reference where the values are too long', async () => {
    const made = capability({
      ...weather,
      provides: { text: z.string() },
      execute: () => ({ text: 'x'.repeat(maxProvidedCharacters) }),
    });
    const failure = await failed(made);
    expect(failure.message).toContain('provides 1,000,011 characters, and at most 1,000,000 are kept');
    expect(failure.hint).toContain('Return a reference instead');
    expect(severityOf(failure)).toBe('critical');
  });

  it.each<{ verdict: CapabilityVerdict | undefined; severity: string; failure: object }>([
    { verdict: { severity: 'retriable' }, severity: 'retriable', failure: { retryable: true } },
    {
      verdict: { severity: 'replanning', message: 'no such sensor', code: 'NOT_FOUND', sideEffect: 'none' },
      severity: 'replanning',
      failure: { retryable: false, code: 'NOT_FOUND', message: 'no such sensor', sideEffect: 'none' },
    },
    {
      verdict: { severity: 'reclassification' },
      severity: 'reclassification',
      failure: { retryable: false },
    },
    {
      verdict: { severity: 'critical', code: 'TIMEOUT' },
      severity: 'critical',
      failure: { retryable: false },
    },
    { verdict: { severity: 'fatal' }, severity: 'fatal', failure: { retryable: false } },
    {
      verdict: { code: 'RATE_LIMITED', retryAfterMs: 5 },
      severity: 'retriable',
      failure: { retryable: true, retryAfterMs: 5 },
    },
    {
      verdict: { severity: 'bad' as 'fatal' },
      severity: 'replanning',
      failure: { code: 'TOOL_EXECUTION_ERROR' },
    },
    { verdict: undefined, severity: 'replanning', failure: { code: 'TOOL_EXECUTION_ERROR' } },
  ])('takes the verdict $verdict', async ({ verdict, severity, failure }) => {
    const made = capability({
      ...weather,
      execute: () => {
        throw RerailError.from(createFailure('TOOL_EXECUTION_ERROR', { message: 'it broke' }));
      },
      classifyError: () => verdict,
    });
    const found = await failed(made);
    expect(found).toMatchObject(failure);
    expect(severityOf(found)).toBe(severity);
  });

  it('keeps the metadata of a verdict, redacted and bounded', async () => {
    const made = capability({
      ...weather,
      execute: () => {
        throw new Error('it broke');
      },
      classifyError: () => ({
        severity: 'critical',
        metadata: {
          suggestions: ['look'],
          key: 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz012345',
          long: 'x'.repeat(5000),
        },
      }),
    });
    const { context } = await failed(made);
    expect(context).toMatchObject({ severity: 'critical', metadata: { suggestions: ['look'] } });
    const text = JSON.stringify(context);
    expect(text).not.toContain('abcdefghijklmnop');
    expect(text.length).toBeLessThan(2000);
  });

  it('gives the values, parsed, with what the step is for, and gives back what is promised as JSON', async () => {
    const seen: unknown[] = [];
    const made = capability({
      ...weather,
      requires: { city: z.string().transform((city) => city.toUpperCase()) },
      execute: ({ city }, context) => {
        const { task, objective, idempotencyKey, attempt } = context;
        seen.push({ city, task, objective, idempotencyKey, attempt, aborted: context.signal.aborted });
        seen.push(Object.keys(spread(context)).includes('signal'));
        return { degrees: 3, besides: true };
      },
    });
    expect(await call(made)).toMatchObject({ type: 'ok', content: '{"degrees":3}' });
    expect(seen).toEqual([
      {
        city: 'OSLO',
        task: 'the task',
        objective: 'the objective',
        idempotencyKey: 'key-1',
        attempt: 1,
        aborted: false,
      },
      true,
    ]);
  });

  it('may provide nothing', async () => {
    expect(
      await call(capability({ name: 'mail', description: 'Sends.', execute: () => undefined }), {}),
    ).toMatchObject({
      type: 'ok',
      content: '{}',
    });
  });

  it('has the defaults of a tool, but for the length of a result, and passes the rest through', () => {
    const execute = (): { degrees: number } => ({ degrees: 1 });
    expect(capabilityTool(capability({ ...weather, execute }))).toMatchObject({
      effect: 'once',
      timeoutMs: 30_000,
      permission: 'allow',
      maxResultCharacters: 1_000_000,
      repeats: 'any',
    });
    const told = { effect: 'read', timeoutMs: 5, permission: 'ask' } as const;
    expect(capabilityTool(capability({ ...weather, ...told, execute }))).toMatchObject(told);
  });

  it.each([
    { found: { happened: false } as const, type: 'did-not-happen', content: undefined },
    { found: { happened: 'unknown' } as const, type: 'unknown', content: undefined },
    {
      found: { happened: true, result: { degrees: 4 } } as const,
      type: 'happened',
      content: '{"degrees":4}',
    },
    { found: { happened: true, result: { degrees: 'x' } } as const, type: 'unknown', content: undefined },
  ])('asks whether it happened: $found', async ({ found, type, content }) => {
    const made = capability({ ...weather, execute: () => ({ degrees: 1 }), verify: () => found });
    const end = await verifyTool(...runOf(made, { city: 'Oslo' }));
    expect(end.type).toBe(type);
    expect(end).toMatchObject(content === undefined ? {} : { end: { content } });
  });
});

function spread(context: CapabilityContext): object {
  return { ...context };
}
