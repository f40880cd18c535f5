// The part of `@opentelemetry/api` that is used here, by shape: the package is optional, so our types must stand without it.
// Methods are written as methods, for only so does the compiler compare what they take in both directions.

/** `@opentelemetry/api`, or what looks like it. */
export interface TelemetryApi {
  readonly trace: {
    getTracer(name: string): TelemetryTracer;
    setSpan(context: TelemetryContext, span: TelemetrySpan): TelemetryContext;
  };
  readonly context: {
    active(): TelemetryContext;
    with?<Value>(context: TelemetryContext, work: () => Value): Value;
  };
  readonly metrics?: { getMeter(name: string): TelemetryMeter };
}

/** Makes instruments. */
export interface TelemetryMeter {
  createHistogram(
    name: string,
    options: { readonly unit: string; readonly description: string },
  ): TelemetryHistogram;
}

/** How often which values came. */
export interface TelemetryHistogram {
  record(value: number, attributes: SpanAttributes): void;
}

/** It only goes from one call to the next; its methods are there for the compiler. */
export interface TelemetryContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): TelemetryContext;
  deleteValue(key: symbol): TelemetryContext;
}

/** Makes spans. */
export interface TelemetryTracer {
  startSpan(name: string, options: SpanOptions, context: TelemetryContext): TelemetrySpan;
}

/** One piece of work in a trace. */
export interface TelemetrySpan {
  setAttributes(attributes: SpanAttributes): unknown;
  addEvent(name: string, attributes: SpanAttributes): unknown;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  end(): void;
}

/** What is known of a span when it begins. */
export interface SpanOptions {
  readonly kind: number;
  readonly attributes: SpanAttributes;
}

/** What is said of a span; `undefined` is left out. */
export type SpanAttributes = Record<string, string | number | boolean | string[] | undefined>;

// Numbers of the enums `SpanKind` and `SpanStatusCode`, which are part of the stable interface.
export const spanKinds = { internal: 0, client: 2 } as const;
export const errorStatus = 2;
