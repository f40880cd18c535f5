import type { Clock } from '../../base/clock.ts';
import type { Lease, LeaseOwner } from '../../model/store/store.ts';
import type { HashedEvent } from '../common/text-addition.ts';
import type { MakeClient, PgClient, SqlParameter, SqlRow } from './driver.ts';
import type { RunRecord } from './run-record.ts';
import type { Creation } from './create-run.ts';
import type { Appending } from './plan-append.ts';

/** What a store is made of, checked and with its defaults. */
export interface Settings {
  /** For people, without user and password. */
  readonly name: string;
  readonly schema: string;
  /** Whether a schema that is not there is made. */
  readonly create: boolean;
  /** Gives the time instead of the database, where a test says so. */
  readonly clock: Clock | undefined;
  readonly maxConnections: number;
  readonly busyTimeoutMs: number;
  readonly statementTimeoutMs: number;
  /** Where the driver connects to. */
  readonly address: Readonly<Record<string, unknown>>;
  readonly loadDriver: () => MakeClient;
}

/** All that one store holds. */
export interface Held {
  readonly settings: Settings;
  makeClient: MakeClient | undefined;
  /** Connections that are unused at the moment; the last one was used last. */
  readonly idle: Connection[];
  /** How many connections may still be taken, and who waits for one. */
  freeSlots: number;
  readonly waiters: Set<() => void>;
  /** Until connections that are unused for long are closed. */
  idleTimer: NodeJS.Timeout | undefined;
  readonly queue: Write[];
  /** The latest state of runs whose lease this store has given, so that adding to one needs no look. */
  readonly records: Map<string, RunRecord>;
  /** How far each run was seen to have come: what is there may never be less. */
  readonly heads: Map<string, Head>;
  /** For each owner the runs that he believes to have, with the epoch he has them by. */
  readonly believed: Map<string, Map<string, number>>;
  /** What was added to a run without anybody having heard whether it was written. */
  readonly doubts: Map<string, Doubt>;
  /** What is done one after the other: the signals of a run, the additions to a session. */
  readonly tails: Map<string, Promise<unknown>>;
  /** Statements with the name of the schema in them. */
  readonly texts: Map<string, string>;
  /** The database's time is the process's plus so much. */
  aheadMs: number | undefined;
  /** Of the database that was found first: another one in its place is not ours. */
  storeId: string | undefined;
  isFlushing: boolean;
  readonly onFlushed: (() => void)[];
  asked: number;
  answered: number;
  isClosed: boolean;
  readonly forgetSecret: () => void;
}

/** What may have been added. */
export interface Doubt {
  readonly lease: Lease;
  readonly events: readonly HashedEvent[];
}

/** How far a run has come. */
export interface Head {
  /** Of this very run: one that was removed and restarted has another. */
  readonly number: number;
  readonly seq: number;
  readonly hash: string;
}

/** An open connection. */
export interface Connection {
  readonly held: Held;
  readonly client: PgClient;
  /** What was sent may have been done, and its result is unknown so far. */
  isInDoubt: boolean;
  /** It is not used again. */
  isBroken: boolean;
  /** By the clock of the process. */
  usedAtMs: number;
  /** The statement that it waits for an answer to: there is one at a time. */
  asked: { readonly untilMs: number; readonly giveUp: () => void } | undefined;
  /** Looks after it, now and then. */
  watch: NodeJS.Timeout | undefined;
}

/** One change that waits to be written, in the order of the calls. */
export type Write =
  | (Answering & { readonly type: 'append'; readonly appending: Appending })
  | (Answering & { readonly type: 'create'; readonly creation: Creation; readonly owner: LeaseOwner })
  | (Answering & { readonly type: 'other'; readonly perform: (connection: Connection) => Promise<unknown> });

interface Answering {
  readonly resolve: (value: unknown) => void;
  readonly reject: (thrown: unknown) => void;
}

/** Nothing is open yet. */
export function createHeld(settings: Settings, forgetSecret: () => void): Held {
  return {
    settings,
    makeClient: undefined,
    idle: [],
    idleTimer: undefined,
    freeSlots: settings.maxConnections,
    waiters: new Set(),
    queue: [],
    records: new Map(),
    heads: new Map(),
    believed: new Map(),
    doubts: new Map(),
    tails: new Map(),
    texts: new Map(),
    aheadMs: undefined,
    storeId: undefined,
    isFlushing: false,
    onFlushed: [],
    asked: 0,
    answered: 0,
    isClosed: false,
    forgetSecret,
  };
}

/** A statement of this folder: `@.` stands for the schema, and nothing else from outside is ever part of one. */
export interface Statement {
  /** Prepared once for each connection. */
  readonly name?: string;
  readonly text: string;
}

/** The time that events are written with: the database's, as far as the process knows it. */
export function nowOf({ settings, aheadMs }: Held): number {
  if (settings.clock !== undefined) return Math.round(settings.clock.wallMs());
  return Math.round(aheadMs === undefined ? Date.now() : performance.now() + aheadMs);
}

/** For statements in which the database gives the time: nothing, unless a test gives it. */
export function givenNow({ settings }: Held): number | null {
  return settings.clock === undefined ? null : Math.round(settings.clock.wallMs());
}

/** The time in a statement, by the parameter of `givenNow`. */
export function nowSql(parameter: string): string {
  return `coalesce(${parameter}::bigint, ${serverNowSql})`;
}

/** Of the moment, not of the beginning of the transaction. */
export const serverNowSql = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/** Notes what the database said of its time. */
export function learnTime(held: Held, serverMs: number, askedAtMs: number): void {
  // In the middle between question and answer.
  held.aheadMs = serverMs - (askedAtMs + performance.now()) / 2;
}

/** Values as a statement takes them. */
export type Values = readonly SqlParameter[];

/** Rows as a statement gives them. */
export type Rows = readonly SqlRow[];
