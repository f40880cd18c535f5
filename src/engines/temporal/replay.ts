import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { bundleOf, installRuntime } from './connect.ts';
import type { TemporalOptions } from './options.ts';
import { loadTemporalSdk } from './sdk.ts';

/** What was reported before is not reported again. */
const sinks = { rerail: { tell: { fn: () => undefined, callDuringReplay: false } } };

/** From where the workflow and the SDK are taken. */
export type ReplayOptions = Pick<TemporalOptions, 'packagesFrom' | 'workflowBundle' | 'workflowsPath'>;

/**
 * Replays the history of a run with the workflow of this version, without a server: whether runs that are under way can be run by
 * it. Rejects with `INVALID_STATE` where they cannot.
 *
 * @param history as Temporal exports it: `temporal workflow show --output json`, or `handle.fetchHistory()`
 * @example await replayHistory(JSON.parse(await readFile('history.json', 'utf8')));
 */
export async function replayHistory(history: unknown, options: ReplayOptions = {}): Promise<void> {
  const { packagesFrom, ...rest } = options;
  const sdk = loadTemporalSdk(packagesFrom);
  try {
    installRuntime(sdk, 'ERROR');
    await sdk.worker.Worker.runReplayHistory({ ...bundleOf({ ...rest, sdk }), sinks }, history);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw RerailError.from(
      createFailure('INVALID_STATE', {
        origin: 'durable',
        message: `The workflow of this version does something else than its history holds: ${said}`,
        hint: 'Let the version that started such runs finish them, on a task queue of its own, before this one takes over.',
      }),
    );
  }
}
