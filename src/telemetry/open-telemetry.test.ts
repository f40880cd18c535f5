import * as opentelemetry from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunEvent } from '../agent/run-event.ts';
import type { RunOutcome } from '../agent/run-outcome.ts';
import { loadPeer } from '../base/load-peer.ts';
import { createFailure } from '../errors/failure.ts';
import { maxOpenRuns, openTelemetry, telemetryHook } from './open-telemetry.ts';
import type { OpenTelemetryHook } from './open-telemetry.ts';
import type { TelemetryApi } from './telemetry-api.ts';

// The shape that we ask for is the shape of the real package.
const api: TelemetryApi = opentelemetry;
const about = { runId: 'run-1', agent: 'support' };
const secret = `sk-ant-api03-${'A1b2C3d4E5'.repeat(9)}AA`;
const limited = createFailure('RATE_LIMITED', { message: 'slow down', origin: 'model' });
const broken = createFailure('TOOL_EXECUTION_ERROR', { message: 'no such order', origin: 'tool' });
const facts = {
  runId: 'run-1',
  messages: [],
  usage: {
    requests: 3,
    inputTokens: 30,
    outputTokens: 12,
    unknownUsage: 0,
    costUsd: 0.5,
    unknownCost: 0,
    waitedMs: 0,
    lostTokens: 0,
    toolCalls: 2,
    elapsedMs: 20,
  },
  turns: 2,
  recoveries: [],
} as const;
const completed: RunOutcome = { ...facts, type: 'completed', output: 'ANSWER', text: 'ANSWER' };
const report = { person: { text: '', markdown: '' }, developer: { text: '', markdown: '' } };

const started: RunEvent = { type: 'run-started', ...about, input: [{ role: 'user', content: 'PROMPT' }] };
const finished: RunEvent = { type: 'run-finished', outcome: completed };
const attempt = (number: number, turn = 1): RunEvent => ({
  type: 'attempt-started',
  turn,
  attempt: number,
  provider: 'gemini',
  model: 'gemini-3-pro',
  isProbe: false,
});
const answered = (turn = 1): RunEvent => ({
  type: 'model-finished',
  turn,
  attempt: 2,
  provider: 'gemini',
  model: 'gemini-3-pro',
  durationMs: 5,
  finishReason: 'tool-calls',
  responseId: 'resp-1',
  servedBy: 'gemini-3-pro-001',
  inputTokens: 20,
  outputTokens: 7,
  costUsd: 0.25,
});
const call = { turn: 1, callId: 'c1', name: 'refund' } as const;
const toolStarted: RunEvent = { type: 'tool-started', ...call, input: { order: 'INPUT' }, attempt: 1 };
const end = { callId: 'c1', name: 'refund', content: 'RESULT', resultHash: 'h', durationMs: 3 } as const;

/** A run with a retried attempt, a tool that fails, one that does not, and an answer. */
const recorded: readonly RunEvent[] = [
  started,
  { type: 'turn-started', turn: 1, purpose: 'turn' },
  attempt(1),
  { type: 'failure', turn: 1, failure: limited },
  { type: 'recovery', turn: 1, failure: limited, recovery: 'retry', reason: 'it may pass', delayMs: 500 },
  attempt(2),
  { type: 'text-delta', turn: 1, text: 'ANSWER' },
  answered(),
  toolStarted,
  { ...toolStarted, callId: 'c2' },
  { type: 'tool-finished', ...call, attempt: 1, end: { ...end, type: 'failed', failure: broken } },
  { type: 'tool-finished', ...call, callId: 'c2', attempt: 1, end: { ...end, type: 'ok' } },
  { type: 'recovery', turn: 1, failure: broken, recovery: 'tell-model', reason: 'it can mend it' },
  attempt(1, 2),
  answered(2),
  finished,
];

function register(exporter: SpanExporter): void {
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  opentelemetry.trace.setGlobalTracerProvider(provider);
  opentelemetry.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
}

function tell(hook: OpenTelemetryHook, events: readonly RunEvent[], to = about): void {
  for (const event of events) void hook.onEvent?.(event, to);
}

function spansOf(events: readonly RunEvent[], options = {}): readonly ReadableSpan[] {
  const exporter = new InMemorySpanExporter();
  register(exporter);
  tell(openTelemetry(options), events);
  return exporter.getFinishedSpans();
}

afterEach(() => {
  opentelemetry.trace.disable();
  opentelemetry.context.disable();
});

describe('openTelemetry(), when telemetry itself fails', () => {
  it('does nothing where the package is missing, and says what to install', () => {
    const hook = telemetryHook(loadPeer('@no-such/api', { install: 'npm install @opentelemetry/api' }), {});
    tell(hook, recorded);
    expect(hook.onEvent).toBeUndefined();
    expect(hook.report()).toEqual({
      missing: '"@no-such/api" is not installed: npm install @opentelemetry/api',
      openRuns: 0,
      dropped: 0,
    });
  });

  it('does nothing where nobody has registered a tracer', () => {
    const hook = openTelemetry();
    tell(hook, recorded);
    expect(hook.report()).toEqual({ openRuns: 0, dropped: 0 });
  });

  const boom = (): never => {
    throw new Error(`the exporter is down, key ${secret}`);
  };
  const span = { setAttributes: boom, addEvent: boom, setStatus: boom, end: boom };
  const context = { active: () => opentelemetry.ROOT_CONTEXT };
  it.each([
    {
      what: 'a tracer that cannot be had',
      trace: { getTracer: boom, setSpan: () => opentelemetry.ROOT_CONTEXT },
    },
    {
      what: 'a tracer that throws',
      trace: { getTracer: () => ({ startSpan: boom }), setSpan: () => opentelemetry.ROOT_CONTEXT },
    },
    {
      what: 'spans that throw',
      trace: { getTracer: () => ({ startSpan: () => span }), setSpan: () => opentelemetry.ROOT_CONTEXT },
    },
    { what: 'a context that throws', trace: { getTracer: () => ({ startSpan: () => span }), setSpan: boom } },
  ])('survives $what, holds on to nothing and counts', ({ trace }) => {
    const hook = openTelemetry({ api: { trace, context } });
    tell(hook, recorded);
    expect(hook.report()).toMatchObject({ openRuns: 0 });
    expect(hook.report().dropped).toBeGreaterThan(3);
    expect(hook.report().lastFailure).toContain('the exporter is down');
    expect(hook.report().lastFailure).not.toContain(secret);
  });

  it('survives an api that is none', () => {
    const hook = openTelemetry({ api: {} as TelemetryApi });
    tell(hook, recorded);
    expect(hook.report()).toMatchObject({ openRuns: 0, dropped: 14 });
  });

  it('survives an exporter that throws, and one that hangs', () => {
    const exporters: readonly SpanExporter[] = [
      { export: boom, shutdown: () => Promise.resolve() },
      { export: () => undefined, shutdown: () => new Promise(() => undefined) },
    ];
    for (const exporter of exporters) {
      register(exporter);
      const hook = openTelemetry();
      expect(() => tell(hook, recorded)).not.toThrow();
      expect(hook.report().openRuns).toBe(0);
      opentelemetry.trace.disable();
    }
  });

  it('holds a bounded number of runs and ends the oldest', () => {
    const exporter = new InMemorySpanExporter();
    register(exporter);
    const hook = openTelemetry();
    for (let index = 0; index < maxOpenRuns + 5; index += 1) {
      tell(hook, [started, attempt(1)], { runId: `run-${index}`, agent: 'support' });
    }
    expect(hook.report()).toEqual({ openRuns: maxOpenRuns, dropped: 5 });
    expect(exporter.getFinishedSpans()).toHaveLength(10);
  });

  it('counts events of a run that it has not seen begin', () => {
    register(new InMemorySpanExporter());
    const hook = openTelemetry();
    tell(hook, [attempt(1), answered(), finished]);
    expect(hook.report()).toEqual({ openRuns: 0, dropped: 3 });
  });
});

describe('openTelemetry()', () => {
  it('makes a span of the run, of each attempt and of each tool call, all under the run', () => {
    const spans = spansOf(recorded);
    const agent = spans.at(-1);
    expect(spans.map(({ name, kind }) => [name, kind])).toEqual([
      ['chat gemini-3-pro', opentelemetry.SpanKind.CLIENT],
      ['chat gemini-3-pro', opentelemetry.SpanKind.CLIENT],
      ['execute_tool refund', opentelemetry.SpanKind.INTERNAL],
      ['execute_tool refund', opentelemetry.SpanKind.INTERNAL],
      ['chat gemini-3-pro', opentelemetry.SpanKind.CLIENT],
      ['invoke_agent support', opentelemetry.SpanKind.INTERNAL],
    ]);
    expect(agent?.parentSpanContext).toBeUndefined();
    const parents = spans.slice(0, -1).map(({ parentSpanContext }) => parentSpanContext?.spanId);
    expect(new Set(parents)).toEqual(new Set([agent?.spanContext().spanId]));
  });

  it('names what the conventions name', () => {
    const [failed, chat, refund, other, , agent] = spansOf(recorded);
    expect(failed?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.request.model': 'gemini-3-pro',
      'error.type': 'RATE_LIMITED',
      'rerail.turn': 1,
      'rerail.attempt': 1,
    });
    expect(failed?.status).toEqual({ code: opentelemetry.SpanStatusCode.ERROR, message: 'slow down' });
    expect(chat?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.request.model': 'gemini-3-pro',
      'gen_ai.response.model': 'gemini-3-pro-001',
      'gen_ai.response.id': 'resp-1',
      'gen_ai.response.finish_reasons': ['tool-calls'],
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.output_tokens': 7,
      'rerail.cost_usd': 0.25,
      'rerail.turn': 1,
      'rerail.attempt': 2,
    });
    expect(chat?.status.code).toBe(opentelemetry.SpanStatusCode.UNSET);
    expect(refund?.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'refund',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'c1',
      'error.type': 'TOOL_EXECUTION_ERROR',
      'rerail.tool_end': 'failed',
      'rerail.turn': 1,
      'rerail.attempt': 1,
    });
    expect(other?.attributes).toMatchObject({ 'gen_ai.tool.call.id': 'c2', 'rerail.tool_end': 'ok' });
    expect(agent?.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'support',
      'gen_ai.usage.input_tokens': 30,
      'gen_ai.usage.output_tokens': 12,
      'rerail.run_id': 'run-1',
      'rerail.outcome': 'completed',
      'rerail.turns': 2,
      'rerail.recoveries': 0,
      'rerail.cost_usd': 0.5,
    });
  });

  it('tells retries and recoveries as events of the run', () => {
    const agent = spansOf(recorded).at(-1);
    expect(agent?.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      [
        'rerail.retry',
        {
          'error.type': 'RATE_LIMITED',
          'rerail.recovery': 'retry',
          'rerail.reason': 'it may pass',
          'rerail.delay_ms': 500,
          'rerail.turn': 1,
        },
      ],
      [
        'rerail.recovery',
        {
          'error.type': 'TOOL_EXECUTION_ERROR',
          'rerail.recovery': 'tell-model',
          'rerail.reason': 'it can mend it',
          'rerail.turn': 1,
        },
      ],
    ]);
  });

  it('lets nothing out that people, models and tools said', () => {
    const spans = spansOf(recorded);
    const text = JSON.stringify(spans.map(({ name, attributes, events }) => ({ name, attributes, events })));
    expect(text).not.toMatch(/PROMPT|ANSWER|INPUT|RESULT/);
  });

  it.each(['true', 1, {}])('takes nothing but true for a yes to that, not %s', (recordContent) => {
    const agent = spansOf(recorded, { recordContent }).at(-1);
    expect(agent?.attributes).not.toHaveProperty('gen_ai.input.messages');
  });

  it('records it redacted where it is asked to', () => {
    const input = [{ role: 'user', content: `PROMPT ${secret}` }] as const;
    const spans = spansOf([{ type: 'run-started', ...about, input }, ...recorded.slice(1)], {
      recordContent: true,
    });
    const agent = spans.at(-1);
    const tool = spans[2];
    expect(JSON.parse(String(agent?.attributes['gen_ai.input.messages']))).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'PROMPT [redacted anthropic key]' }] },
    ]);
    expect(JSON.parse(String(agent?.attributes['gen_ai.output.messages']))).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'ANSWER' }] },
    ]);
    expect(tool?.attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{"order":"INPUT"}',
      'gen_ai.tool.call.result': '"RESULT"',
    });
  });

  it.each([
    {
      outcome: { ...facts, type: 'failed', failure: limited, report, partial: '' },
      expected: { 'rerail.outcome': 'failed', 'error.type': 'RATE_LIMITED' },
      status: opentelemetry.SpanStatusCode.ERROR,
    },
    {
      outcome: { ...facts, type: 'stopped', reason: 'max-turns', report, partial: '' },
      expected: { 'rerail.outcome': 'stopped', 'rerail.stop_reason': 'max-turns' },
      status: opentelemetry.SpanStatusCode.UNSET,
    },
    {
      outcome: { ...facts, type: 'suspended', reason: 'credit', failure: limited },
      expected: { 'rerail.outcome': 'suspended', 'rerail.stop_reason': 'credit' },
      status: opentelemetry.SpanStatusCode.UNSET,
    },
    {
      outcome: { ...facts, type: 'cancelled', partial: '', usage: { ...facts.usage, unknownCost: 1 } },
      expected: { 'rerail.outcome': 'cancelled' },
      status: opentelemetry.SpanStatusCode.UNSET,
    },
  ] as const)('ends the spans of a run that $outcome.type', ({ outcome, expected, status }) => {
    const spans = spansOf([started, attempt(1), toolStarted, { type: 'run-finished', outcome }]);
    expect(spans.map(({ name }) => name)).toEqual([
      'chat gemini-3-pro',
      'execute_tool refund',
      'invoke_agent support',
    ]);
    expect(spans.at(-1)?.attributes).toMatchObject(expected);
    expect(spans.at(-1)?.status.code).toBe(status);
  });

  it('leaves a cost out that is only half known', () => {
    const outcome = { ...completed, usage: { ...facts.usage, unknownCost: 1 } };
    const agent = spansOf([started, { type: 'run-finished', outcome }]).at(-1);
    expect(agent?.attributes).not.toHaveProperty('rerail.cost_usd');
  });

  it('ends an attempt that was given up when the next begins', () => {
    const spans = spansOf([started, attempt(1), attempt(2), answered(), finished]);
    expect(spans.map(({ attributes }) => attributes['rerail.attempt'])).toEqual([1, 2, undefined]);
  });

  it('puts a run under the span that is active where it begins', () => {
    const exporter = new InMemorySpanExporter();
    register(exporter);
    const hook = openTelemetry();
    const parent = opentelemetry.trace.getTracer('server').startSpan('POST /chat');
    opentelemetry.context.with(opentelemetry.trace.setSpan(opentelemetry.context.active(), parent), () =>
      tell(hook, recorded),
    );
    const agent = exporter.getFinishedSpans().at(-1);
    expect(agent?.parentSpanContext?.spanId).toBe(parent.spanContext().spanId);
    expect(agent?.instrumentationScope.name).toBe('rerail');
  });

  it('tells runs at the same time apart', () => {
    const exporter = new InMemorySpanExporter();
    register(exporter);
    const hook = openTelemetry({ api, tracerName: 'mine' });
    for (const event of recorded) {
      tell(hook, [event], { runId: 'one', agent: 'a' });
      tell(hook, [event], { runId: 'two', agent: 'b' });
    }
    const spans = exporter.getFinishedSpans();
    const roots = spans.filter(({ name }) => name.startsWith('invoke_agent'));
    expect(roots.map(({ attributes }) => attributes['rerail.run_id'])).toEqual(['one', 'two']);
    for (const root of roots) {
      const children = spans.filter(
        ({ parentSpanContext }) => parentSpanContext?.spanId === root.spanContext().spanId,
      );
      expect(children).toHaveLength(5);
    }
  });

  it.each<{ readonly event: RunEvent; readonly name: string }>([
    { event: { type: 'failure', turn: 1, failure: broken }, name: 'rerail.failure' },
    {
      event: { type: 'breaker-changed', provider: 'p', from: 'closed', to: 'open' },
      name: 'rerail.breaker_changed',
    },
    { event: { type: 'arguments-repaired', ...call, input: {} }, name: 'rerail.arguments_repaired' },
    {
      event: { type: 'tool-late', ...call, settled: 'threw', afterMs: 1, summary: '' },
      name: 'rerail.tool_late',
    },
    {
      event: { type: 'tool-withdrawn', turn: 1, name: 'refund', reason: 'loop' },
      name: 'rerail.tool_withdrawn',
    },
    { event: { type: 'tool-restored', turn: 1, name: 'refund' }, name: 'rerail.tool_restored' },
    { event: { type: 'history-repaired', repairs: [] }, name: 'rerail.history_repaired' },
    {
      event: {
        type: 'history-compacted',
        turn: 1,
        why: 'budget',
        strategy: 'window',
        tokensBefore: 9,
        tokensAfter: 3,
      },
      name: 'rerail.history_compacted',
    },
    {
      event: { type: 'limit-reached', turn: 1, limit: 'maxTurns', reason: 'max-turns' },
      name: 'rerail.limit_reached',
    },
    {
      event: { type: 'approval-requested', request: { type: 'mend', id: 'm', why: 'pay' } },
      name: 'rerail.approval_requested',
    },
    {
      event: { type: 'approval-answered', id: 'm', verdict: 'yes', reason: '' },
      name: 'rerail.approval_answered',
    },
    {
      event: { type: 'hook-failed', hook: 'x', point: 'event', failure: broken },
      name: 'rerail.hook_failed',
    },
    { event: { type: 'run-suspended', reason: 'approval' }, name: 'rerail.suspended' },
  ])('tells $event.type as $name', ({ event, name }) => {
    const agent = spansOf([started, event, finished]).at(-1);
    expect(agent?.events.map((one) => one.name)).toEqual([name]);
  });

  it('begins a new span for a run that is resumed', () => {
    const suspended: RunEvent = {
      type: 'run-finished',
      outcome: { ...facts, type: 'suspended', reason: 'approval' },
    };
    const spans = spansOf([
      started,
      suspended,
      { type: 'run-resumed', ...about },
      attempt(1),
      answered(),
      finished,
    ]);
    expect(spans.map(({ name }) => name)).toEqual([
      'invoke_agent support',
      'chat gemini-3-pro',
      'invoke_agent support',
    ]);
    expect(spans.at(-1)?.attributes).toMatchObject({ 'rerail.is_resumed': true });
  });
});
