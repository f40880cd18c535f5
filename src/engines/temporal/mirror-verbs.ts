import type { Json } from '../../base/json.ts';
import { restartError } from '../../runtime/record/durable-errors.ts';
import type { Durable, DurableProgram, Outcome, Signalled } from '../../runtime/record/durable.ts';
import type { JournalEntry } from '../../runtime/record/journal.ts';
import type { Asked } from '../../runtime/record/memory-generation.ts';
import { leaveProgram, openVerb } from './mirror.ts';
import type { Mirror } from './mirror.ts';

/** Lets the program of a copy come to where the run stands. */
export function runMirror(mirror: Mirror, program: DurableProgram, input: Json): void {
  const leave = (): void => leaveProgram(mirror);
  // Whatever it throws is thrown in the workflow too; here, effects that need it find that it is not there.
  program(mirrorDurable(mirror), input).then(leave, leave);
}

/** The port over what the workflow's history holds: each verb is answered when the workflow was. */
function mirrorDurable(mirror: Mirror): Durable {
  const { runId, generation } = mirror;
  return {
    runId,
    generation,
    isCopy: true,
    call: (effect, input) =>
      unheard(verb(mirror, (position) => ({ type: 'call', position, effect, input })).then(outcomeIn)),
    sleep: (delayMs) =>
      unheard(verb(mirror, (position) => ({ type: 'sleep', position, delayMs })).then(() => undefined)),
    waitFor: (signal, options = {}) => {
      const timeoutMs = options.timeoutMs === Infinity ? undefined : options.timeoutMs;
      const { onWaiting } = options;
      if (!mirror.answers.has(mirror.next) && mirror.stop === undefined) onWaiting?.();
      const asked = { type: 'wait', signal, timeoutMs, onWaiting } as const;
      return unheard(verb(mirror, (position) => ({ ...asked, position })).then(signalledIn));
    },
    restart: () => {
      if (mirror.stop !== undefined) throw mirror.stop;
      throw restartError(runId);
    },
    isReplaying: () => mirror.next < mirror.quietBelow,
    upcoming: () => mirror.known.get(mirror.next),
  };
}

function verb(mirror: Mirror, askedAt: (position: number) => Asked): Promise<JournalEntry> {
  const position = mirror.next;
  mirror.next += 1;
  return new Promise((resolve, reject) =>
    openVerb(mirror, position, { asked: askedAt(position), answer: resolve, reject }),
  );
}

/** A program may wait for it later, or not at all. */
function unheard<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined);
  return promise;
}

function outcomeIn(entry: JournalEntry): Outcome {
  return (entry as Extract<JournalEntry, { type: 'call' }>).outcome; // Compared before: it is a call.
}

function signalledIn(entry: JournalEntry): Signalled {
  return (entry as Extract<JournalEntry, { type: 'wait' }>).signalled ?? { type: 'timed-out' }; // As above.
}
