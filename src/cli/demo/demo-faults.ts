import type { FaultEntry, FaultSchedule } from '../../chaos/schedule.ts';
import type { FailureCode } from '../../errors/codes.ts';
import { seededRandom } from '../../testing/seeded-random.ts';

/** What always happens before the last turn, in an order that the seed draws. */
const always: readonly (readonly FaultEntry[])[] = [
  ['overloaded', 'overloaded'],
  ['truncated-tool-arguments'],
  [{ name: 'rate-limit', retryAfter: 1 }],
  ['quota'],
];

/** One of these comes on top. */
const sometimes: readonly (readonly FaultEntry[])[] = [
  ['server-error'],
  ['empty-answer'],
  ['error-in-stream'],
  ['missing-terminal'],
  ['invalid-json-event'],
  ['reset-before-headers'],
  ['gateway'],
];

/** The last answer is a text, and breaks off in the middle of it. */
const last: readonly FaultEntry[] = ['reset-mid-stream'];

/** Each turn of the agent meets another trouble, and then a good answer: the same for the same seed. */
export function demoFaults(seed: number): FaultSchedule {
  const random = seededRandom(seed);
  const extra = sometimes[Math.floor(random() * sometimes.length)] ?? [];
  const rest = [...always, extra];
  const groups: (readonly FaultEntry[])[] = [];
  while (rest.length > 0) groups.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return { script: [...groups, last].flatMap((group) => [...group, null]) };
}

/** What a plain loop around an SDK makes of a failure. */
const withouts: Readonly<Partial<Record<FailureCode, string>>> = {
  STREAM_INTERRUPTED: 'half an answer, taken for a whole one',
  OVERLOADED: 'the run dies with a 529, and the work so far is lost',
  RATE_LIMITED: 'the next request at once, refused again, or a run that dies with a 429',
  TOOL_CALL_INVALID: 'a crash in JSON.parse, or a tool called with {}',
  SERVER_ERROR: 'the run dies with a 500',
  NETWORK_ERROR: 'the run dies with "fetch failed"',
  INVALID_RESPONSE: 'the run dies with an unexplained SyntaxError',
  EMPTY_RESPONSE: 'an empty answer, shown as success',
  QUOTA_EXCEEDED: 'three more requests to an empty account, then the end',
  TIMEOUT: 'a run that hangs until a person looks',
};

export function withoutRerail(code: FailureCode): string {
  return withouts[code] ?? 'the run dies here';
}
