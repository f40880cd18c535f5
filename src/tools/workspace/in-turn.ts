const running = new Map<string, Promise<void>>();

/** Does work of the same key one after the other, in this process; whoever comes next does not mind how the last one ended. */
export async function inTurn<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
  const own = (running.get(key) ?? Promise.resolve()).then(work);
  const ended = own.then(nothing, nothing);
  running.set(key, ended);
  try {
    return await own;
  } finally {
    // Nobody waits behind it: then nothing of it is kept.
    if (running.get(key) === ended) running.delete(key);
  }
}

function nothing(): void {}
