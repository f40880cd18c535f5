import type { CliIo } from '../start/io.ts';
import { wantsColour } from '../text/paint.ts';

/** How a piece of text looks. Gold is for what was or may be recovered. */
const looks = {
  bold: '1',
  dim: '2',
  italic: '3',
  code: '36',
  failure: '31',
  success: '32',
  recovery: '38;5;178',
} as const;

export type Look = keyof typeof looks;

/** Gives a piece of text its look, or leaves it plain. */
export interface ViewPaint {
  readonly isColoured: boolean;
  readonly paint: (look: Look | undefined, text: string) => string;
}

export function createViewPaint(io: Pick<CliIo, 'env' | 'isTerminal'>): ViewPaint {
  return paintWith(wantsColour(io));
}

/** The same, where it is known whether there is colour. */
export function paintWith(isColoured: boolean): ViewPaint {
  return {
    isColoured,
    paint: (look, text) =>
      !isColoured || look === undefined || text === '' ? text : `\u001b[${looks[look]}m${text}\u001b[0m`,
  };
}
