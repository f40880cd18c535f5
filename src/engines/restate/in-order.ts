/** Does one thing after the other for each run. What failed holds up nothing. */
export type InOrder = <T>(runId: string, act: () => Promise<T>) => Promise<T>;

/**
 * What one process asks of a run arrives in that order: requests that are under way at the same time may overtake each other. Each has
 * its own time limit, so that none waits for ever.
 */
export function createInOrder(): InOrder {
  const last = new Map<string, Promise<void>>();
  return (runId, act) => {
    const before = last.get(runId);
    const acting = before === undefined ? act() : before.then(act);
    const over = acting.then(
      () => forget(),
      () => forget(),
    );
    const forget = (): void => {
      if (last.get(runId) === over) last.delete(runId);
    };
    last.set(runId, over);
    return acting;
  };
}
