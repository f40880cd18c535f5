export { openTelemetry } from './open-telemetry.ts';
export type { OpenTelemetryHook, OpenTelemetryOptions, TelemetryReport } from './open-telemetry.ts';
export type {
  SpanAttributes,
  SpanOptions,
  TelemetryApi,
  TelemetryContext,
  TelemetrySpan,
  TelemetryTracer,
} from './telemetry-api.ts';
