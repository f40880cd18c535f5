import type { RunEvent } from '../agent/run-event.ts';
import { attributes, metricNames, operations, providerName } from './genai-names.ts';
import { cleanName } from './run-spans.ts';
import type { SpanAttributes, TelemetryApi, TelemetryHistogram } from './telemetry-api.ts';

/** The instruments of one hook. */
export interface Metrics {
  readonly tokens: TelemetryHistogram;
  readonly duration: TelemetryHistogram;
}

/** Made with the first event, for a provider that is registered later is not seen. Nothing where the package has no metrics. */
export function createMetrics({ metrics }: TelemetryApi, name: string): Metrics | undefined {
  const meter = metrics?.getMeter(name);
  if (meter === undefined) return undefined;
  return {
    tokens: meter.createHistogram(metricNames.tokens, {
      unit: '{token}',
      description: 'Tokens of a model call',
    }),
    duration: meter.createHistogram(metricNames.duration, { unit: 's', description: 'Time of an operation' }),
  };
}

/** Counts what an event says that was done. */
export function measure({ tokens, duration }: Metrics, agent: string, event: RunEvent): void {
  switch (event.type) {
    case 'model-finished': {
      const { provider, model, servedBy, inputTokens, outputTokens, durationMs } = event;
      const facts = {
        [attributes.operation]: operations.chat,
        [attributes.provider]: providerName(cleanName(provider)),
        [attributes.requestModel]: cleanName(model),
        [attributes.responseModel]: cleanName(servedBy ?? model),
      };
      duration.record(durationMs / 1000, facts);
      for (const [type, count] of [['input', inputTokens] as const, ['output', outputTokens] as const])
        if (count !== undefined) tokens.record(count, { ...facts, [attributes.tokenType]: type });
      return;
    }
    case 'tool-finished':
      return duration.record(event.end.durationMs / 1000, {
        [attributes.operation]: operations.tool,
        [attributes.toolName]: cleanName(event.name),
        ...errorOf(event.end.failure),
      });
    case 'run-finished': {
      const { outcome } = event;
      const failure = outcome.type === 'failed' || outcome.type === 'stopped' ? outcome.failure : undefined;
      return duration.record(outcome.usage.elapsedMs / 1000, {
        [attributes.operation]: operations.agent,
        [attributes.agentName]: cleanName(agent),
        [attributes.outcome]: outcome.type,
        ...errorOf(failure),
      });
    }
    default:
      return undefined;
  }
}

function errorOf(failure: { readonly code: string } | undefined): SpanAttributes {
  return failure === undefined ? {} : { [attributes.errorType]: failure.code };
}
