import { isRecord } from '../base/json.ts';
import type { Json } from '../base/json.ts';
import type { NewEvent } from '../model/store.ts';

/**
 * An event of a run as an event of another one. A run's name stands in the state that a generation begins with, and in front of
 * the names of what it asks people. Elsewhere it is somebody's text, and stays.
 */
export function renameRun<Event extends NewEvent>(event: Event, names: Renaming): Event {
  if (names.from === names.to || !isRecord(event.body)) return event;
  const body = event.body as Members; // A part of what is JSON.
  if (event.type === 'suspended') return { ...event, body: renameRequest(body, names) };
  const { input } = body;
  if (!isMembers(input)) return event;
  if (event.type === 'call') return { ...event, body: { ...body, input: renameRequest(input, names) } };
  const { state } = input;
  if (event.type !== 'began' || !isMembers(state)) return event;
  const { phase } = state;
  const renamed = {
    ...state,
    runId: names.to,
    ...(isMembers(phase) ? { phase: renamePhase(phase, names) } : {}),
  };
  return { ...event, body: { ...body, input: { ...input, state: renamed } } };
}

/** What the run is called, and what it is to be called. */
export interface Renaming {
  readonly from: string;
  readonly to: string;
}

type Members = Readonly<Record<string, Json>>;

function isMembers(value: Json | undefined): value is Members {
  return isRecord(value);
}

/** A question stands in the phase, or in the one that is gone back to. */
function renamePhase(phase: Members, names: Renaming): Members {
  const renamed = renameRequest(phase, names);
  const { back } = renamed;
  return isMembers(back) ? { ...renamed, back: renameRequest(back, names) } : renamed;
}

function renameRequest(holder: Members, { from, to }: Renaming): Members {
  const { request } = holder;
  if (!isMembers(request)) return holder;
  const { id } = request;
  if (typeof id !== 'string' || !id.startsWith(`${from}:`)) return holder;
  return { ...holder, request: { ...request, id: `${to}${id.slice(from.length)}` } };
}
