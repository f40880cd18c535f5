import type { Random } from '../base/clock.ts';

/** Decides by chance, the same way for the same seed. */
export interface Draw {
  readonly happens: (share: number) => boolean;
  readonly pick: <Item>(items: readonly Item[]) => Item;
}

/** Draws from the numbers of a seed. */
export function createDraw(random: Random): Draw {
  return {
    happens: (share) => random() < share,
    pick: (items) => items[Math.floor(random() * items.length)] as (typeof items)[number], // Never empty.
  };
}
