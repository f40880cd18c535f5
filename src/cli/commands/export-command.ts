import { open, rm } from 'node:fs/promises';
import { escapeUnsafe, printable } from '../../base/printable.ts';
import { redact } from '../../base/redact.ts';
import { readProperty } from '../../errors/classify/safe-read.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { exportRun } from '../../runtime/transfer/export-run.ts';
import type { CommandRun } from '../specs/command-spec.ts';
import { interruptible } from '../start/interruption.ts';
import { findRunByPrefix } from '../run-reading/find-run.ts';
import { findOptionsOf, readRunArgument, readRunStore } from '../run-reading/open-run-store.ts';
import { quote, usageError } from '../text/usage-error.ts';

/** Writes a run as one bundle. */
export const runExport: CommandRun = (given, io) =>
  readRunStore({ flags: given.flags, io }, async ({ store }) => {
    const { out } = given.flags;
    const { runId } = await findRunByPrefix(store, readRunArgument(given), findOptionsOf(io, given.flags));
    const children = given.flags['children'] !== false && given.flags['noChildren'] !== true;
    const bundle = await interruptible((signal) => exportRun(store, runId, { signal, children }));
    if (typeof out !== 'string') {
      // The texts in it may hold anything; the line breaks between them are its own.
      io.stdout.write(bundle.split('\n').map(escapeUnsafe).join('\n'));
      return 0;
    }
    await writeNew(out, bundle);
    io.stdout.write(
      `Written to ${printable(redact(quote(out)))}. Known secrets are taken out; look before you send it.\n`,
    );
    return 0;
  });

/** Never over something that is there, and nothing is left of what could not be written whole. */
async function writeNew(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600).catch((error: unknown) => {
    throw unwritable(file, error);
  });
  try {
    await handle.writeFile(text);
    await handle.sync();
  } catch (error) {
    await rm(file, { force: true });
    throw unwritable(file, error);
  } finally {
    await handle.close();
  }
}

function unwritable(file: string, error: unknown): unknown {
  const errno = readProperty(error, 'code');
  if (typeof errno !== 'string') return error;
  if (errno === 'EEXIST') {
    return usageError({
      message: `--out ${quote(file)} is there already, and nothing is overwritten`,
      hint: 'Give the name of a new file',
    });
  }
  const message = `Cannot write ${quote(file)}: ${errno}`;
  const hint = 'Nothing of it was left. Check the folder and the disk';
  return RerailError.from(createFailure('IO_ERROR', { message, hint }), { cause: error });
}
