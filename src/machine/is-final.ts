import type { RunState } from '../agent/state.ts';

/** Whether the run has ended. One that is suspended has not: it has an outcome and waits for `resumed`. */
export function isFinal({ phase }: RunState): boolean {
  return phase.type === 'ended';
}
