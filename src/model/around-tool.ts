/** A call of a tool, as an observer knows it. */
interface ObservedCall {
  readonly runId: string;
  readonly callId: string;
}

/** Runs the code of a tool within something of its own, such as the active span. Calls `work` once and gives what it gives. */
export type AroundTool = <Value>(call: ObservedCall, work: () => Value) => Value;

/** Where an observer of ours keeps its `AroundTool`: no field, for an observer of a user cannot touch a run. */
export const aroundTool = Symbol.for('rerail.around-tool');

/** All that these observers put around, the first outermost; nothing where there is none, as with most agents. */
export function aroundOf(observers: readonly object[]): AroundTool | undefined {
  const found = observers.flatMap((observer): readonly AroundTool[] => {
    const around: unknown = Reflect.get(observer, aroundTool);
    return typeof around === 'function' ? [around as AroundTool] : []; // Only our own observers know the key.
  });
  if (found.length === 0) return undefined;
  return <Value>(call: ObservedCall, work: () => Value) =>
    found.reduceRight<() => Value>((inner, around) => () => around(call, inner), work)();
}
