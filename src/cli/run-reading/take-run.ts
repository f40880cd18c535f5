import type { Settings } from '../config/settings.ts';
import type { Given } from '../specs/command-spec.ts';
import type { CliIo } from '../start/io.ts';
import { openExisting } from '../start/open-store.ts';
import type { AgentSeam } from './agent-seam.ts';
import { findRunByPrefix } from './find-run.ts';
import { findOptionsOf, openOwn, readRunArgument, readStoreFlag, storeFlagOf } from './open-run-store.ts';
import { readRun } from './read-run.ts';
import type { RunReading } from './run-reading.ts';

/** A run that something is to be done about, as it stands. */
export interface TakenRun {
  readonly settings: Settings;
  readonly reading: RunReading;
  readonly storeFlag: string;
}

/** Reads the settings and the run that was named. Nothing is made and nothing is changed. */
export async function takeRun(seam: AgentSeam, given: Given, io: CliIo): Promise<TakenRun> {
  const named = readStoreFlag(given.flags);
  const settings = await seam.loadSettings(given.flags, io);
  const store = named === undefined ? openOwn(settings.storeFile, io) : openExisting(settings.storeFile);
  try {
    const { runId } = await findRunByPrefix(store, readRunArgument(given), findOptionsOf(io, given.flags));
    const reading = await readRun(store, runId);
    return { settings, reading, storeFlag: storeFlagOf(given.flags) };
  } finally {
    await store.close();
  }
}
