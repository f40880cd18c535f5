/** Tasks by the name of their queue, handed to whoever asks for one and waits. */
export interface TaskQueues<Task> {
  readonly put: (queue: string, task: Task) => void;
  /** Nothing where none came in time. */
  readonly poll: (queue: string, signal: AbortSignal) => Promise<Task | undefined>;
  readonly hasPoller: (queue: string) => boolean;
  readonly close: () => void;
}

const pollMs = 15_000;

/** Queues in memory. */
export function createQueues<Task>(): TaskQueues<Task> {
  const tasks = new Map<string, Task[]>();
  const pollers = new Map<string, Set<(task: Task | undefined) => void>>();
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
        const [first, ...rest] = tasks.get(queue) ?? [];
        if (first !== undefined) {
          tasks.set(queue, rest);
          return resolve(first);
        }
        const end = (task: Task | undefined): void => {
          of(queue).delete(end);
          clearTimeout(timer);
          resolve(task);
        };
        const timer = setTimeout(() => end(undefined), pollMs);
        signal.addEventListener('abort', () => end(undefined), { once: true });
        of(queue).add(end);
      }),
    hasPoller: (queue) => of(queue).size > 0,
    close: () => {
      for (const waiting of pollers.values()) for (const give of waiting) give(undefined);
    },
  };
}
