import { isCancelled } from '../../../src/runtime/record/durable-errors.ts';
import { deaf } from '../../../src/runtime/record/durable.ts';
import type { Durable } from '../../../src/runtime/record/durable.ts';
import { seededRandom } from '../../../src/testing/seeded-random.ts';

/** Rounds of three verbs side by side, drawn by the seed; what came of them decides nothing but the result. It calls `echo` and `slow`. */
export async function wander(durable: Durable, seed: number): Promise<string[]> {
  const random = seededRandom(seed);
  const told: string[] = [];
  const draw = (): Promise<unknown> => {
    const [kind, detail] = [random(), random()];
    if (kind < 0.25) return durable.call('echo', detail, kind < 0.12 ? deaf : {});
    if (kind < 0.4) return durable.call('slow', detail, kind < 0.32 ? deaf : {});
    if (kind < 0.5) return durable.sleep(detail * 20).then(() => 'slept');
    const signal = detail < 0.5 ? 'left' : 'right';
    return durable.waitFor(signal, { timeoutMs: Math.round(random() * 60) });
  };
  for (let round = 0; round < 8; round += 1) {
    const ends = await Promise.allSettled([draw(), draw(), draw()]);
    told.push(JSON.stringify(ends.map(tell)));
    if (ends.some((end) => end.status === 'rejected')) break;
  }
  return told;
}

function tell(end: PromiseSettledResult<unknown>): unknown {
  if (end.status === 'fulfilled') return end.value;
  return isCancelled(end.reason) ? 'cancelled' : String(end.reason);
}
