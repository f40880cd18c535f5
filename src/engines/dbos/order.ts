import type { Json } from '../../base/json.ts';
import type { Failure } from '../../errors/failure.ts';
import type { JournalEntry, NamedSignal, RunEnd } from '../../runtime/record/journal.ts';

/** What a workflow is started with: one generation of a run. */
export interface Order extends Address {
  readonly version: string;
  readonly input: Json;
  /** Signals of the generation before that are not taken yet. */
  readonly signals: readonly NamedSignal[];
  /** Ids of signals that came before, so that none is delivered twice. */
  readonly signalIds: readonly string[];
  readonly cancelReason?: string;
  /** It continues from a restart, and not from an end: a cancellation that the generation before has not seen counts. */
  readonly isRestart?: boolean;
  /** Known to the process that starts it: a process that finds another one continues from the record. */
  readonly token: string;
}

/** One generation of a run. */
export interface Address extends RunAddress {
  readonly generation: number;
}

/** A run over all its generations. */
export interface RunAddress {
  readonly application: string;
  readonly agent: string;
  readonly runId: string;
}

/** What a workflow returns. */
export type Returned =
  | { readonly type: 'restarted' }
  | {
      readonly type: 'over';
      readonly end: RunEnd;
      readonly signals: readonly NamedSignal[];
      readonly signalIds: readonly string[];
    };

/** What is sent to a workflow. */
export type Letter =
  | { readonly type: 'signal'; readonly signal: NamedSignal }
  | { readonly type: 'cancel'; readonly reason: string };

/** What others may know of a live run. */
export interface Notice {
  readonly waiting?: string;
  readonly announced?: Json;
}

/** A letter as it was sent. */
export function letterIn(text: string): Letter {
  return JSON.parse(text) as Letter; // What `send` was given.
}

/** Whether a generation takes in what lies in the mailbox of the one before: a cancellation ends with the run that it was for. */
export function isInherited({ isRestart }: Order, { type }: Letter): boolean {
  return isRestart === true || type === 'signal';
}

/** What a step of ours gives back: an entry of the journal, or something between entries. */
export type Kept =
  | JournalEntry
  /** Holds a number that a lost step had taken. */
  | { readonly type: 'gap' }
  /** What the generation before had left in its mailbox. */
  | { readonly type: 'inherited'; readonly letters: readonly string[] };

/** The id of a generation in DBOS. The names of application and agent hold no colon, so that no two runs share one. */
export function workflowIdOf({ application, agent, runId, generation }: Address): string {
  return `${application}:${agent}:${runId}:${generation}`;
}

/** By which a generation, and all those of its run, are found. */
export function attributesOf(address: Address): Readonly<Record<string, string | number>> {
  return { ...runAttributeOf(address), rerailGeneration: address.generation };
}

/** By which all generations of a run are found. */
export function runAttributeOf({ application, agent, runId }: RunAddress): {
  readonly rerailRun: string;
} {
  return { rerailRun: `${application}:${agent}:${runId}` };
}

/** What a workflow threw for a run that broke: DBOS then shows it as failed, and we read our own failure from it. */
export interface BrokenRun extends Error {
  readonly rerail: string;
}

/** An error that DBOS keeps, with what we need in it. */
export function brokenRun(failure: Failure, returned: Returned): BrokenRun {
  const error = new Error(failure.message);
  return Object.assign(error, { name: failure.code, rerail: JSON.stringify(returned) });
}

/** The same for a run of which nothing else is known. */
export function brokenBy(failure: Failure): BrokenRun {
  return brokenRun(failure, overBy(failure));
}

/** What a workflow would have returned for a run that broke. */
export function overBy(failure: Failure): Returned {
  return { type: 'over', end: { type: 'broken', failure }, signals: [], signalIds: [] };
}

/** What is left of a value once it was JSON: live as after a crash. Throws for what cannot be. */
export function asPlain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value ?? null)) as T;
}
