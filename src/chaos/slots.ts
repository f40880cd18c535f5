import type { Random } from '../base/clock.ts';

/** One entry for each turn, call or request. After the end there is nothing, or it begins anew. */
export interface Script<Entry> {
  readonly script: readonly Entry[];
  readonly repeat?: boolean;
}

/** What the script says for this place, counted from 0. */
export function entryAt<Entry>({ script, repeat }: Script<Entry>, index: number): Entry | undefined {
  return script[repeat === true ? index % Math.max(1, script.length) : index];
}

/** One of the kinds in a share of all cases, else nothing. Draws twice at the most. */
export function drawKind<Kind>(
  kinds: readonly Kind[],
  { rate, random }: { readonly rate: number; readonly random: Random },
): Kind | undefined {
  return random() < rate ? kinds[Math.floor(random() * kinds.length)] : undefined;
}
