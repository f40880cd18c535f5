import { isRecord } from '../base/json.ts';
import { checkOptions } from '../model/check/check-options.ts';
import { chaosConfigError } from './config-error.ts';
import { readFaultSpec } from './fault-spec.ts';
import type { FaultSpec } from './fault-spec.ts';
import { everydayFaults } from './faults/fault-table.ts';
import type { FaultName } from './faults/fault-table.ts';
import { randomFor } from './seeded.ts';
import { entryAt } from './slots.ts';

/** What a schedule that is a function is told of a request. */
export interface RequestInfo {
  /** Counted from 1, over all requests. */
  readonly sequence: number;
  readonly method: string;
  readonly path: string;
  readonly protocol: string;
  readonly model: string;
  readonly isStream: boolean;
  readonly body: unknown;
}

/** A fault as people write it: its name alone, or with parameters. */
export type FaultEntry = FaultName | FaultSpec;

/** Which request gets which fault. */
export type FaultSchedule =
  /** A share of all requests, drawn by the seed; `kinds` are the faults that any provider has where absent. */
  | { readonly rate: number; readonly kinds?: readonly FaultEntry[] }
  /** One entry for each request; null is a good answer. After the end all is well, or it begins anew. */
  | { readonly script: readonly (FaultEntry | null)[]; readonly repeat?: boolean }
  | ((request: RequestInfo) => FaultEntry | null | undefined);

/** Gives out faults, one slot for each request. */
export interface Schedule {
  readonly next: (request: RequestInfo) => FaultSpec | undefined;
  /** Takes the next slot if it holds a fault of the TLS handshake, for that comes before any request. */
  readonly takeHandshakeFault: () => FaultSpec | undefined;
}

/** Checks the whole schedule now, so that a wrong name does not show up hours later. */
export function createSchedule(faults: FaultSchedule | undefined, seed: number): Schedule {
  if (faults === undefined) return { next: () => undefined, takeHandshakeFault: () => undefined };
  if (typeof faults === 'function') {
    return {
      next: (request) => toSpec(faults(request) ?? null),
      takeHandshakeFault: () => undefined,
    };
  }
  checkShape(faults);
  const slotAt = 'rate' in faults ? drawnSlots(faults, seed) : scriptedSlots(faults);
  let slot = 0;
  const take = (): FaultSpec | undefined => {
    slot += 1;
    return slotAt(slot - 1);
  };
  return {
    next: take,
    takeHandshakeFault: () => (slotAt(slot)?.name === 'tls-handshake-cut' ? take() : undefined),
  };
}

/** The fields of a schedule. */
export const scheduleNames = ['rate', 'kinds', 'script', 'repeat'];

/** It may come from a program without types, or from a file. */
function checkShape(faults: unknown): void {
  if (isRecord(faults)) checkOptions({ of: '"faults"', rules: scheduleNames }, faults);
  if (isRecord(faults) && ('rate' in faults || 'script' in faults)) return;
  throw chaosConfigError(
    'The faults must be given as { script: […] } or { rate: 0.3 }, or by a function',
    "Write { script: ['overloaded', null] } for one fault and then good answers",
  );
}

type SlotAt = (slot: number) => FaultSpec | undefined;

function drawnSlots(faults: Extract<FaultSchedule, { readonly rate: number }>, seed: number): SlotAt {
  const { rate } = faults;
  if (typeof rate !== 'number' || !(rate >= 0 && rate <= 1)) {
    throw chaosConfigError(
      `The rate of faults must be from 0 to 1, got ${String(rate)}`,
      'Give 0.3 for 30 %',
    );
  }
  const kinds = (faults.kinds ?? everydayFaults).map((kind) => readFaultSpec(kind));
  if (kinds.length === 0) throw chaosConfigError('The list of faults is empty', 'Name at least one');
  return (slot) => {
    if (!isFaulty(slot, { rate, seed })) return undefined;
    return kinds[Math.floor(randomFor(seed, `fault-${slot}`)() * kinds.length)];
  };
}

const blockSize = 10;

/**
 * Of ten requests the stated share is faulty, spread over the ten: whoever tries it sees a fault soon, and good answers in between, with
 * every seed.
 */
function isFaulty(slot: number, { rate, seed }: { readonly rate: number; readonly seed: number }): boolean {
  const random = randomFor(seed, `faults-${Math.floor(slot / blockSize)}`);
  const count = Math.floor(rate * blockSize + random());
  const places = Array.from({ length: count }, (_, index) => {
    const start = Math.floor((index * blockSize) / count);
    const end = Math.floor(((index + 1) * blockSize) / count);
    return start + Math.floor(random() * (end - start));
  });
  return places.includes(slot % blockSize);
}

function scriptedSlots(faults: Extract<FaultSchedule, { readonly script: unknown }>): SlotAt {
  if (!Array.isArray(faults.script)) {
    throw chaosConfigError('The script of faults must be a list', 'Give names, objects or null');
  }
  const specs = (faults.script as readonly (FaultEntry | null)[]).map(toSpec); // Array.isArray makes it a list of any.
  return (slot) => entryAt({ ...faults, script: specs }, slot);
}

function toSpec(entry: FaultEntry | null): FaultSpec | undefined {
  return entry === null ? undefined : readFaultSpec(entry);
}
