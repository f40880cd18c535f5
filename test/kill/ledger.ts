import { closeSync, existsSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';

/** What the world outside has seen. No crash of ours takes it back. */
export type LedgerLine =
  /** Something happened. `callId` and `runId` say which call, `key` what the tool handed to the other side. */
  | (CallPlace & { readonly kind: 'effect'; readonly receipt: string })
  /** The other side was asked again with a key that it knows, and did nothing. */
  | (CallPlace & { readonly kind: 'repeat' })
  /** The model was asked for its next step, and was shown these results by call. */
  | {
      readonly kind: 'asked';
      readonly runId: string;
      /** The tools of each step. */
      readonly plan: readonly (readonly string[])[];
      readonly step: number;
      readonly results: Readonly<Record<string, string>>;
    };

export interface CallPlace {
  readonly runId: string;
  readonly callId: string;
  readonly tool: string;
  readonly key: string;
}

/** An append-only file beside the database. */
export interface Ledger {
  readonly add: (line: LedgerLine) => void;
  /** The one line of a key, where something has happened. */
  readonly find: (key: string) => EffectLine | undefined;
  /** The same by call. */
  readonly findCall: (call: string) => EffectLine | undefined;
}

export type EffectLine = Extract<LedgerLine, { kind: 'effect' }>;

/** Every line is on the disk before `add` returns. */
export function openLedger(file: string, onAdded: (line: LedgerLine) => void): Ledger {
  const byKey = new Map<string, EffectLine>();
  const byCall = new Map<string, EffectLine>();
  const know = (line: LedgerLine): void => {
    if (line.kind !== 'effect') return;
    byKey.set(line.key, line);
    byCall.set(callOf(line), line);
  };
  if (existsSync(file)) for (const line of readLedger(file)) know(line);
  const opened = openSync(file, 'a');
  process.on('exit', () => closeSync(opened));
  return {
    add: (line) => {
      writeSync(opened, `${JSON.stringify(line)}\n`);
      fdatasyncSync(opened);
      know(line);
      onAdded(line);
    },
    find: (key) => byKey.get(key),
    findCall: (call) => byCall.get(call),
  };
}

/** A call by its place in its run. */
export function callOf({ runId, callId }: Pick<CallPlace, 'runId' | 'callId'>): string {
  return `${runId}/${callId}`;
}

export function readLedger(file: string): readonly LedgerLine[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LedgerLine);
}

/** The id of a call by its place in the plan of its run. The clerk continues a conversation in which the ids of the triage are taken. */
export function plannedId(runId: string, step: number, index: number): string {
  return `${step}.${index}${runId.endsWith('/1-clerk') ? '-clerk' : ''}`;
}
