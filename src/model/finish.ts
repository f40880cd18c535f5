/** Why the model stopped, in our words. */
export type FinishReason =
  | 'stop'
  | 'tool-calls'
  | 'length'
  | 'filtered'
  | 'refused'
  | 'malformed-call'
  /** The provider itself says that it stopped before the end. */
  | 'interrupted'
  /** A word that we do not know: the end was announced, and the raw word says the rest. */
  | 'other';

/** Our word for it and the provider's own. */
export interface Finish {
  readonly reason: FinishReason;
  readonly raw: string;
}
