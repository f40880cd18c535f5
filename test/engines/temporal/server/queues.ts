/** Tasks by the name of their queue, handed to whoever asks for one and waits. */
export interface TaskQueues<Task> {
  readonly put: (queue: string, task: Task) => void;
  /** Nothing where none came in time. */
  readonly poll: (queue: string, signal: AbortSignal) => Promise<Task | undefined>;
  readonly hasPoller: (queue: string) => boolean;
  /** Whether somebody asks now, or has asked not longer ago than this. */
  readonly wasPolled: (queue: string, withinMs: number) => boolean;
  readonly close: () => void;
}

const pollMs = 15_000;

/** Queues in memory. */
export function createQueues<Task>(): TaskQueues<Task> {
  const tasks = new Map<string, Task[]>();
  const pollers = new Map<string, Set<(task: Task | undefined) => void>>();
  const polledAtMs = new Map<string, number>();
  const of = (queue: string): Set<(task: Task | undefined) => void> => {
    const found = pollers.get(queue) ?? new Set();
    pollers.set(queue, found);
    return found;
  };
  return {
    put: (queue, task) => {
      for (const give of of(queue)) return give(task);
      tasks.set(queue, [...(tasks.get(queue) ?? []), task]);
    },
    poll: (queue, signal) =>
      new Promise((resolve) => {
        polledAtMs.set(queue, performance.now());
        const [first, ...rest] = tasks.get(queue) ?? [];
        if (first !== undefined) {
          tasks.set(queue, rest);
          return resolve(first);
        }
        const end = (task: Task | undefined): void => {
          of(queue).delete(end);
          // Whoever is gone does not ask again.
          if (task !== undefined) polledAtMs.set(queue, performance.now());
          clearTimeout(timer);
          resolve(task);
        };
        const timer = setTimeout(() => end(undefined), pollMs);
        signal.addEventListener('abort', () => end(undefined), { once: true });
        of(queue).add(end);
      }),
    hasPoller: (queue) => of(queue).size > 0,
    wasPolled: (queue, withinMs) =>
      of(queue).size > 0 || performance.now() - (polledAtMs.get(queue) ?? -Infinity) <= withinMs,
    close: () => {
      for (const waiting of pollers.values()) for (const give of waiting) give(undefined);
    },
  };
}
