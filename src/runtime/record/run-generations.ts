import type { NewEvent } from '../../model/store/store.ts';

/** The events of a run, by generation: each begins with a `began`. */
export function generationsOf<Event extends NewEvent>(
  events: readonly Event[],
): readonly (readonly Event[])[] {
  const starts = events.flatMap(({ type }, index) => (type === 'began' ? [index] : []));
  return starts.map((start, place) => events.slice(start, starts[place + 1]));
}
