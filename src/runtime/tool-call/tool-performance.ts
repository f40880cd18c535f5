import { describeThrown } from '../../errors/classify/safe-read.ts';
import { clean } from '../../errors/failure.ts';
import { runOwned } from '../../model/stray-errors.ts';
import { runWithin } from './bounded-work.ts';
import type { WorkEnd } from './bounded-work.ts';
import { interruptCall } from './tool-context.ts';
import type { ToolCall } from './tool-context.ts';

/** Runs a tool's own code with its time limit, its signal and its afterlife. */
export function performWithin<Value>(
  call: ToolCall,
  { timeoutMs, perform, summarise }: Performance<Value>,
): WorkEnd<Value> | Promise<WorkEnd<Value>> {
  const { clock, signal } = call.options;
  let noteEnd: (() => void) | undefined;
  return runWithin(() => runOwned(call.options.owner, perform), {
    clock,
    signal,
    timeoutMs,
    // Never beyond the run's own time.
    graceMs: Math.min(graceMs, Math.max(0, call.run.leftMs - timeoutMs)),
    onInterrupt: (why) => {
      // What has not reached the tool's own code cannot be done twice.
      if (call.hasBegun) noteEnd = call.options.leftBehind.note(call.run);
      interruptCall(call, why === 'timed-out' ? timeoutReason(timeoutMs) : (signal.reason as unknown));
    },
    onLate: (end) => {
      noteEnd?.();
      reportLate(call, end.type === 'returned' ? { type: 'returned', text: summarise(end.value) } : end);
    },
  });
}

export interface Performance<Value> {
  readonly timeoutMs: number;
  readonly perform: () => Value | PromiseLike<Value>;
  /** What came back too late, in a few words. */
  readonly summarise: (value: Value) => string;
}

/** How long a tool may take to stop after its signal has aborted. */
const graceMs = 250;

function timeoutReason(timeoutMs: number): DOMException {
  return new DOMException(`The tool's time of ${timeoutMs} ms is over`, 'TimeoutError');
}

const maxSummaryLength = 500;

type Late =
  { readonly type: 'returned'; readonly text: string } | Exclude<WorkEnd<unknown>, { type: 'returned' }>;

function reportLate(call: ToolCall, late: Late): void {
  const { clock, onLate } = call.options;
  const isReturned = late.type === 'returned';
  const thrown = late.type === 'threw' ? describeThrown(late.thrown) : '';
  try {
    onLate({
      settled: isReturned ? 'returned' : 'threw',
      afterMs: Math.round(clock.monotonicMs() - call.startedMs),
      summary: clean(isReturned ? late.text : thrown, maxSummaryLength),
    });
  } catch {
    // The listener is broken, and no one is left to inform.
  }
}
