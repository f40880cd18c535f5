import type { Json } from '../../base/json.ts';
import type { Finish, FinishReason } from '../../model/finish.ts';
import type { Signature } from '../../model/message.ts';
import type { StreamPart } from '../../model/stream-part.ts';

/** What the `stream` of a model of one's own yields: the parts of the stream protocol, and two shorter forms. */
export type ModelPart =
  | Exclude<StreamPart, { readonly type: 'finished' }>
  /** A whole tool call. Without a `callId` it gets one. */
  | {
      readonly type: 'tool-call';
      readonly callId?: string;
      readonly name: string;
      /** As an object, or as the text that the model wrote. */
      readonly arguments: string | Readonly<Record<string, Json>>;
      readonly signature?: Signature;
    }
  /** The end: our word for its reason, or that with the provider's own. Only `usage` may follow. */
  | { readonly type: 'finished'; readonly finish: FinishReason | Finish };
