/** One line of a difference. The last line of a text may have no line break after it: `isUnended`. */
export interface DiffLine {
  readonly type: 'same' | 'removed' | 'added';
  readonly text: string;
  readonly isUnended?: true;
}

/** Lines that belong together, with where they stand: `fromBefore` and `fromAfter` count from 1. */
export interface DiffHunk {
  readonly fromBefore: number;
  readonly fromAfter: number;
  readonly lines: readonly DiffLine[];
}

/** What has changed between two texts. */
export interface LineDiff {
  readonly hunks: readonly DiffHunk[];
  readonly added: number;
  readonly removed: number;
  /** The texts differ by so much that the shortest difference was not looked for: everything between is removed and added. */
  readonly isCoarse: boolean;
}

/**
 * What has changed, line by line, with the lines around it: the shortest difference by the algorithm of Myers. Time and memory
 * are bounded, however large the texts and however little they have in common.
 *
 * @example lineDiff('a\nb\n', 'a\nc\n').hunks[0].lines; // same a, removed b, added c
 */
export function lineDiff(before: string, after: string, contextLines = 3): LineDiff {
  const [one, other] = [splitLines(before), splitLines(after)];
  const head = commonHead(one, other);
  const tail = commonTail(one, other, head);
  const middle = [one.slice(head, one.length - tail), other.slice(head, other.length - tail)] as const;
  const steps = shortestSteps(...middle);
  const changed = steps ?? [...middle[0].map(removed), ...middle[1].map(added)];
  const lines = [...one.slice(0, head).map(same), ...changed, ...one.slice(one.length - tail).map(same)];
  return {
    hunks: hunksOf(lines, contextLines),
    added: lines.filter(({ type }) => type === 'added').length,
    removed: lines.filter(({ type }) => type === 'removed').length,
    isCoarse: steps === undefined,
  };
}

/** With their line breaks, so that a last line without one differs from one with it. */
function splitLines(text: string): readonly string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

function commonHead(one: readonly string[], other: readonly string[]): number {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length += 1;
  return length;
}

function commonTail(one: readonly string[], other: readonly string[], head: number): number {
  const most = Math.min(one.length, other.length) - head;
  let length = 0;
  while (length < most && one.at(-1 - length) === other.at(-1 - length)) length += 1;
  return length;
}

function same(line: string): DiffLine {
  return lineOf('same', line);
}

function removed(line: string): DiffLine {
  return lineOf('removed', line);
}

function added(line: string): DiffLine {
  return lineOf('added', line);
}

function lineOf(type: DiffLine['type'], line: string): DiffLine {
  return line.endsWith('\n') ? { type, text: line.slice(0, -1) } : { type, text: line, isUnended: true };
}

/** Beyond these a difference is worth neither the memory of the way back nor the time: a quarter of a second. */
const maxChanges = 1000;
const maxSteps = 10_000_000;

/** The furthest that each diagonal has come, for each number of changes: Myers' greedy way, or nothing where it is too far. */
function shortestSteps(one: readonly string[], other: readonly string[]): readonly DiffLine[] | undefined {
  if (one.length === 0 || other.length === 0) return [...one.map(removed), ...other.map(added)];
  const trace: Int32Array[] = [];
  const most = Math.min(one.length + other.length, maxChanges);
  let steps = 0;
  for (let changes = 0; changes <= most; changes += 1) {
    const last = trace.at(-1);
    const reached = new Int32Array(2 * changes + 1);
    trace.push(reached);
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      const from = last === undefined ? 0 : furthest(last, { diagonal, changes });
      let x = from;
      while (x < one.length && x - diagonal < other.length && one[x] === other[x - diagonal]) x += 1;
      reached[diagonal + changes] = x;
      steps += x - from + 1;
      if (x >= one.length && x - diagonal >= other.length) return walkBack(trace, one, other);
    }
    if (steps > maxSteps) return undefined;
  }
  return undefined;
}

interface Place {
  readonly diagonal: number;
  readonly changes: number;
}

/** Where a diagonal begins with one more change: by a line that was added, or by one that was removed. */
function furthest(last: Int32Array, { diagonal, changes }: Place): number {
  return comesByAdding(last, { diagonal, changes })
    ? at(last, diagonal + 1, changes)
    : at(last, diagonal - 1, changes) + 1;
}

function comesByAdding(last: Int32Array, { diagonal, changes }: Place): boolean {
  if (diagonal === -changes) return true;
  return diagonal !== changes && at(last, diagonal - 1, changes) < at(last, diagonal + 1, changes);
}

/** `last` is of one change less, so that its middle lies one place further to the left. */
function at(last: Int32Array, diagonal: number, changes: number): number {
  return last[diagonal + changes - 1] ?? 0;
}

function walkBack(
  trace: readonly Int32Array[],
  one: readonly string[],
  other: readonly string[],
): readonly DiffLine[] {
  const lines: DiffLine[] = [];
  let [x, y] = [one.length, other.length];
  for (let changes = trace.length - 1; changes >= 0; changes -= 1) {
    const last = trace[changes - 1];
    const place = { diagonal: x - y, changes };
    const isAdding = last !== undefined && comesByAdding(last, place);
    const startX = last === undefined ? 0 : furthest(last, place);
    for (; x > startX; x -= 1, y -= 1) lines.push(same(one[x - 1] ?? ''));
    if (last === undefined) break;
    if (isAdding) lines.push(added(other[(y -= 1)] ?? ''));
    else lines.push(removed(one[(x -= 1)] ?? ''));
  }
  return lines.toReversed();
}

function hunksOf(lines: readonly DiffLine[], contextLines: number): readonly DiffHunk[] {
  const hunks: { fromBefore: number; fromAfter: number; lines: DiffLine[] }[] = [];
  let [beforeLine, afterLine] = [1, 1];
  let lastKept = -1;
  const kept = keptOf(lines, contextLines);
  for (const [index, line] of lines.entries()) {
    if (kept[index] === 1) {
      if (hunks.length === 0 || lastKept !== index - 1)
        hunks.push({ fromBefore: beforeLine, fromAfter: afterLine, lines: [] });
      hunks.at(-1)?.lines.push(line);
      lastKept = index;
    }
    if (line.type !== 'added') beforeLine += 1;
    if (line.type !== 'removed') afterLine += 1;
  }
  return hunks;
}

/** 1 for each line that has changed or stands beside one that has. */
function keptOf(lines: readonly DiffLine[], contextLines: number): Uint8Array {
  const kept = new Uint8Array(lines.length);
  for (const [index, { type }] of lines.entries()) {
    if (type !== 'same') kept.fill(1, Math.max(0, index - contextLines), index + contextLines + 1);
  }
  return kept;
}
