import type { RequestNote } from '../model/request-note.ts';
import type { ModelRequest } from '../model/request.ts';
import type { StreamPart } from '../model/stream-part.ts';

/**
 * A wire protocol: two pure functions. It knows no socket, no key and no clock, and throws nothing: what cannot be sent is
 * refused by `checkRequest` before, and what cannot be read comes back as a `DecodeProblem`.
 */
export interface WireProtocol {
  readonly name: string;
  /** The body to send, and the path below the base URL. */
  readonly request: (request: ModelRequest, target: WireTarget) => WireRequest;
  /** A fresh decoder for one response that is a stream of events. */
  readonly stream: () => StreamDecoder;
  /** The same for a server that answers in one piece of JSON. */
  readonly whole: (body: unknown) => DecodeResult;
}

/** What the configuration of the provider decides about the wire. */
export interface WireTarget {
  readonly provider: string;
  readonly model: string;
  /** Where two servers of one protocol differ: each protocol documents its own. */
  readonly dialect: Readonly<Record<string, string | boolean | undefined>>;
}

export interface WireRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** What of the request the provider cannot be told. */
  readonly notes?: readonly RequestNote[];
}

/** Reads one event after the other. Keeps no more than one response needs. */
export interface StreamDecoder {
  /** What the event means. After a problem nothing more is given to it. */
  readonly event: (event: { readonly name: string; readonly data: string }) => DecodeResult;
  /**
   * The server closed the stream, or has been quiet since the reason to end. Gives what is still to be said; the caller checks that
   * `finished` was among it.
   */
  readonly end: (why?: 'quiet') => DecodeResult;
  /** Absent where the reason to end is the last event. */
  readonly ending?: () => StreamEnding;
}

/**
 * How far an answer is from its end. `said`: it has said why it ends, so that only counts and the end of the stream are still to come.
 * `likely`: so it has, but with its first piece, and some servers give a reason with every piece. `open`: all else.
 */
export type StreamEnding = 'open' | 'likely' | 'said';

export type DecodeResult =
  | { readonly type: 'parts'; readonly parts: readonly StreamPart[] }
  | { readonly type: 'problem'; readonly problem: DecodeProblem; readonly parts: readonly StreamPart[] };

export type DecodeProblem =
  /** The provider reports an error inside a response that began well: its body goes to the classifier as it is. */
  | { readonly type: 'provider-error'; readonly body: string }
  /** Not what the protocol allows: broken JSON, a missing field. `data` is shown, cut and redacted. */
  | { readonly type: 'malformed'; readonly reason: string; readonly data: string };
