import type { Failure } from '../errors/failure.ts';
import { clean } from '../errors/failure.ts';
import { attributes, operations, providerName } from './genai-names.ts';
import { errorStatus, spanKinds } from './telemetry-api.ts';
import type {
  SpanAttributes,
  SpanOptions,
  TelemetryApi,
  TelemetryContext,
  TelemetrySpan,
} from './telemetry-api.ts';

/** The open spans of one run. */
export interface RunSpans {
  readonly api: TelemetryApi;
  readonly tracerName: string;
  readonly recordContent: boolean;
  readonly agent: TelemetrySpan;
  /** In which the agent's span is the parent. */
  readonly context: TelemetryContext;
  /** One per turn at most, for attempts at a model come one after the other. */
  readonly chats: Map<number, TelemetrySpan>;
  readonly tools: Map<string, TelemetrySpan>;
}

export interface SpanSource {
  readonly api: TelemetryApi;
  readonly tracerName: string;
  readonly recordContent: boolean;
}

const maxNameLength = 200;
/** Calls of one turn are bounded elsewhere; this only keeps a run that never ends its spans from growing. */
const maxOpenSpans = 1000;

/** A name as it may leave the process. */
export function cleanName(name: string): string {
  return clean(name, maxNameLength);
}

/** Begins the span of a run, under whatever span is active where the run was begun. */
export function beginRun(source: SpanSource, name: string, given: SpanAttributes): RunSpans {
  const { api, tracerName } = source;
  const agentName = cleanName(name);
  const parent = api.context.active();
  const agent = api.trace.getTracer(tracerName).startSpan(
    `${operations.agent} ${agentName}`,
    {
      kind: spanKinds.internal,
      attributes: { [attributes.operation]: operations.agent, [attributes.agentName]: agentName, ...given },
    },
    parent,
  );
  return { ...source, agent, context: api.trace.setSpan(parent, agent), chats: new Map(), tools: new Map() };
}

/** Begins the span of one attempt at a model. One that is still open on this turn has been given up. */
export function beginChat(
  run: RunSpans,
  turn: number,
  {
    provider,
    model,
    given,
  }: { readonly provider: string; readonly model: string; readonly given: SpanAttributes },
): void {
  take(run.chats, turn)?.end();
  const modelName = cleanName(model);
  begin(run, run.chats, {
    key: turn,
    name: `${operations.chat} ${modelName}`,
    kind: spanKinds.client,
    attributes: {
      [attributes.operation]: operations.chat,
      [attributes.provider]: providerName(cleanName(provider)),
      [attributes.requestModel]: modelName,
      [attributes.turn]: turn,
      ...given,
    },
  });
}

/** Begins the span of one attempt at a tool call. */
export function beginTool(
  run: RunSpans,
  callId: string,
  { name, given }: { readonly name: string; readonly given: SpanAttributes },
): void {
  take(run.tools, callId)?.end();
  const toolName = cleanName(name);
  begin(run, run.tools, {
    key: callId,
    name: `${operations.tool} ${toolName}`,
    kind: spanKinds.internal,
    attributes: {
      [attributes.operation]: operations.tool,
      [attributes.toolName]: toolName,
      [attributes.toolType]: 'function',
      [attributes.toolCallId]: cleanName(callId),
      ...given,
    },
  });
}

interface Beginning<Key> extends SpanOptions {
  readonly key: Key;
  readonly name: string;
}

function begin<Key>(run: RunSpans, open: Map<Key, TelemetrySpan>, beginning: Beginning<Key>): void {
  if (open.size >= maxOpenSpans) return;
  const { key, name, kind, attributes: given } = beginning;
  const tracer = run.api.trace.getTracer(run.tracerName);
  open.set(key, tracer.startSpan(name, { kind, attributes: given }, run.context));
}

/** Takes a span out before anything is done with it, so that one that throws is not met again. */
export function take<Key>(open: Map<Key, TelemetrySpan>, key: Key): TelemetrySpan | undefined {
  const span = open.get(key);
  open.delete(key);
  return span;
}

/** Ends a span with what became known of it, and with its failure where it has one. */
export function endSpan(span: TelemetrySpan | undefined, given: SpanAttributes, failure?: Failure): void {
  if (span === undefined) return;
  span.setAttributes(failure === undefined ? given : { ...given, [attributes.errorType]: failure.code });
  if (failure !== undefined) span.setStatus({ code: errorStatus, message: failure.message });
  span.end();
}

/** Ends what the run has left open, the agent's own span last. */
export function endOpenSpans(run: RunSpans): void {
  for (const span of run.chats.values()) span.end();
  for (const span of run.tools.values()) span.end();
  run.chats.clear();
  run.tools.clear();
}
