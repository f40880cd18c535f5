import { printable } from '../../base/printable.ts';
import { redact } from '../../base/redact.ts';
import { parentIdOf } from '../../model/store/run-tree.ts';
import type { RunRow } from '../../model/store/store.ts';
import type { Screen } from '../text/layout.ts';
import { displayWidth } from '../text/wrap.ts';
import type { RunOrigin } from './run-reading.ts';
import { agoText, statusWords, unprovenWords } from './run-words.ts';
import { originMarks } from './why-origin.ts';

export interface TableOptions {
  /** What to show of each id. */
  readonly ids: ReadonlyMap<string, string>;
  /** Of the runs whose record came from elsewhere. */
  readonly origins: ReadonlyMap<string, RunOrigin>;
  /** Those whose record was found damaged. */
  readonly damaged: ReadonlySet<string>;
  readonly screen: Screen;
  readonly nowMs: number;
}

/** Below this, a run takes two lines. */
const leastWidth = 72;
const gap = '  ';

/** Runs below others directly under them, where those are listed too. */
export function asTree(runs: readonly RunRow[]): readonly RunRow[] {
  const listed = new Set(runs.map(({ runId }) => runId));
  const below = new Map<string, RunRow[]>();
  const tops: RunRow[] = [];
  for (const row of runs) {
    const parentId = parentIdOf(row);
    if (parentId === undefined || !listed.has(parentId)) tops.push(row);
    else below.set(parentId, [...(below.get(parentId) ?? []), row]);
  }
  const withThose = (row: RunRow): readonly RunRow[] => [
    row,
    ...(below.get(row.runId) ?? []).toSorted(byBeginning).flatMap(withThose),
  ];
  return tops.flatMap(withThose);
}

/** Those of a run stand in the order in which they began; the list has the latest first. */
function byBeginning(one: RunRow, other: RunRow): number {
  if (one.createdAtMs !== other.createdAtMs) return one.createdAtMs - other.createdAtMs;
  return one.runId < other.runId ? -1 : 1;
}

/** A table that fits the screen: one line for each run, two where it is narrow. */
export function layoutRuns(runs: readonly RunRow[], options: TableOptions): readonly string[] {
  const listed = new Set(runs.map(({ runId }) => runId));
  const cells = runs.map((row) => cellsOf(row, { ...options, listed }));
  return options.screen.width < leastWidth ? narrow(cells, options) : wide(cells, options);
}

interface Cells {
  readonly id: string;
  readonly when: string;
  readonly status: ReturnType<typeof statusWords>;
  readonly turns: string;
  readonly cost: string;
  readonly words: string;
}

/** Below a run that is listed: what its name adds to that one's, as far in as it stands below. */
function nameOf(row: RunRow, { ids, listed }: CellOptions): string {
  const parentId = parentIdOf(row);
  if (parentId === undefined || !listed.has(parentId)) return printable(ids.get(row.runId) ?? row.runId);
  const depth = row.agent.split('/').length - 1;
  return `${gap.repeat(Math.min(depth, maxDepth))}${printable(row.runId.slice(parentId.length))}`;
}

const maxDepth = 5;

interface CellOptions extends TableOptions {
  /** All ids of the table. */
  readonly listed: ReadonlySet<string>;
}

function cellsOf(row: RunRow, options: CellOptions): Cells {
  const { runId, createdAtMs, turns, costUsd, text } = row;
  const { nowMs, origins, damaged } = options;
  const origin = origins.get(runId);
  const mark = origin === undefined ? '' : `[${originMarks[origin.type]}] `;
  return {
    id: nameOf(row, options),
    when: agoText(createdAtMs, nowMs),
    status: damaged.has(runId) ? unprovenWords(row) : statusWords(row),
    turns: turns === 0 ? '-' : String(turns),
    cost: costUsd === undefined || costUsd === 0 ? '-' : `$${costUsd.toFixed(4)}`,
    words: `${mark}${printable(redact(text.slice(0, maxLooked)).trim().split('\n', 1)[0] ?? '')}`,
  };
}

/** The first words of what was asked are all that there is room for; what was answered follows on another line. */
const maxLooked = 600;
const maxStatus = 30;

function wide(cells: readonly Cells[], { screen }: TableOptions): readonly string[] {
  const heads = { id: 'run', when: 'began', status: 'status', turns: 'turns', cost: 'cost' };
  const widthOf = (read: (cell: Cells) => string, head: string): number =>
    Math.max(head.length, ...cells.map((cell) => displayWidth(read(cell))));
  const widths = {
    id: Math.min(
      maxId,
      widthOf(({ id }) => id, heads.id),
    ),
    when: widthOf(({ when }) => when, heads.when),
    status: Math.min(
      maxStatus,
      widthOf(({ status }) => status.text, heads.status),
    ),
    turns: heads.turns.length,
    cost: widthOf(({ cost }) => cost, heads.cost),
  };
  const used = Object.values(widths).reduce((sum, width) => sum + width + gap.length, 0);
  const room = Math.max(8, screen.width - used);
  const head = [
    heads.id.padEnd(widths.id),
    heads.when.padEnd(widths.when),
    heads.status.padEnd(widths.status),
    heads.turns.padStart(widths.turns),
    heads.cost.padStart(widths.cost),
    'asked',
  ].join(gap);
  const lines = cells.map(({ id, when, status, turns, cost, words }) => {
    const said = fit(status.text, widths.status);
    return [
      fit(id, widths.id),
      fit(when, widths.when),
      status.style === undefined ? said : screen.paint(status.style, said),
      turns.padStart(widths.turns),
      cost.padStart(widths.cost),
      fit(words, room).trimEnd(),
    ]
      .join(gap)
      .trimEnd();
  });
  return [screen.paint('label', head), ...lines];
}

const maxId = 24;

function narrow(cells: readonly Cells[], { screen }: TableOptions): readonly string[] {
  const { width, paint } = screen;
  return cells.flatMap(({ id, when, status, words }) => {
    const { text, style } = status;
    const shownId = fit(id, Math.min(displayWidth(id), maxId)).trimEnd();
    const said = fit(text, Math.max(8, width - displayWidth(shownId) - gap.length)).trimEnd();
    const about = fit(`${when}: ${words}`, width - gap.length).trimEnd();
    return [
      `${shownId}${gap}${style === undefined ? said : paint(style, said)}`,
      `${gap}${paint('label', about)}`,
    ];
  });
}

/** Exactly so many columns: cut with a sign, or filled with blanks. */
function fit(text: string, width: number): string {
  const columns = displayWidth(text);
  if (columns <= width) return text + ' '.repeat(width - columns);
  let kept = '';
  let taken = 0;
  for (const character of text) {
    const more = displayWidth(character);
    if (taken + more > width - 1) break;
    kept += character;
    taken += more;
  }
  return `${kept}…${' '.repeat(width - taken - 1)}`;
}
