import type { CliIo } from '../start/io.ts';

/** What a colour means here. Gold is for what was or may be recovered. */
const styles = { title: '1', label: '2', failure: '31', recovery: '38;5;178' } as const;

export type Style = keyof typeof styles;

/** Puts a style around a text, or leaves it plain. The text must already be laid out: codes have no width. */
export type Paint = (style: Style, text: string) => string;

export function createPaint(isColoured: boolean): Paint {
  if (!isColoured) return (_style, text) => text;
  return (style, text) => (text === '' ? '' : `\u001b[${styles[style]}m${text}\u001b[0m`);
}

/** `FORCE_COLOR` decides where it is set, then `NO_COLOR`, then whether a terminal is there to show it. */
export function wantsColour({ env, isTerminal }: Pick<CliIo, 'env' | 'isTerminal'>): boolean {
  const force = env['FORCE_COLOR'];
  if (force !== undefined) return force !== '0' && force !== 'false';
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  return isTerminal.stdout && env['TERM'] !== 'dumb';
}
