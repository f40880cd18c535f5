import * as opentelemetry from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, describe, expect, it } from 'vitest';
import { createAgent, tool } from '../../src/index.ts';
import { openTelemetry } from '../../src/telemetry/index.ts';
import type { TelemetryApi } from '../../src/telemetry/telemetry-api.ts';
import { scriptedModel } from '../../src/testing/index.ts';

afterEach(() => {
  opentelemetry.trace.disable();
  opentelemetry.context.disable();
});

function register(): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter();
  opentelemetry.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  opentelemetry.trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  return exporter;
}

function agentOf(execute: () => unknown, api?: TelemetryApi) {
  const look = tool({
    name: 'look',
    description: 'Looks.',
    input: { type: 'object' },
    effect: 'read',
    execute,
  });
  const calls = [
    { name: 'look', arguments: { at: 1 } },
    { name: 'look', arguments: { at: 2 } },
  ];
  const hook = openTelemetry(api === undefined ? {} : { api });
  const model = scriptedModel([{ toolCalls: calls }, 'done'], { provider: 'openai', name: 'gpt' });
  return { hook, agent: createAgent({ name: 'clerk', model, tools: [look], hooks: [hook] }) };
}

describe('spans that a tool makes', () => {
  it('are children of the span of its call, also after it has waited', async () => {
    const exporter = register();
    const { agent } = agentOf(async () => {
      await Promise.resolve();
      opentelemetry.trace.getTracer('own').startSpan('query').end();
      return 'seen';
    });
    await agent.run('go');
    const spans = exporter.getFinishedSpans();
    const callIds = spans
      .filter(({ name }) => name === 'execute_tool look')
      .map((span) => span.spanContext().spanId);
    const parents = spans
      .filter(({ name }) => name === 'query')
      .map(({ parentSpanContext: parent }) => parent?.spanId);
    expect(new Set(callIds).size).toBe(2);
    expect(new Set(parents)).toEqual(new Set(callIds));
    expect(parents).toHaveLength(2);
  });

  it.each<readonly [string, NonNullable<TelemetryApi['context']['with']>]>([
    [
      'throws',
      () => {
        throw new Error('no context');
      },
    ],
    [
      'throws afterwards',
      (_, work) => {
        work();
        throw new Error('no context');
      },
    ],
    ['calls nothing', () => undefined as never],
  ])('do not concern the tool where the context manager %s: it is called once', async (_, within) => {
    register();
    let count = 0;
    const context = { active: () => opentelemetry.context.active(), with: within };
    const { agent } = agentOf(() => `seen ${(count += 1)}`, {
      trace: opentelemetry.trace,
      context,
    });
    const outcome = await agent.run('go');
    expect(count).toBe(2);
    expect(JSON.stringify(outcome.messages)).toMatch(/seen 1.*seen 2/);
  });

  it('do not keep what the tool throws from being its failure', async () => {
    register();
    const { agent, hook } = agentOf(() => {
      throw new TypeError('a bug of the tool');
    });
    expect(JSON.stringify((await agent.run('go')).messages)).toContain('a bug of the tool');
    expect(hook.report()).toEqual({ openRuns: 0, dropped: 0 });
  });
});

it('openTelemetry() measures tokens and times', async () => {
  register();
  const records: (readonly [string, number, object])[] = [];
  const createHistogram = (name: string) => ({
    record: (value: number, attributes: object) => void records.push([name, value, attributes]),
  });
  const { agent } = agentOf(() => 'seen', {
    trace: opentelemetry.trace,
    context: opentelemetry.context,
    metrics: { getMeter: () => ({ createHistogram }) },
  });
  await agent.run('go');
  const named = (name: string) =>
    records.filter(([one]) => one === name).map(([, value, facts]) => ({ value, ...facts }));
  expect(named('gen_ai.client.token.usage').slice(0, 2)).toEqual([
    expect.objectContaining({ value: 10, 'gen_ai.token.type': 'input', 'gen_ai.provider.name': 'openai' }),
    expect.objectContaining({ value: 5, 'gen_ai.token.type': 'output', 'gen_ai.request.model': 'gpt' }),
  ]);
  const operations = named('gen_ai.client.operation.duration').map((one): unknown =>
    Reflect.get(one, 'gen_ai.operation.name'),
  );
  expect(operations).toEqual(['chat', 'execute_tool', 'execute_tool', 'chat', 'invoke_agent']);
});
