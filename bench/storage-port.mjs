// Steps of the durable port with the SQLite store, for bench/storage.mjs. Everything by the public names.
import { createMemoryEngine } from 'rerail/engines';
import { sqlite } from 'rerail/storage/sqlite';

/**
 * An engine whose runs are on record in a file.
 *
 * @param {{ file: string, value: import('rerail/model').Json, onStep: () => void }} options
 */
export function openPort({ file, value, onStep }) {
  const store = sqlite(file);
  const owner = { id: crypto.randomUUID(), leaseMs: 60_000 };
  /** @type {Map<string, import('rerail').Lease>} */
  const leases = new Map();
  /** @param {string} runId @param {string} type @param {unknown} body */
  const write = async (runId, type, body) => {
    const lease = leases.get(runId);
    if (lease === undefined) throw new Error(`Nobody holds ${runId}`);
    await store.runs.append(lease, { events: [{ type, body: /** @type {never} */ (body) }] });
  };
  const engine = createMemoryEngine({
    clock: { wallMs: Date.now, monotonicMs: () => performance.now(), after: never },
    program: async (durable, steps) => {
      for (let step = 0; step < Number(steps); step += 1) await durable.call('step', step);
      return null;
    },
    effects: {
      step: () => {
        onStep();
        return { type: 'done', value };
      },
    },
    recorder: {
      begin: async ({ runId, ...body }) => {
        const created = await store.runs.create(
          { runId, agent: 'bench', events: [{ type: 'began', body }] },
          owner,
        );
        if (created.type === 'created') leases.set(runId, created.lease);
      },
      keep: (runId, entry) => write(runId, entry.type, entry),
      cancel: (runId, reason) => write(runId, 'cancelled', { reason }),
      end: (runId, end) => write(runId, 'ended', end),
      signal: async () => 'added',
    },
  });
  return {
    /** @param {number} steps */
    run: async (steps) => {
      const runId = crypto.randomUUID();
      await engine.start(steps, { runId, version: '1' });
      await engine.whenEnded(runId);
    },
  };
}

/** @returns {never} */
function never() {
  throw new Error('No step waits for the clock');
}
