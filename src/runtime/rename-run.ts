import { isRecord } from '../base/json.ts';
import type { Json } from '../base/json.ts';
import type { NewEvent } from '../model/store.ts';

/**
 * An event of a run as an event of another one. A run's name stands in the state that a generation begins with, and in front of
 * the names of what it asks people. Elsewhere it is somebody's text, and stays.
 */
export function renameRun<Event extends NewEvent>(event: Event, from: string, to: string): Event {
  if (from === to || !isRecord(event.body)) return event;
  const body = event.body as Members; // A part of what is JSON.
  if (event.type === 'suspended') return { ...event, body: renameRequest(body, from, to) };
  const { input } = body;
  if (!isMembers(input)) return event;
  if (event.type === 'call') return { ...event, body: { ...body, input: renameRequest(input, from, to) } };
  const { state } = input;
  if (event.type !== 'began' || !isMembers(state)) return event;
  const { phase } = state;
  const renamed = {
    ...state,
    runId: to,
    ...(isMembers(phase) ? { phase: renamePhase(phase, from, to) } : {}),
  };
  return { ...event, body: { ...body, input: { ...input, state: renamed } } };
}

type Members = Readonly<Record<string, Json>>;

function isMembers(value: Json | undefined): value is Members {
  return isRecord(value);
}

/** A question stands in the phase, or in the one that is gone back to. */
function renamePhase(phase: Members, from: string, to: string): Members {
  const renamed = renameRequest(phase, from, to);
  const { back } = renamed;
  return isMembers(back) ? { ...renamed, back: renameRequest(back, from, to) } : renamed;
}

function renameRequest(holder: Members, from: string, to: string): Members {
  const { request } = holder;
  if (!isMembers(request)) return holder;
  const { id } = request;
  if (typeof id !== 'string' || !id.startsWith(`${from}:`)) return holder;
  return { ...holder, request: { ...request, id: `${to}${id.slice(from.length)}` } };
}
