import { answerFaults } from './answer-faults.ts';
import { bodyFaults } from './body-faults.ts';
import { connectionFaults } from './connection-faults.ts';
import type { FaultRow } from './fault-row.ts';
import { refusalFaults } from './refusal-faults.ts';
import { streamFaults } from './stream-faults.ts';

/** Every fault by its name. */
export const faultTable = {
  ...refusalFaults,
  ...connectionFaults,
  ...bodyFaults,
  ...streamFaults,
  ...answerFaults,
} as const satisfies Record<string, FaultRow>;

/** The name of a fault. */
export type FaultName = keyof typeof faultTable;

/** Every name, in the order of the table. */
export const faultNames = Object.keys(faultTable) as readonly FaultName[]; // Object.keys loses the key type.

/** The row of a fault. */
export function faultRow(name: FaultName): FaultRow {
  return faultTable[name];
}

/** What is drawn from where nobody names kinds: faults that any provider has now and then, and that hang nobody. */
export const everydayFaults: readonly FaultName[] = faultNames.filter(
  (name) => faultRow(name).isEveryday === true,
);
