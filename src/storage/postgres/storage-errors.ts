import type { Json } from '../../base/json.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { storageError } from '../common/storage-error.ts';
import { driverTrouble, nodeTroubles, stateTroubles, unknownTrouble, words } from './troubles.ts';
import type { Trouble } from './troubles.ts';

/** Where something went wrong. */
export type Phase =
  /** Nothing was sent yet. */
  | 'connecting'
  /** Nothing has happened: whatever was sent was undone. */
  | 'undone'
  /** It may have happened, without an answer. */
  | 'in-doubt';

/** What was thrown, and what it means. */
export interface Fault {
  readonly phase: Phase;
  readonly thrown: Error;
  readonly trouble: Trouble;
}

/** What the driver has thrown, or nothing where it is a failure of ours already, or a defect. */
export function faultOf(thrown: unknown, phase: Phase): Fault | undefined {
  if (RerailError.isInstance(thrown) || !(thrown instanceof Error)) return undefined;
  const state = stateOf(thrown);
  if (state !== undefined) {
    const trouble = stateTroubles.get(state) ?? stateTroubles.get(state.slice(0, 2)) ?? unknownTrouble;
    // A statement that the server has refused did not happen; where it has ended the connection, it is unknown.
    return { phase: phase === 'in-doubt' && !trouble.endsConnection ? 'undone' : phase, thrown, trouble };
  }
  const known = nodeTroubles.get(codeOf(thrown));
  if (known !== undefined) return { phase, thrown, trouble: known };
  const worded = words.find(({ wording }) => wording.test(thrown.message));
  if (worded !== undefined) return { phase, thrown, trouble: worded.trouble };
  // What the driver says otherwise; a defect of ours has another name.
  return thrown.name === 'Error' ? { phase, thrown, trouble: driverTrouble } : undefined;
}

/** Whether a connection could not be made in the time there was. */
export function isLate({ phase, thrown }: Fault): boolean {
  return (
    phase === 'connecting' && (codeOf(thrown) === 'ETIMEDOUT' || thrown.message.startsWith('timeout ex'))
  );
}

/** The failure that is thrown in the end. */
export function toStorageError({ phase, thrown, trouble }: Fault, name: string): RerailError {
  const { code, what, hint, retryable } = trouble;
  const doubt = phase === 'in-doubt' ? `. ${inDoubt}` : '';
  return storageError(code, {
    message: `${what(name)}: ${thrown.message === '' ? codeOf(thrown) : thrown.message}${doubt}`,
    hint: phase === 'in-doubt' ? hint : `Nothing was written. ${hint}`,
    ...(retryable === undefined ? {} : { retryable }),
    context: { store: name, ...factsOf(thrown), ...(phase === 'in-doubt' ? { isInDoubt: true } : {}) },
    cause: thrown,
  });
}

/** The same failure, of a caller that does not know what became of its last write. */
export function toDoubt(thrown: RerailError): RerailError {
  const { code, message, hint, retryable, context } = thrown.failure;
  return storageError(code, {
    message: `${message}. ${inDoubt}`,
    hint: hint ?? 'Check that the server runs.',
    retryable,
    context: { ...context, isInDoubt: true },
    cause: thrown,
  });
}

const inDoubt =
  'Whether the last change was written is not known; it is looked up before the run is added to again';

/** A connection does not answer. */
export function connectionError(message: string): Error {
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' });
}

/** The five characters by which Postgres says what went wrong. */
function stateOf(thrown: Error): string | undefined {
  const code = codeOf(thrown);
  return /^[0-9A-Z]{5}$/.test(code) && 'severity' in thrown ? code : undefined;
}

function codeOf(thrown: Error): string {
  return 'code' in thrown ? String(thrown.code) : '';
}

function factsOf(thrown: Error): Readonly<Record<string, Json>> {
  const code = codeOf(thrown);
  return code === '' ? {} : { [stateOf(thrown) === undefined ? 'systemCode' : 'sqlState']: code };
}
