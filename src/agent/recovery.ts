/** What was done about a failure. */
export type RecoveryName =
  // Within one model call: see `resilience/decide.ts`.
  | 'retry'
  | 'splice'
  | 'fall-back'
  // Above it.
  | 'nudge'
  | 'continue'
  | 're-ask'
  | 'compact'
  | 'tell-model'
  | 'withdraw-tool'
  | 'verify'
  | 'ask-person'
  | 'salvage'
  | 'suspend'
  | 'stop'
  | 'fail';
