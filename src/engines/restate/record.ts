import type { Json } from '../../base/json.ts';
import type { EffectEnd } from '../../runtime/record/durable.ts';
import { showJson } from '../../runtime/model-call/json-compare.ts';
import { describe, whatDiffers } from '../../runtime/record/memory-difference.ts';
import type { Difference } from '../../runtime/record/memory-difference.ts';
import type { Asked } from '../../runtime/record/memory-generation.ts';

/**
 * What one step of Restate's journal holds. Every verb begins with such a step, whatever else it does, so that a program
 * that has changed finds a record where it stands and not a command of another kind, about which Restate would only say that
 * the two differ.
 */
export type StepRecord =
  | CallRecord
  | { readonly type: 'sleep'; readonly delayMs: number }
  | { readonly type: 'wait'; readonly signal: string; readonly timeoutMs?: number }
  /** The run was cancelled before the effect began: it was not performed. */
  | { readonly type: 'left-out'; readonly reason?: string }
  /** The program had no further verb. */
  | { readonly type: 'end' };

/** What a step is called in Restate's journal. Restate compares names: all verbs are called alike, for it could only say that two differ. */
export function stepName(position: number): string {
  return `#${position}`;
}

/** The position of a step of this name; undefined where it is none of a verb. */
export function positionOf(name: string): number | undefined {
  return /^#\d+$/.test(name) ? Number(name.slice(1)) : undefined;
}

/** What the timer is called that ends the grace after a cancellation. */
export const graceName = 'grace';

/** Why a run ends that was cancelled in Restate itself, where there is no reason. */
export const cancelledInRestate = 'it was cancelled in Restate';

/** A call with what came of it. */
export type CallRecord = EffectEnd & {
  readonly of: 'call';
  readonly effect: string;
  readonly input: Json;
};

/** A record as it was written, by this program or an earlier one. */
export function readRecord(value: unknown): StepRecord {
  if (!Array.isArray(value)) return value as StepRecord; // As `steps.ts` writes it.
  const [effect, input, result] = value as [string, Json, Json]; // As `callText` writes it.
  return { of: 'call', effect, input, type: 'done', value: result };
}

/** Whether a record is one of a call. */
export function isCall(record: StepRecord): record is CallRecord {
  return 'of' in record;
}

/** What differs between a record and the verb that is made now, if anything does. */
export function recordDiffers(record: StepRecord, asked: Asked): Difference | undefined {
  const { position } = asked;
  if (!isCall(record)) {
    const [recorded, now] = [describeRecord(record), describe(asked)];
    return recorded === now ? undefined : { position, recorded, asked: now };
  }
  const { effect, input } = record;
  const outcome = { type: 'done', value: null } as const; // Only what was asked is compared.
  return whatDiffers({ type: 'call', position, effect, input, outcome }, asked);
}

/** A record in words. */
export function describeRecord(record: StepRecord): string {
  if (isCall(record)) return `a call of "${record.effect}" with input ${showJson(record.input)}`;
  switch (record.type) {
    case 'sleep':
      return describe({ ...record, position: 0 });
    case 'wait':
      return describe({ timeoutMs: undefined, onWaiting: undefined, ...record, position: 0 });
    case 'left-out':
      return 'a call that was left out';
    default:
      return 'no further call';
  }
}

/** The record of a call as text. Its input was written already, when it was asked for. */
export function callText(called: CalledText, end: EffectEnd): string {
  const { effect, inputText } = called;
  if (end.type === 'done' && end.took === undefined) {
    // The short form of what nearly every step holds: what is written is sent to the server, kept there, and sent back.
    const valueText = JSON.stringify(end.value) as string | undefined;
    if (valueText !== undefined) return `[${JSON.stringify(effect)},${inputText},${valueText}]`;
  }
  // An outcome has at least its type, so something follows the brace.
  return `{"of":"call","effect":${JSON.stringify(effect)},"input":${inputText},${JSON.stringify({ ...end }).slice(1)}`;
}

/** What was called, with its input as it was written. */
export interface CalledText {
  readonly effect: string;
  readonly inputText: string;
}
