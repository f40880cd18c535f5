import { open, rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { printable } from '../base/printable.ts';
import { redact } from '../base/redact.ts';
import { readProperty } from '../errors/classify/safe-read.ts';
import { createFailure } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';
import { exportRun } from '../runtime/export-run.ts';
import { interruptible } from './interruption.ts';
import type { CliIo, CommandContext } from './io.ts';
import { openExisting, storeOption } from './open-store.ts';
import { quote, usageError } from './usage-error.ts';

interface ExportFlags {
  readonly store: string;
  readonly out?: string;
}

/** Adds `rerail export`. */
export function addExportCommand(program: Command, { io }: CommandContext): void {
  program
    .command('export')
    .description('Write a run as one redacted bundle, to be replayed elsewhere')
    .argument('<runId>', 'The id of the run')
    .addOption(storeOption('The store that holds it').makeOptionMandatory())
    .option('--out <file>', 'A new file for it, private to you; standard output by default')
    .action((runId: string, flags: ExportFlags) => runExport(runId, flags, io))
    .addHelpText('after', `\n${examples}`);
}

async function runExport(runId: string, { store: file, out }: ExportFlags, io: CliIo): Promise<void> {
  const store = openExisting(file);
  try {
    const bundle = await interruptible((signal) => exportRun(store, runId, { signal }));
    if (out === undefined) {
      io.stdout.write(bundle);
      return;
    }
    await writeNew(out, bundle);
    io.stdout.write(
      `Written to ${printable(redact(quote(out)))}. Known secrets are taken out; look before you send it.\n`,
    );
  } finally {
    await store.close();
  }
}

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

const examples = `Examples:
  rerail export order-17 --store runs.db --out order-17.json
  rerail export order-17 --store runs.db | gzip > order-17.json.gz`;
