import type { Clock } from '../../base/clock.ts';
import { systemClock } from '../../base/system.ts';
import { visible } from '../../base/printable.ts';
import type { TextSink } from './io.ts';
import { shownPlace } from './store-place.ts';

/** A store that is free answers long before. */
const patienceMs = 1000;

interface SlowStore {
  readonly sink: TextSink;
  readonly place: string;
  readonly clock?: Clock;
}

/** Says what is waited for where a run has not begun after a second. Returns what to call when it has. */
export function noteSlowStore({ sink, place, clock = systemClock }: SlowStore): () => void {
  return clock.after(patienceMs, () => {
    const store = visible(shownPlace(place));
    sink.write(`note: waiting for the store "${store}", which another process may be using\n`);
  });
}
