import { printable } from '../../base/printable.ts';
import { redact } from '../../base/redact.ts';
import { failureTraits } from '../../errors/codes.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { Store } from '../../model/store/store.ts';
import type { Given } from '../specs/command-spec.ts';
import type { CliIo } from '../start/io.ts';
import { openExisting } from '../start/open-store.ts';
import { settingFlagsOf } from '../specs/shared-options.ts';
import { placeWord } from '../start/store-place.ts';
import { usageError } from '../text/usage-error.ts';
import { argumentText } from './given-text.ts';
import type { FindOptions } from './find-run.ts';

/** A store that is there already, and how to name it on the command line. */
export interface OpenedStore {
  readonly store: Store;
  /** What a command must be given to look into the same store: ` --store runs.db`, or nothing. */
  readonly flag: string;
}

/** The store that `--store` names, or the one of the settings. None is made. */
async function openRunStore(flags: Given['flags'], io: CliIo): Promise<OpenedStore> {
  const { file, flag } = await storeFileOf(flags, io);
  return { store: flag === '' ? openOwn(file, io) : openExisting(file), flag };
}

/** The store of the settings is made with the first run. */
export function openOwn(file: string, { command }: Pick<CliIo, 'command'>): Store {
  try {
    return openExisting(file);
  } catch (error) {
    if (!isNoStore(error)) throw error;
    const message = `There is no run yet: the store "${file}" does not exist`;
    const hint = `Begin one with ${command} run, or name another store: --store runs.db`;
    const failure = createFailure('STORAGE_NOT_FOUND', {
      origin: 'storage',
      message,
      hint,
      context: { path: file },
    });
    throw RerailError.from(failure, { cause: error });
  }
}

/** There is no such store, and never was one. */
export function isNoStore(error: unknown): boolean {
  return (
    RerailError.isInstance(error) &&
    error.failure.code === 'STORAGE_NOT_FOUND' &&
    'path' in error.failure.context
  );
}

/** Where the store lies, and how to name it on the command line. With `--store` no configuration is read. */
export async function storeFileOf(
  flags: Given['flags'],
  io: CliIo,
): Promise<{ readonly file: string; readonly flag: string }> {
  const named = readStoreFlag(flags);
  if (named !== undefined) {
    const { keepEnvironmentKeys } = await import('../../providers/kept-secrets.ts');
    keepEnvironmentKeys(io.env);
    return { file: named, flag: storeFlagOf(flags) };
  }
  const { loadSettings } = await import('../config/load-settings.ts');
  // Which model would be asked is no matter here, so none is chosen.
  const { storeFile, stateNotices } = await loadSettings(settingFlagsOf({ flags }), io, {
    findLocal: () => Promise.resolve(undefined),
  });
  for (const notice of stateNotices ?? []) io.stderr.write(`${notice}\n`);
  return { file: storeFile, flag: '' };
}

/** What `--store` says. */
export function readStoreFlag({ store }: Given['flags']): string | undefined {
  if (store === undefined) return undefined;
  // A value that is an option itself is one that was forgotten.
  if (typeof store === 'string' && store !== '' && !store.startsWith('--')) return store;
  throw usageError({
    message: '--store needs the path of a file, or the address of a database',
    hint: 'Type: --store runs.db',
  });
}

/** Does something with the store and closes it, whatever happens. */
export async function withRunStore<Result>(
  { flags, io }: { readonly flags: Given['flags']; readonly io: CliIo },
  work: (opened: OpenedStore) => Promise<Result>,
): Promise<Result> {
  const opened = await openRunStore(flags, io);
  try {
    return await work(opened);
  } finally {
    await opened.store.close();
  }
}

/**
 * The same for what only reads: of a damaged store it is given what the hash chains still prove. It prints a warning, and the exit code says
 * that not everything was there.
 */
export function readRunStore(
  given: { readonly flags: Given['flags']; readonly io: CliIo },
  work: (opened: OpenedStore) => Promise<number>,
): Promise<number> {
  return withRunStore(given, async (opened) => {
    try {
      return await work(opened);
    } catch (error) {
      if (!isDamage(error) || opened.store.proven === undefined) throw error;
      return readProven(given.io, { opened, error }, work);
    }
  });
}

interface Damaged {
  readonly opened: OpenedStore;
  readonly error: RerailError;
}

async function readProven(
  io: CliIo,
  { opened, error }: Damaged,
  work: (opened: OpenedStore) => Promise<number>,
): Promise<number> {
  const { openProvenView } = await import('../../runtime/transfer/proven-view.ts');
  const store = await openProvenView(opened.store);
  try {
    // What is no store of ours, or has nothing left, is not an empty one.
    if ((await store.runs.list({ limit: 1 })).runs.length === 0) throw error;
    const exitCode = await work({ ...opened, store });
    const says = [
      `${opened.store.name} is damaged: ${error.failure.message}`,
      'Shown is what the hash chains prove, up to the first event that is missing or was changed. The store was not changed.',
      `Save what is proven: ${io.command} store salvage <from> <to>`,
    ];
    io.stderr.write(says.map((line) => `${printable(redact(line))}\n`).join(''));
    return exitCode === 0 ? failureTraits.STORAGE_CORRUPT.exitCode : exitCode;
  } catch (thrown) {
    // Of a run of which nothing is proven, what is wrong with the store says more than that it cannot be found.
    throw RerailError.isInstance(thrown) && thrown.code === 'STORAGE_NOT_FOUND' ? error : thrown;
  } finally {
    await store.close();
  }
}

const damageCodes: ReadonlySet<string> = new Set(['STORAGE_CORRUPT', 'STORAGE_DIVERGED', 'STORAGE_LOST']);

function isDamage(error: unknown): error is RerailError {
  return RerailError.isInstance(error) && damageCodes.has(error.code);
}

/** How to print what a person can type. */
export function findOptionsOf(io: CliIo, flags: Given['flags']): FindOptions {
  return { command: io.command, storeFlag: storeFlagOf(flags), nowMs: io.now() };
}

/** The first argument, which names a run. */
export function readRunArgument(given: Given): string {
  return argumentText(given, 0) ?? '';
}

/** How to name the same store again. */
export function storeFlagOf(flags: Given['flags']): string {
  const named = readStoreFlag(flags);
  return named === undefined ? '' : ` --store ${placeWord(named)}`;
}
