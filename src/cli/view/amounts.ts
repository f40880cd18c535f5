/** A time as a person says it: `0.4 s`, `12 s`, `2 min 5 s`, `1 h 3 min`. */
export function durationText(ms: number): string {
  if (ms < 9950) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  return elapsedText(ms);
}

/** The same in whole seconds, for work in progress. */
export function elapsedText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function tokensText(tokens: number): string {
  return `${tokens.toLocaleString('en-US')} tokens`;
}

/** Small amounts keep the digits that say something. */
export function costText(costUsd: number): string {
  return costUsd === 0 || costUsd >= 0.01 ? `$${costUsd.toFixed(2)}` : `$${costUsd.toPrecision(2)}`;
}
