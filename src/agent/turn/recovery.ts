/** What was done about a failure. */
export type RecoveryName =
  // Within one model call: see `resilience/decide.ts`.
  | 'retry'
  | 'splice'
  | 'next-key'
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
  // By a flow about a node, and by a plan about a step; `fall-back` is a flow's too.
  | 'skip'
  | 'replan'
  | 'reclassify'
  | 'suspend'
  | 'stop'
  | 'fail';
