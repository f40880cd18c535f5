// Table: what must hold for every run, whatever fails and whoever dies.

/** By name, with what it says. */
export const invariants = {
  'acknowledged-lost': 'What somebody was told, or was told to be kept, is found again',
  'finished-again': 'What has a result on record never runs again',
  'once-twice': 'An effect that must not happen twice does not',
  'begun-unwritten': 'What changes something begins only when the answer that asks for it is on record',
  'key-changed': 'A call keeps its idempotency key, and shares it with no other',
  'gate-opened': 'What needs a yes runs only after one',
  'never-ends': 'Every run ends, in few lives and little time',
  'ledger-wrong':
    'Every attempt at a model is counted once, and there are no more of them than the policy allows',
  'history-invalid': 'Every conversation that a model is sent is one that providers take',
  'end-changed':
    'A run that has ended stays as it is: its record leads to the same end without model and tools',
  'dead-acted': 'A process that has died does nothing more',
  unexpected: 'Nothing rejects but for what was done to it',
} as const satisfies Record<string, string>;

export type Invariant = keyof typeof invariants;

/** What did not hold, and what was seen. */
export interface Problem {
  readonly invariant: Invariant;
  readonly message: string;
}
