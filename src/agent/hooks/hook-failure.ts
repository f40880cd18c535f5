import { causesOf } from '../../errors/classify/causes.ts';
import { describeThrown } from '../../errors/classify/safe-read.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import type { HookKind } from './hook.ts';

/** Which hook, at which point; `event` is what an observer receives by `onEvent`. */
export interface HookPlace {
  readonly hook: string;
  readonly kind: HookKind;
  readonly point: string;
}

/** How a hook itself went wrong. */
export type HookFault =
  | { readonly type: 'threw'; readonly thrown: unknown }
  | { readonly type: 'timed-out'; readonly timeoutMs: number }
  | { readonly type: 'nonsense'; readonly why: string };

/** The failure of a hook that threw, hung or answered with nonsense. */
export function hookFailed(place: HookPlace, fault: HookFault): Failure {
  const { hook, kind, point } = place;
  return createFailure('HOOK_FAILED', {
    origin: 'hook',
    message: `The ${kind} "${hook}" failed at "${point}": it ${describeFault(fault)}`,
    context: { hook, kind, point, fault: fault.type },
    causes: fault.type === 'threw' ? causesOf(fault.thrown) : [],
  });
}

/** The failure of a run or a call that a guardrail has ended on purpose. */
export function hookTerminated({ hook, kind, point }: HookPlace, reason: string): Failure {
  return createFailure('HOOK_TERMINATED', {
    origin: 'hook',
    message: reason,
    context: { hook, kind, point },
  });
}

function describeFault(fault: HookFault): string {
  if (fault.type === 'nonsense') return fault.why;
  if (fault.type === 'timed-out') return `gave no answer within ${fault.timeoutMs} ms`;
  return `threw: ${describeThrown(fault.thrown)}`;
}
