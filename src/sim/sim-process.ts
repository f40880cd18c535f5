import type { Clock } from '../base/clock.ts';
import type { Store } from '../model/store/store.ts';
import type { Agent } from '../runtime/create-agent.ts';
import type { MemoryStore } from '../testing/memory-store.ts';
import type { CrashPoint } from './crash-points.ts';
import { report, tell } from './world.ts';
import type { World } from './world.ts';

/** One process: it lives until it is killed, and then does nothing more. */
export interface SimProcess {
  readonly world: World;
  readonly life: number;
  readonly handle: MemoryStore;
  /** Whose timers die with the process. */
  readonly clock: Clock;
  agent: Agent | undefined;
  /** The disk as its agent sees it. */
  store: Store | undefined;
  isDead: boolean;
  /** The run was begun by it. */
  hasBegun: boolean;
  /** Requests to models, and those of them that this process has put on record. */
  sent: number;
  kept: number;
  /** What was done to it that may cut a request off: it died, the store failed, somebody cancelled the run. */
  disturbances: number;
}

/** Begins a process with nothing in it but a handle on the disk. */
export function beginProcess(world: World): SimProcess {
  world.lives += 1;
  const { clock } = world;
  const process: SimProcess = {
    world,
    life: world.lives,
    handle: world.store.reopen(),
    clock: {
      wallMs: clock.wallMs,
      monotonicMs: clock.monotonicMs,
      after: (delayMs, callback) =>
        clock.after(delayMs, () => {
          if (!process.isDead) callback();
        }),
    },
    agent: undefined,
    store: undefined,
    isDead: false,
    hasBegun: false,
    sent: 0,
    kept: 0,
    disturbances: 0,
  };
  return process;
}

/** Kills it, as `kill -9` does. Its leases stay until somebody knows that it is dead, or they run out. */
function kill(process: SimProcess): void {
  process.isDead = true;
  process.disturbances += 1;
  if (process.world.plan.isDeathSeen) process.handle.kill();
}

/** Comes to a point at which the process may die. Gives whether it is dead: then nothing more of it may happen. */
export function reach(process: SimProcess, point: CrashPoint): boolean {
  const { world } = process;
  if (process.isDead) {
    // What it had in hand when it died comes to nothing; from the next process on there is nothing left of it.
    if (world.lives > process.life)
      report(world, 'dead-acted', `Process ${process.life} is dead and came to: ${point}`);
    return true;
  }
  const { plan, visits, hits } = world;
  if (world.isOver) return false;
  const visit = (visits.get(point) ?? 0) + 1;
  visits.set(point, visit);
  const isFocus = point === plan.focus.point && visit >= plan.focus.visit && !hits.has(point);
  const isDue = isFocus || (world.crashes < plan.maxCrashes && plan.random() < plan.crashShare);
  if (!isDue) return false;
  world.crashes += 1;
  hits.set(point, (hits.get(point) ?? 0) + 1);
  tell(world, `** the process dies ${point}`);
  kill(process);
  return true;
}
