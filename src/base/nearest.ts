const maxNameCharacters = 64;
const maxCandidates = 1000;
const maxNearest = 3;

/**
 * The names that somebody probably meant, nearest first, at most three. Names that differ too much are no help and are left
 * out, so the list may be empty. Case does not count.
 *
 * @example nearestNames('antropic', ['anthropic', 'openai']); // ['anthropic']
 */
export function nearestNames(name: string, candidates: readonly string[]): readonly string[] {
  const wanted = normalise(name);
  if (wanted === '') return [];
  return candidates
    .slice(0, maxCandidates)
    .map((candidate) => ({ candidate, distance: distanceTo(wanted, normalise(candidate)) }))
    .filter(({ distance }) => distance <= tolerance(wanted))
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, maxNearest)
    .map(({ candidate }) => candidate);
}

const maxShownNames = 30;

/** Ends a sentence about a name that does not exist: the one that was probably meant, or those that there are. */
export function adviseName(name: string, known: readonly string[]): string {
  const [nearest] = nearestNames(name, known);
  if (nearest !== undefined) return `did you mean "${nearest}"?`;
  if (known.length === 0) return 'there is none';
  const rest = known.length > maxShownNames ? ` and ${known.length - maxShownNames} more` : '';
  return `known are ${known.slice(0, maxShownNames).join(', ')}${rest}`;
}

function normalise(name: string): string {
  return name.trim().toLowerCase().slice(0, maxNameCharacters);
}

/** A third of the letters may be wrong: enough for `gpt5` and `gpt-5`, too little for two different words. */
function tolerance(name: string): number {
  return Math.max(1, Math.floor(name.length / 3));
}

/** A name cut short, `claude-sonnet`, is near whatever begins with it, the shorter the rest the nearer. */
function distanceTo(wanted: string, candidate: string): number {
  const distance = editDistance(wanted, candidate);
  if (wanted.length < 3 || !candidate.startsWith(wanted)) return distance;
  const rest = candidate.length - wanted.length;
  return Math.min(distance, 1 + rest / maxNameCharacters);
}

/** Letters to insert, drop, replace or swap with their neighbour. Both texts are bounded, and so is the time. */
function editDistance(one: string, other: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current: number[] = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwap =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current.push(
        Math.min(
          at(last, column) + 1,
          at(current, column - 1) + 1,
          at(last, column - 1) + (isSame ? 0 : 1),
          isSwap ? at(beforeLast, column - 2) + 1 : Infinity,
        ),
      );
    }
    beforeLast = last;
    last = current;
  }
  return at(last, other.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
