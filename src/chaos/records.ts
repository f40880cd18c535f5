import { isSecretName } from '../base/redact-names.ts';
import type { Counting } from './counting.ts';
import type { FaultSpec } from './fault-spec.ts';
import type { FaultName } from './faults/fault-table.ts';

/** How the exchange came to its end. `open` has not. */
export type Ending =
  | 'open'
  | 'finished'
  | 'closed-by-us'
  | 'reset-by-us'
  | 'closed-by-client'
  /** The server was closed under it. */
  | 'server-closed';

/** What is remembered of a request. Credentials are never kept. */
export interface RecordedRequest {
  /** Counted from 1. */
  readonly sequence: number;
  /** On a clock that only grows, so that waits can be measured. */
  readonly atMs: number;
  readonly wallMs: number;
  readonly method: string;
  readonly path: string;
  /** `openai-chat`, `openai-responses`, `anthropic`, `gemini`; `embeddings`, `models`, `tokens`, `unknown` or `handshake` besides. */
  readonly protocol: string;
  readonly model: string;
  readonly isStream: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether a key came with it, in a header or in the address. */
  readonly hasCredentials: boolean;
  /** Parsed where it is JSON, and left out where it is large. */
  readonly body: unknown;
  readonly faultAsked?: FaultSpec;
  /** The same name, as soon as the other side could see it. */
  readonly faultDelivered?: FaultName;
  /** Why a fault that was asked for could not happen. */
  readonly undeliveredBecause?: string;
  readonly status?: number;
  /** Of bodies, and of heads that are written raw. */
  readonly bytesSent: number;
  readonly ended: Ending;
}

/** A request that is still being written down. */
export type OpenRecord = { -readonly [Key in keyof RecordedRequest]: RecordedRequest[Key] };

export interface Records {
  readonly begin: (record: OpenRecord) => void;
  readonly delivered: (record: OpenRecord) => void;
  readonly end: (record: OpenRecord, ending: Ending) => void;
  readonly list: () => readonly RecordedRequest[];
  readonly reset: () => void;
}

/** Keeps the latest `maxRecords` requests and has all of them counted. `onEnd` hears each as it ends. */
export function createRecords(maxRecords: number, { counting, onEnd }: RecordListeners): Records {
  let records: OpenRecord[] = [];
  return {
    begin: (record) => {
      records.push(record);
      if (records.length > maxRecords) records.shift();
      counting.begun(record);
    },
    delivered: (record) => {
      if (record.faultAsked === undefined || record.faultDelivered !== undefined) return;
      record.faultDelivered = record.faultAsked.name;
      counting.delivered(record.faultAsked.name);
    },
    end: (record, ending) => {
      record.ended = ending;
      counting.ended(record);
      onEnd?.({ ...record });
    },
    list: () => records.map((record) => ({ ...record })),
    reset: () => {
      records = [];
      counting.reset();
    },
  };
}

interface RecordListeners {
  readonly counting: Counting;
  readonly onEnd: ((record: RecordedRequest) => void) | undefined;
}

/** Headers without what they prove: of a credential only its presence is noted. */
export function recordedHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(headers).map(([name, value]): [string, string] => {
    return [name, isCredential(name) ? '[present]' : [value].flat().join(', ')];
  });
  return Object.fromEntries(entries);
}

export function hasCredentials(headers: Readonly<Record<string, unknown>>, path: string): boolean {
  return Object.keys(headers).some(isCredential) || credentialInQuery.test(path);
}

/** Gemini takes its key in the address too. */
export function recordedPath(path: string): string {
  return path.replace(credentialInQuery, '$1[present]');
}

const credentialInQuery = /([?&]key=)[^&]*/;

function isCredential(name: string): boolean {
  return /authorization|api-?key|cookie|token$/i.test(name) || isSecretName(name);
}
