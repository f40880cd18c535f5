import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import type { NewEvent } from '../../model/store/store.ts';
import { at, chunkHashesIn } from '../record/run-blobs.ts';

/**
 * An event of a run as an event of another one. A run's name is in the state that a generation begins with, and in front of
 * the names of what it asks people and of the runs below it. Elsewhere it is a user's text, and stays.
 */
export function renameRun<Event extends NewEvent>(event: Event, names: Renaming): Event {
  if (names.from === names.to || !isMembers(event.body)) return event;
  const { body } = event;
  switch (event.type) {
    case 'suspended':
      return { ...event, body: renameRequest(body, names) };
    case 'call':
      return { ...event, body: renameCall(body, names) };
    case 'began':
      return { ...event, body: change(body, 'input', (input) => renameInput(input, names)) };
    default:
      return event;
  }
}

/** What the run is called, and what it is to be called. */
export interface Renaming {
  readonly from: string;
  readonly to: string;
}

/** The name of the run, of a run below it, or of a question of either, after the renaming. */
export function renameId(id: string, { from, to }: Renaming): string {
  const isOurs = id === from || id.startsWith(`${from}:`) || id.startsWith(`${from}/`);
  return isOurs ? `${to}${id.slice(from.length)}` : id;
}

/** Names of the blobs that hold pieces of a conducted conversation: the records in it name the runs below. */
export function recordPieces(events: readonly NewEvent[]): ReadonlySet<string> {
  const conducted = events.filter(
    ({ body }) => at(body, ['input', 'state', 'config', 'isConducted']) === true,
  );
  return new Set(conducted.flatMap(chunkHashesIn));
}

/** Such a piece, for the run under its new name. */
export function renamePiece(content: string, names: Renaming): string {
  const messages = parse(content);
  if (names.from === names.to || !Array.isArray(messages)) return content;
  return JSON.stringify(renameMessages({ messages }, 'messages', names)['messages']);
}

type Members = Readonly<Record<string, Json>>;

function isMembers(value: Json | undefined): value is Members {
  return isRecord(value);
}

/** Changes one member, where it is there and an object. */
function change(holder: Members, name: string, rename: (member: Members) => Members): Members {
  const member = holder[name];
  return isMembers(member) ? { ...holder, [name]: rename(member) } : holder;
}

/** Changes one member, where it is there and a name. */
function changeId(holder: Members, name: string, names: Renaming): Members {
  const id = holder[name];
  return typeof id === 'string' ? { ...holder, [name]: renameId(id, names) } : holder;
}

function renameRequest(holder: Members, names: Renaming): Members {
  return change(holder, 'request', (request) => changeId(request, 'id', names));
}

function renameCall(body: Members, names: Renaming): Members {
  const asked = change(body, 'input', (input) => renameRequest(input, names));
  return change(asked, 'outcome', (outcome) =>
    change(outcome, 'value', (value) =>
      renameFailure(
        change(value, 'end', (end) => renameEnd(end, names)),
        names,
      ),
    ),
  );
}

/** A call that is a run of its own says which, and what that one asks. */
function renameEnd(end: Members, names: Renaming): Members {
  const own = change(end, 'child', (child) => changeId(child, 'runId', names));
  return renameFailure(
    change(own, 'wait', (wait) => renameRequest(wait, names)),
    names,
  );
}

function renameFailure(holder: Members, names: Renaming): Members {
  return change(holder, 'failure', (failure) =>
    change(failure, 'context', (context) => changeId(context, 'childId', names)),
  );
}

function renameInput(input: Members, names: Renaming): Members {
  return change(input, 'state', (state) => {
    const { children, config } = state;
    const isConducted = isMembers(config) && config['isConducted'] === true;
    return {
      ...change(
        isConducted ? change(state, 'history', (history) => renameHistory(history, names)) : state,
        'phase',
        (phase) => renamePhase(phase, names),
      ),
      runId: names.to,
      ...(isMembers(children) ? { children: renameKeys(children, names) } : {}),
    };
  });
}

function renameKeys(members: Members, names: Renaming): Members {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [renameId(name, names), member]));
}

/** A question is in the phase, in the one that is gone back to, or at the calls of either. */
function renamePhase(phase: Members, names: Renaming): Members {
  const own = renameCalls(renameRequest(phase, names), names);
  return change(own, 'back', (back) =>
    change(renameRequest(back, names), 'tools', (tools) => renameCalls(tools, names)),
  );
}

function renameCalls(holder: Members, names: Renaming): Members {
  const { calls } = holder;
  if (!Array.isArray(calls)) return holder;
  const renamed = (calls as readonly Json[]).map((call) => {
    if (!isMembers(call)) return call;
    const waiting = change(call, 'wait', (wait) => renameRequest(wait, names));
    const answered = change(waiting, 'answer', (answer) => changeId(answer, 'about', names));
    return change(answered, 'end', (end) => renameEnd(end, names));
  });
  return { ...holder, calls: renamed };
}

/** The results of a conducted run are records that we wrote. Those that are kept apart as blobs are pieces: see above. */
function renameHistory(history: Members, names: Renaming): Members {
  const { settled } = history;
  const own = renameMessages(history, 'recent', names);
  if (Array.isArray(settled)) return renameMessages(own, 'settled', names);
  return change(own, 'settled', (kept) => renameMessages(kept, 'rest', names));
}

function renameMessages(holder: Members, name: string, names: Renaming): Members {
  const messages = holder[name];
  if (!Array.isArray(messages)) return holder;
  const renamed = (messages as readonly Json[]).map((message) => {
    const content = isMembers(message) && message['role'] === 'tool' ? message['content'] : undefined;
    if (!isMembers(message) || !Array.isArray(content)) return message;
    return { ...message, content: (content as readonly Json[]).map((part) => renameRecord(part, names)) };
  });
  return { ...holder, [name]: renamed };
}

function renameRecord(part: Json, names: Renaming): Json {
  const content = isMembers(part) ? part['content'] : undefined;
  if (!isMembers(part) || typeof content !== 'string') return part;
  const record = parse(content);
  return isMembers(record)
    ? { ...part, content: JSON.stringify(renameFailure(changeId(record, 'childId', names), names)) }
    : part;
}

function parse(content: string): Json | undefined {
  try {
    return JSON.parse(content) as Json; // Whatever it is, it is JSON.
  } catch {
    return undefined; // Not a record of ours: it stays as it is.
  }
}
