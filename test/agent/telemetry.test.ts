import * as opentelemetry from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunOutcome } from '../../src/index.ts';
import type { LogEntry } from '../../src/agent/log.ts';
import { createLogHook } from '../../src/runtime/watch/logging.ts';
import { openTelemetry } from '../../src/telemetry/index.ts';
import { calling, eventsOf, expectType, plainTool, setScene, watchEverything } from './scene.ts';
import type { Scene } from './scene.ts';

watchEverything();

afterEach(() => {
  opentelemetry.trace.disable();
  opentelemetry.context.disable();
});

/** Registers the real SDK with an exporter. */
function register(exporter: SpanExporter): void {
  opentelemetry.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  opentelemetry.trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
}

const secret = `sk-ant-api03-${'A1b2C3d4E5'.repeat(9)}AA`;

/** A run with a retried model, a tool that fails once, and prices. */
function paidScene(hook: Parameters<typeof createLogHook>[0] | ReturnType<typeof openTelemetry>): Scene {
  let lookups = 0;
  const find = plainTool({
    name: 'find',
    effect: 'read',
    execute: (_input, { fail }) => {
      lookups += 1;
      return lookups === 1
        ? fail('restarting', { code: 'SERVER_ERROR', retryable: true })
        : `found ${secret}`;
    },
  });
  return setScene({
    name: 'support',
    tools: [find],
    hooks: [typeof hook === 'function' ? createLogHook(hook) : hook],
    modelOptions: {
      provider: 'openai',
      name: 'gpt-5.2',
      usage: { inputTokens: 1000, outputTokens: 500 },
      price: { inputUsd: 1, outputUsd: 2, asOf: '2026-01-01' },
    },
    script: [{ failure: 'OVERLOADED' }, calling('find', { key: secret }), 'Found.'],
  });
}

const byName = (spans: readonly ReadableSpan[], start: string): readonly ReadableSpan[] =>
  spans.filter(({ name }) => name.startsWith(start));

describe('openTelemetry() as a hook of a real run', () => {
  it('makes a tree of spans with recoveries, tokens and cost', async () => {
    const exporter = new InMemorySpanExporter();
    register(exporter);
    const hook = openTelemetry();
    const { run } = paidScene(hook);
    const outcome = expectType(await run('Find it.', { runId: 'run-1' }), 'completed');
    const spans = exporter.getFinishedSpans();
    const [agent] = byName(spans, 'invoke_agent');
    const chats = byName(spans, 'chat gpt-5.2');
    const tools = byName(spans, 'execute_tool find');
    expect([spans.length, chats.length, tools.length]).toEqual([6, 3, 2]);
    const id = agent?.spanContext().spanId;
    expect([...chats, ...tools].map((span) => span.parentSpanContext?.spanId)).toEqual([id, id, id, id, id]);
    expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
    expect(agent).toMatchObject({
      name: 'invoke_agent support',
      attributes: {
        'rerail.run_id': 'run-1',
        'rerail.outcome': 'completed',
        'rerail.turns': 2,
        'rerail.recoveries': 2,
        'gen_ai.usage.input_tokens': 2000,
        'gen_ai.usage.output_tokens': 1000,
      },
    });
    expect(outcome.usage.costUsd).toBeCloseTo(0.004);
    expect(chats.map(({ attributes }) => attributes['rerail.cost_usd'])).toEqual([undefined, 0.002, 0.002]);
    // Nobody said what the failed attempt cost, and a sum with an unknown part in it is no cost.
    expect([outcome.usage.unknownCost, agent?.attributes['rerail.cost_usd']]).toEqual([1, undefined]);
    expect(agent?.events.map(({ name, attributes }) => [name, attributes?.['error.type']])).toEqual([
      ['rerail.retry', 'OVERLOADED'],
      ['rerail.failure', 'SERVER_ERROR'],
      ['rerail.retry', 'SERVER_ERROR'],
    ]);
    expect(
      chats.map(({ attributes }) => [
        attributes['error.type'],
        attributes['gen_ai.usage.input_tokens'],
        attributes['rerail.attempt'],
      ]),
    ).toEqual([
      ['OVERLOADED', undefined, 1],
      [undefined, 1000, 2],
      [undefined, 1000, 1],
    ]);
    expect(tools.map(({ attributes }) => attributes['rerail.tool_end'])).toEqual(['failed', 'ok']);
    expect(hook.report()).toEqual({ openRuns: 0, dropped: 0 });
    expect(JSON.stringify(spans.map(({ attributes, events }) => [attributes, events]))).not.toContain(
      'sk-ant',
    );
  });

  it('tells the cost of a run whose every request has one', async () => {
    const exporter = new InMemorySpanExporter();
    register(exporter);
    const price = { inputUsd: 1, outputUsd: 2, asOf: '2026-01-01' };
    const usage = { inputTokens: 1000, outputTokens: 500 };
    const { run } = setScene({ hooks: [openTelemetry()], modelOptions: { price, usage }, script: ['Fine.'] });
    await run();
    const [agent] = byName(exporter.getFinishedSpans(), 'invoke_agent');
    expect(agent?.attributes['rerail.cost_usd']).toBe(0.002);
  });

  it('hangs under the span that is active where the run is begun', async () => {
    const exporter = new InMemorySpanExporter();
    register(exporter);
    const { run } = paidScene(openTelemetry());
    const request = opentelemetry.trace.getTracer('app').startSpan('GET /');
    await opentelemetry.context.with(
      opentelemetry.trace.setSpan(opentelemetry.context.active(), request),
      () => run(),
    );
    request.end();
    const [agent] = byName(exporter.getFinishedSpans(), 'invoke_agent');
    expect(agent?.parentSpanContext?.spanId).toBe(request.spanContext().spanId);
  });

  it.each([
    {
      what: 'throws',
      exporter: {
        export: () => {
          throw new Error('no collector');
        },
        shutdown: () => Promise.resolve(),
      },
    },
    {
      what: 'fails',
      exporter: {
        export: (_spans: unknown, done: (result: { code: number; error: Error }) => void) =>
          done({ code: 1, error: new Error('no collector') }),
        shutdown: () => Promise.resolve(),
      },
    },
  ])('is not noticed where its exporter $what', async ({ exporter }) => {
    opentelemetry.diag.disable();
    const plain = await paidScene(() => undefined).run('Find it.', { runId: 'run-1' });
    register(exporter);
    const scene = paidScene(openTelemetry());
    const outcome = await scene.run('Find it.', { runId: 'run-1' });
    expect(outcome).toEqual(plain);
    expect(eventsOf(scene.events, 'hook-failed')).toEqual([]);
  });

  it('tells of a run that was suspended and resumed as two spans', async () => {
    const exporter = new InMemorySpanExporter();
    register(exporter);
    const pay = plainTool({ name: 'pay', permission: 'ask', execute: () => 'paid' });
    const { run, resume } = setScene({
      tools: [pay],
      hooks: [openTelemetry()],
      script: [calling('pay'), 'Paid.'],
    });
    const { runId } = await run();
    await resume(runId, { answer: true });
    const agents = byName(exporter.getFinishedSpans(), 'invoke_agent');
    expect(
      agents.map(({ attributes }) => [attributes['rerail.outcome'], attributes['rerail.is_resumed']]),
    ).toEqual([
      ['suspended', undefined],
      ['completed', true],
    ]);
  });
});

describe('createLogHook() as a hook of a real run', () => {
  it('writes what happened, in order, without what was said', async () => {
    const entries: LogEntry[] = [];
    const { run } = paidScene((entry) => void entries.push(entry));
    await run(`Find ${secret}.`, { runId: 'run-1' });
    const messages = entries.map(({ message }) => message);
    expect(messages[0]).toBe('Run started');
    expect(messages.at(-1)).toBe('Run finished');
    expect(messages.filter((message) => message.includes('ecover'))).toHaveLength(2);
    expect(entries.every(({ fields }) => fields['runId'] === 'run-1' && fields['agent'] === 'support')).toBe(
      true,
    );
    expect(JSON.stringify(entries)).not.toContain('sk-ant');
    expect(JSON.stringify(entries)).not.toContain('Found.');
  });

  it('that throws is noted, and the run goes on', async () => {
    const scene = paidScene(() => {
      throw new Error('the disk is full');
    });
    const outcome: RunOutcome = await scene.run();
    expectType(outcome, 'completed');
    const noted = eventsOf(scene.events, 'hook-failed');
    expect(noted.length).toBeGreaterThan(0);
    expect(noted.length).toBeLessThanOrEqual(20);
    expect(noted[0]).toMatchObject({ hook: 'log', point: 'event', failure: { code: 'HOOK_FAILED' } });
  });
});
