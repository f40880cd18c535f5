import { onAbort } from '../../base/abort.ts';

/** Gives the resources back; further calls do nothing. */
export type Release = () => void;

/** Resources that one call at a time may hold. */
export interface ResourceLocks {
  /** All of them, or none yet. Rejects with the signal's reason when it aborts first. */
  readonly acquire: (keys: readonly string[], options: { readonly signal: AbortSignal }) => Promise<Release>;
}

/**
 * Serialises by resource. A call is in the lines of all its keys at once and goes when it is first in each of them:
 * so everybody is served in the order of asking, and no two can wait for each other.
 */
export function createResourceLocks(): ResourceLocks {
  const lines: Lines = new Map();
  return {
    acquire: (keys, { signal }) => {
      if (signal.aborted) return Promise.reject(signal.reason);
      return acquire(lines, [...new Set(keys)], signal);
    },
  };
}

/** Who holds a key comes first in its line. A line that is empty is taken away. */
type Lines = Map<string, Set<Claim>>;

interface Claim {
  readonly keys: readonly string[];
  readonly go: () => void;
}

function acquire(lines: Lines, keys: readonly string[], signal: AbortSignal): Promise<Release> {
  return new Promise((resolve, reject) => {
    const claim: Claim = {
      keys,
      go: () => {
        stopListening();
        resolve(() => leave(lines, claim));
      },
    };
    const stopListening = onAbort(signal, () => {
      leave(lines, claim);
      reject(signal.reason);
    });
    stand(lines, claim);
    if (isFirst(lines, claim)) claim.go();
  });
}

function stand(lines: Lines, claim: Claim): void {
  for (const key of claim.keys) {
    const line = lines.get(key) ?? new Set();
    line.add(claim);
    lines.set(key, line);
  }
}

function isFirst(lines: Lines, claim: Claim): boolean {
  return claim.keys.every((key) => first(lines, key) === claim);
}

function first(lines: Lines, key: string): Claim | undefined {
  const [claim] = lines.get(key) ?? [];
  return claim;
}

function leave(lines: Lines, claim: Claim): void {
  const freed = claim.keys.filter((key) => {
    const line = lines.get(key);
    const wasFirst = first(lines, key) === claim;
    line?.delete(claim);
    if (line?.size === 0) lines.delete(key);
    return wasFirst;
  });
  // Only who has come to the front of a line by this can go: everybody else has gone already or still waits.
  const next = new Set(freed.map((key) => first(lines, key)).filter((waiting) => waiting !== undefined));
  for (const waiting of next) if (isFirst(lines, waiting)) waiting.go();
}
