import { loadPeer } from '../base/load-peer.ts';
import type { Peer } from '../base/load-peer.ts';
import { classifyFailure } from '../errors/classify-failure.ts';
import type { EventSource, ObserverHook } from '../agent/hooks/hook.ts';
import type { RunEvent } from '../agent/run-event.ts';
import { aroundTool } from '../model/around-tool.ts';
import type { AroundTool } from '../model/around-tool.ts';
import { attributes } from './genai-names.ts';
import { createMetrics, measure } from './metrics.ts';
import type { Metrics } from './metrics.ts';
import { beginRun, cleanName, endOpenSpans } from './run-spans.ts';
import type { RunSpans, SpanSource } from './run-spans.ts';
import { spanRules } from './span-rules.ts';
import type { TelemetryApi } from './telemetry-api.ts';
import { checkOptions } from '../model/check/check-options.ts';

/** How a trace is made. */
export interface OpenTelemetryOptions {
  /** `@opentelemetry/api` itself. Without it the installed one is used; without one, nothing happens. */
  readonly api?: TelemetryApi;
  /** The instrumentation scope. Default `rerail`. */
  readonly tracerName?: string;
  /** Also what people, models and tools said: redacted, bounded, and off by default, for prompts should not leave. */
  readonly recordContent?: boolean;
}

/** The observer, and what can be asked of it. */
export interface OpenTelemetryHook extends ObserverHook {
  readonly [aroundTool]?: AroundTool;
  readonly report: () => TelemetryReport;
}

/** How telemetry itself is doing, since it never says so in a run. */
export interface TelemetryReport {
  /** Why there is no telemetry at all: the package is missing, and how to install it. */
  readonly missing?: string;
  /** Runs whose spans are open. */
  readonly openRuns: number;
  /** Events that came to nothing: too many runs at once, a run that was never begun here, a tracer that threw. */
  readonly dropped: number;
  /** What the tracer threw last. */
  readonly lastFailure?: string;
}

/**
 * An observer that makes OpenTelemetry spans of every run, named by the conventions for generative AI: `invoke_agent`, and
 * under it `chat` for each attempt at a model and `execute_tool` for each tool call, with the spans that the tool makes below it; and
 * histograms of tokens and times. It needs a tracer provider registered with
 * `@opentelemetry/api`, does nothing without, and whatever tracer or exporter do, the run does not notice.
 *
 * @example createAgent({ …, hooks: [openTelemetry()] });
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): OpenTelemetryHook {
  checkOptions({ of: 'openTelemetry()', rules: ['api', 'tracerName', 'recordContent'] }, options);
  const { api } = options;
  return telemetryHook(loadPeer(peerName, { given: api, install: `npm install ${peerName}` }), options);
}

const peerName = '@opentelemetry/api';

/** The same with the package found or missing already. */
export function telemetryHook(peer: Peer, options: OpenTelemetryOptions): OpenTelemetryHook {
  const { tracerName = 'rerail' } = options;
  // Nothing but a plain yes lets prompts out.
  const recordContent = options.recordContent === true;
  if (peer.type === 'missing') {
    return { ...hookFacts, report: () => ({ missing: peer.message, openRuns: 0, dropped: 0 }) };
  }
  // The package keeps its own word about its shape; whatever else it is throws, and that is caught below.
  const source: SpanSource = { api: peer.module as TelemetryApi, tracerName, recordContent };
  const held: Held = { source, runs: new Map(), metrics: undefined, dropped: 0, lastFailure: undefined };
  return {
    ...hookFacts,
    onEvent: (event, about) => {
      hear(held, event, about);
      count(held, event, about);
    },
    [aroundTool]: (call, work) => withinTool(held, call, work),
    report: () => ({
      openRuns: held.runs.size,
      dropped: held.dropped,
      ...(held.lastFailure === undefined ? {} : { lastFailure: held.lastFailure }),
    }),
  };
}

const hookFacts = { name: 'open-telemetry', kind: 'observer', on: {} } as const;

/** Runs at a time; beyond, the oldest is ended as it stands, for it was probably forgotten. */
export const maxOpenRuns = 1000;

interface Held {
  readonly source: SpanSource;
  readonly runs: Map<string, RunSpans>;
  /** `missing` where the package has none. */
  metrics: Metrics | 'missing' | undefined;
  dropped: number;
  lastFailure: string | undefined;
}

function count(held: Held, event: RunEvent, { agent }: EventSource): void {
  try {
    held.metrics ??= createMetrics(held.source.api, held.source.tracerName) ?? 'missing';
    if (held.metrics !== 'missing') measure(held.metrics, agent, event);
  } catch (error) {
    noteFailure(held, error); // As with spans.
  }
}

/** The span of the call is the active one for the tool's code, so that spans made there are its children. */
function withinTool<Value>(
  held: Held,
  { runId, callId }: Parameters<AroundTool>[0],
  work: () => Value,
): Value {
  const run = held.runs.get(runId);
  const span = run?.tools.get(callId);
  let end: (() => Value) | undefined;
  try {
    if (run !== undefined && span !== undefined)
      run.api.context.with?.(run.api.trace.setSpan(run.context, span), () => {
        try {
          const value = work();
          end = () => value;
        } catch (error) {
          // The tool's own, which must not be taken for one of the tracer.
          end = () => {
            throw error;
          };
        }
      });
  } catch (error) {
    noteFailure(held, error);
  }
  return (end ?? work)();
}

function hear(held: Held, event: RunEvent, about: EventSource): void {
  // The rule of an event's own type takes that event, which the compiler cannot follow.
  const rule = spanRules[event.type] as ((run: RunSpans, event: RunEvent) => void) | undefined;
  if (rule === undefined) return;
  try {
    const run = runOf(held, event, about);
    if (run === undefined) held.dropped += 1;
    else rule(run, event);
  } catch (error) {
    // Silence towards the run is the point: it is counted, and `report` tells.
    noteFailure(held, error);
  }
}

/** The spans of the run, which begin with it; they are taken out with its last event, before anything can throw. */
function runOf(held: Held, event: RunEvent, { runId, agent }: EventSource): RunSpans | undefined {
  if (event.type === 'run-started' || event.type === 'run-resumed') {
    forget(held, runId);
    const run = beginRun(held.source, agent, { [attributes.runId]: cleanName(runId) });
    makeRoom(held);
    held.runs.set(runId, run);
    return run;
  }
  const run = held.runs.get(runId);
  if (event.type === 'run-finished') held.runs.delete(runId);
  return run;
}

function makeRoom(held: Held): void {
  if (held.runs.size < maxOpenRuns) return;
  for (const oldest of held.runs.keys()) {
    held.dropped += 1;
    return forget(held, oldest);
  }
}

function forget(held: Held, runId: string): void {
  const run = held.runs.get(runId);
  if (run === undefined) return;
  held.runs.delete(runId);
  try {
    endOpenSpans(run);
    run.agent.end();
  } catch (error) {
    noteFailure(held, error); // Must not keep the next run from beginning.
  }
}

function noteFailure(held: Held, error: unknown): void {
  held.dropped += 1;
  held.lastFailure = classifyFailure(error, 'agent').message;
}
