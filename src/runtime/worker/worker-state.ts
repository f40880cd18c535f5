import type { Cancel } from '../../base/clock.ts';
import type { Agent } from '../create-agent.ts';
import type { WorkerMemory } from './worker-memory.ts';
import type { WorkerParts } from './worker-options.ts';

/** All that changes while a worker works. */
export interface WorkerState {
  readonly parts: WorkerParts;
  readonly memory: WorkerMemory;
  phase: 'made' | 'working' | 'stopping' | 'stopped';
  /** By run. */
  readonly running: Map<string, Taken>;
  readonly polling: Polling;
  /** The one that is carried alone, and until when. Of the monotonic clock. */
  trial: { readonly runId: string; readonly untilMs: number } | undefined;
  /** Those that wait to be carried alone, and since when. */
  readonly suspects: Map<string, number>;
  readonly idlers: Set<Idler>;
}

/** A run in hand. */
export interface Taken {
  readonly agent: Agent<unknown>;
  /** So many others were in hand when it was resumed. */
  readonly beside: number;
  /** `claiming`: it is not the agent's yet. */
  stage: 'claiming' | 'resumed' | 'finished';
  /** Settles when nothing more is done about it. Never rejects. */
  done: Promise<void>;
}

/** When the store is asked. */
export interface Polling {
  /** How often it was begun. */
  count: number;
  isUnderWay: boolean;
  /** A caller wants to know more than the one under way can answer. */
  isWantedAgain: boolean;
  /** In a row. */
  failures: number;
  /** When the latest one ended, and when the next one is due at the latest. Of the monotonic clock. */
  endedMs: number;
  nextMs: number;
  /** There was more than places. */
  hasMore: boolean;
  cancelTimer: Cancel;
}

/** A caller that waits until nothing is left to do. */
export interface Idler {
  /** A poll that began before says nothing to him. */
  readonly sincePoll: number;
  readonly resolve: () => void;
}
