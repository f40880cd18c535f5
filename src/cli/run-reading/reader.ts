import type { ChangedCall } from '../../agent/run-event.ts';
import type { PersonRequest } from '../../agent/run-outcome.ts';
import type { PreparedCall } from '../../agent/tools/tool-call.ts';
import type { StoredEvent } from '../../model/store/store.ts';
import type { NodeMap } from './read-nodes.ts';
import type { ItemBody, ReadEvent, ReadItem } from './run-reading.ts';

/** What is held while a run is read. */
export interface Reader {
  readonly items: ReadItem[];
  readonly sentences: ReadEvent[];
  readonly timeOf: (event: Pick<StoredEvent, 'seq' | 'atMs'>) => number;
  models: readonly string[];
  isConducted: boolean;
  /** Names of the agents below it, in the order in which they are written; none of a plan, whose steps are not known before. */
  nodeNames: readonly string[];
  /** Each of them is done once: those of a flow are, but a conversation is passed on to and fro. */
  isEachOnce: boolean;
  readonly nodes: NodeMap;
  /** Of the event that is being read. */
  seq: number;
  atMs: number;
  turn: number;
  /** The latest attempt at a model. */
  lastModel: string | undefined;
  /** Places of waits among the items, by generation and position. */
  readonly sleeps: Map<string, number>;
  /** Calls of the latest answer by id, with the number of the event that has it. */
  readonly prepared: Map<string, { readonly call: PreparedCall; readonly seq: number }>;
  /** The event that says that calls follow which must not happen twice. */
  intendSeq: number | undefined;
  readonly questions: Map<string, AskedQuestion>;
  /** What was said about the calls of this turn, by their hash. */
  readonly answers: Map<string, GivenAnswer>;
}

export interface AskedQuestion {
  readonly request: PersonRequest;
  readonly seq: number;
  readonly atMs: number;
}

export interface GivenAnswer {
  readonly verdict: string;
  readonly reason: string;
  readonly changed?: ChangedCall;
  readonly seqs: readonly number[];
}

/** A reader that has read nothing. */
export function createReader(timeOf: Reader['timeOf']): Reader {
  return {
    items: [],
    sentences: [],
    timeOf,
    models: [],
    isConducted: false,
    nodeNames: [],
    isEachOnce: false,
    nodes: new Map(),
    seq: 0,
    atMs: 0,
    turn: 0,
    lastModel: undefined,
    sleeps: new Map(),
    prepared: new Map(),
    intendSeq: undefined,
    questions: new Map(),
    answers: new Map(),
  };
}

/** Adds what happened. Its events are the one that is being read, and those that are named. */
export function addItem(reader: Reader, body: ItemBody, seqs: readonly number[] = []): void {
  const { seq, atMs, turn } = reader;
  const numbers = [...new Set([...seqs, seq])].toSorted((one, other) => one - other);
  reader.items.push({ ...body, seqs: numbers, atMs, turn });
}

/** The event that is being read belongs to the latest item of this type. */
export function joinLatest(reader: Reader, type: ItemBody['type']): void {
  const index = reader.items.findLastIndex((item) => item.type === type);
  const item = reader.items[index];
  if (item !== undefined) reader.items[index] = { ...item, seqs: [...new Set([...item.seqs, reader.seq])] };
}
