import { wait } from '../../base/abort.ts';
import { assert } from '../../base/assert.ts';
import {
  advance,
  afterWait,
  atElapsed,
  reportOf,
  situationOf,
  startProgress,
} from '../../resilience/call-progress.ts';
import { performStep } from './attempt-step.ts';
import type { CallTarget, LoopOptions, LoopResult } from './call-target.ts';

/**
 * The one owner of retries, for a call that lives in memory. Tries the targets in order, each as often as the policy allows,
 * within one deadline and on one ledger. Every wait ends on abort; no attempt starts before the moment that was asked for;
 * every decision is reported as an event before it is acted on.
 */
export async function runAttempts<Value>(
  targets: readonly CallTarget<Value>[],
  options: LoopOptions,
): Promise<LoopResult<Value>> {
  const { clock, retry, signal, onEvent } = options;
  const startMs = clock.monotonicMs();
  let progress = startProgress();
  let value: Value | undefined;
  for (;;) {
    // Bounded by the policy's attempts and by the deadline: the decision is to give up at either.
    const target = targets[progress.target];
    assert(target !== undefined, 'A call needs at least one target');
    const leftMs = Math.max(0, startMs + retry.deadlineMs - clock.monotonicMs());
    const step = await performStep(target, situationOf(progress, targets, leftMs), options);
    const { progress: reached, next, told } = advance(progress, step, targets);
    if (step.type === 'success')
      return { type: 'success', value: step.value, report: reportOf(reached, true) };
    value = step.value ?? value;
    progress = reached;
    if (told !== undefined) onEvent?.(told);
    if (next.type === 'wait') {
      const waitStartMs = clock.monotonicMs();
      // An abort is not looked at here: the gate lets no caller in that has left.
      await wait(next.delayMs, { clock, signal });
      progress = afterWait(progress, clock.monotonicMs() - waitStartMs);
    }
    progress = atElapsed(progress, clock.monotonicMs() - startMs);
    if (next.type === 'failed')
      return { type: 'failure', failure: next.failure, value, report: reportOf(progress, false) };
  }
}
