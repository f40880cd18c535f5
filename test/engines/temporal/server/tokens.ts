import { findExecution } from './history.ts';
import type { ServerState } from './history.ts';
import type { Execution, Message } from './model.ts';

/** By what a worker names what it was handed. */
export function writeToken({ workflowId, runId }: Execution, eventId: number): Uint8Array {
  return Buffer.from(JSON.stringify({ workflowId, runId, eventId }));
}

export function readToken(
  state: ServerState,
  { taskToken }: Message,
): { readonly execution: Execution | undefined; readonly eventId: number } {
  const token = JSON.parse(Buffer.from(taskToken as Uint8Array).toString()) as Message; // Written above.
  return { execution: findExecution(state, token), eventId: Number(token['eventId']) };
}
