// What the workflow uses of `@temporalio/workflow`, so that neither the package nor its types are needed to compile.
declare module '@temporalio/workflow' {
  export class CancellationScope {
    constructor(options?: { readonly cancellable: boolean });
    static current(): CancellationScope;
    static nonCancellable<Value>(work: () => Promise<Value>): Promise<Value>;
    readonly cancelRequested: Promise<never>;
    run<Value>(work: () => Promise<Value>): Promise<Value>;
    cancel(): void;
  }
  /** Of Node. */
  export const AsyncLocalStorage: { readonly snapshot: () => <Value>(work: () => Value) => Value };
  export const ActivityCancellationType: { readonly WAIT_CANCELLATION_COMPLETED: unknown };
  export const ApplicationFailure: {
    readonly create: (options: {
      readonly message: string;
      readonly type: string;
      readonly nonRetryable: boolean;
      readonly details: readonly unknown[];
    }) => Error;
  };
  export function proxyActivities(options: {
    readonly activityId: string;
    readonly taskQueue?: string;
    readonly scheduleToStartTimeout?: number;
    readonly startToCloseTimeout: number;
    readonly heartbeatTimeout: number;
    readonly cancellationType: unknown;
    readonly retry: { readonly maximumAttempts: number };
  }): Readonly<Record<string, (input: unknown) => Promise<unknown>>>;
  export function proxySinks(): Readonly<Record<string, Readonly<Record<string, (news: unknown) => void>>>>;
  export function sleep(delayMs: number): Promise<void>;
  export function continueAsNew(input: unknown): Promise<never>;
  export function defineSignal(name: string): unknown;
  export function defineQuery(name: string): unknown;
  export function setHandler(definition: unknown, handler: (input: never) => unknown): void;
  export function workflowInfo(): { readonly historyLength: number; readonly historySize: number };
}
