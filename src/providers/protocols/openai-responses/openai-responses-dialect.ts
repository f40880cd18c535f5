/** Where servers that speak Responses differ. Every flag is optional. */
export interface OpenaiResponsesDialect {
  /** `false` asks for the answer in one piece. Default: a stream. */
  readonly stream?: boolean;
  /** `true` for a model that reasons: its encrypted reasoning is asked for, so that it can be sent back. */
  readonly reasoning?: boolean;
  /** `false` leaves summaries of the reasoning out; OpenAI gives them only to verified organisations. */
  readonly reasoningSummary?: boolean;
  /** `false` sends the system's words as messages instead of as `instructions`. */
  readonly instructions?: boolean;
  /** The role of those messages. Default `developer`. */
  readonly systemRole?: 'developer' | 'system';
}
