import type { Failure } from '../../errors/failure.ts';
import type { Assembly } from '../../model/assembly.ts';
import type { AttemptOptions } from '../../model/model.ts';
import type { Price } from '../../model/price.ts';
import type { RequestNote } from '../../model/request-note.ts';
import type { StreamWatch } from '../../model/stream-watch.ts';
import type { ClassifyError } from '../classify-error.ts';
import type { WireProtocol, WireTarget } from '../protocol.ts';
import type { AttemptFacts } from './attempt-failures.ts';
import type { Endpoint } from './endpoint.ts';
import type { Transport } from './transport.ts';

/** What all attempts of one model share. */
export interface AttemptTarget {
  readonly wire: WireTarget;
  readonly protocol: WireProtocol;
  readonly endpoint: Endpoint;
  readonly transport: Transport;
  readonly authorize:
    | ((options: {
        readonly signal: AbortSignal;
      }) => Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>)
    | undefined;
  readonly price: Price | undefined;
  /** Adds to a failure what only the provider's configuration knows. */
  readonly refine: ((failure: Failure) => Failure) | undefined;
  /** Corrects how a failure is classified. */
  readonly classifyError: ClassifyError | undefined;
  readonly isStream: boolean;
  readonly maxEventBytes: number;
  readonly maxBodyBytes: number;
}

/** One attempt on its way. It ends once: whoever comes later changes nothing. */
export interface Attempt {
  readonly target: AttemptTarget;
  readonly assembly: Assembly;
  readonly watch: StreamWatch;
  readonly onPart: AttemptOptions['onPart'];
  readonly facts: () => AttemptFacts;
  readonly isEnded: () => boolean;
  /** The words of an answer with a bad status, as far as they have come: they say more than whatever ends the wait. */
  refusalText: (() => string) | undefined;
  /** Set while the answer has said why it ends. Ends the attempt with it where nothing more comes; returns whether it is whole. */
  finish: ((why: 'quiet' | 'lost') => boolean) | undefined;
  /** What was done about the request on its way. */
  readonly notes: RequestNote[];
  readonly end: (failure?: Failure) => void;
}
