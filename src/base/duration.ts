/** A time as a person says it: `340 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`, `2 h`. */
export function duration(ms: unknown): string {
  if (typeof ms !== 'number' || !Number.isFinite(ms) || ms < 0) return 'an unknown time';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min${rest(Math.floor((ms % 60_000) / 1000), 's')}`;
  return `${Math.floor(minutes / 60).toLocaleString('en-US')} h${rest(minutes % 60, 'min')}`;
}

function rest(count: number, unit: string): string {
  return count === 0 ? '' : ` ${count} ${unit}`;
}
