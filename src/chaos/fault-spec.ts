import { isRecord } from '../base/json.ts';
import { nearestNames } from '../base/nearest.ts';
import { chaosConfigError } from './config-error.ts';
import type { FaultParameters } from './faults/fault-row.ts';
import { faultNames, faultRow } from './faults/fault-table.ts';
import type { FaultName } from './faults/fault-table.ts';

/** A fault with its parameters: `{ name: 'rate-limit', retryAfter: 3 }`. */
export interface FaultSpec {
  readonly name: FaultName;
  readonly [parameter: string]: string | number | boolean;
}

/** Checks a fault from outside; a plain text is a name, or a header: `rate-limit;retryAfter=3`. Throws a config error. */
export function readFaultSpec(given: unknown): FaultSpec {
  if (typeof given === 'string') return readFaultText(given);
  if (!isRecord(given))
    throw chaosConfigError(`A fault must be a name or an object, got ${typeof given}`, listHint);
  const { name, ...parameters } = given;
  const checked = checkName(name);
  for (const [key, value] of Object.entries(parameters)) checkParameter(checked, { key, value });
  return { ...(parameters as FaultParameters), name: checked }; // Checked one by one above.
}

/** The parameters alone. */
export function parametersOf({ name: _name, ...parameters }: FaultSpec): FaultParameters {
  return parameters;
}

const listHint = 'Type: rerail chaos faults';

/** `name;key=value;key=value`, as it stands in the header `x-rerail-fault`. Numbers are read as numbers. */
function readFaultText(text: string): FaultSpec {
  const [name = '', ...pairs] = text.split(';').map((part) => part.trim());
  const parameters = pairs
    .filter((pair) => pair !== '')
    .map((pair): [string, string | number] => {
      const [key = '', ...rest] = pair.split('=');
      const value = rest.join('=').trim();
      return [key.trim(), /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : value];
    });
  return readFaultSpec({ ...Object.fromEntries(parameters), name });
}

function checkName(name: unknown): FaultName {
  const found = faultNames.find((known) => known === name);
  if (found !== undefined) return found;
  throw chaosConfigError(
    `There is no fault ${JSON.stringify(name) ?? 'without a name'}${nearestNote(name)}`,
    listHint,
  );
}

interface Parameter {
  readonly key: string;
  readonly value: unknown;
}

function checkParameter(name: FaultName, { key, value }: Parameter): void {
  const known = Object.keys(faultRow(name).parameters ?? {});
  if (!known.includes(key)) {
    const takes = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`;
    throw chaosConfigError(`The fault "${name}" has no parameter "${key}": ${takes}`, listHint);
  }
  if (!['string', 'number', 'boolean'].includes(typeof value)) {
    throw chaosConfigError(`The parameter "${key}" of "${name}" must be a text, a number or true`, listHint);
  }
}

function nearestNote(name: unknown): string {
  const near = typeof name === 'string' ? nearestNames(name, faultNames) : [];
  return near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`;
}
