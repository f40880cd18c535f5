import { chargeEnd } from '../../resilience/call-progress.ts';
import type { StepEnd } from '../../resilience/call-progress.ts';
import { addLedgers, emptyLedger, spentLimit, subtractLedgers } from '../../resilience/ledger.ts';
import type { Ledger, LedgerLimits } from '../../resilience/ledger.ts';

/** A run and all runs below it, in this process: what they have used up together, and how many there are. */
export interface Family {
  /** How deep a run of it may stand below the first one. */
  readonly maxDepth: number;
  readonly maxRuns: number;
  /** Of the first run: what all of them may use up together. */
  readonly limits: LedgerLimits;
  /** By run: the latest count, without those below it. */
  readonly spent: Map<string, Ledger>;
  /** Runs of which it was looked at what those below them had used up in an earlier process. */
  readonly known: Set<string>;
  /** All that was used up. */
  total: Ledger;
  runs: number;
}

/** Bounds that are not reached by intention. */
const maxDepth = 8;
const maxRuns = 1000;

/** Of a run without a parent. */
export function createFamily(limits: LedgerLimits): Family {
  return { maxDepth, maxRuns, limits, spent: new Map(), known: new Set(), total: emptyLedger, runs: 0 };
}

/** What a run has used up itself, without those below it. Added to the whole as far as it is new. */
export function countRun(family: Family, runId: string, own: Ledger): void {
  const before = family.spent.get(runId) ?? emptyLedger;
  family.spent.set(runId, own);
  family.total = addLedgers(family.total, subtractLedgers(own, before));
}

/** An attempt has ended: its relatives know at once, and not only when this run asks again. */
export function countAttempt(family: Family, runId: string, step: StepEnd<unknown>): void {
  const before = family.spent.get(runId) ?? emptyLedger;
  const failure = step.type === 'failure' ? step.failure : undefined;
  countRun(family, runId, chargeEnd(before, step.charge, failure));
}

/** Which bound the family has reached. */
export function familyLimit({ spent, total, limits }: Family): keyof LedgerLimits | undefined {
  return spent.size < 2 ? undefined : spentLimit(total, limits);
}
