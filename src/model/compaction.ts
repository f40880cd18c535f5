/**
 * How a conversation is made shorter, as plain data: the journal keeps it, and the machine applies it to the history. What was
 * there before stays in the journal. Numbers are places in the list of messages without the instructions.
 */
export interface Compaction {
  readonly strategy: CompactionStrategy;
  /** Messages that go, as ranges: `from` inclusive, `to` exclusive, ascending, never between a call and its results. */
  readonly dropped: readonly MessageRange[];
  /** Replaces the first dropped range: a summary, or a note that something is missing. */
  readonly summary?: string;
  /** Results that are replaced by a note. */
  readonly cleared: readonly ClearedResult[];
  /** Texts of which only head and tail stay. */
  readonly shortened: readonly ShortenedText[];
  /** Estimates. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** `own`: a function of the caller. */
export type CompactionStrategy = 'window' | 'clear-results' | 'summary' | 'own' | 'truncate';

export interface MessageRange {
  readonly from: number;
  readonly to: number;
}

export interface ClearedResult {
  readonly message: number;
  readonly callId: string;
  /** So much of its beginning stays: of a call that may have changed something. Absent where nothing does. */
  readonly headCharacters?: number;
}

export interface ShortenedText {
  readonly message: number;
  /** The part of the message's content, where it is a list; 0 where it is a text. */
  readonly part: number;
  readonly headCharacters: number;
  readonly tailCharacters: number;
}
