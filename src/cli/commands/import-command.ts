import { defined } from '../../base/defined.ts';
import { printable } from '../../base/printable.ts';
import { redact } from '../../base/redact.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { importRun } from '../../runtime/transfer/import-run.ts';
import type { CommandRun, Given } from '../specs/command-spec.ts';
import type { CliIo } from '../start/io.ts';
import { storeAt } from '../start/open-store.ts';
import { readBundleText } from '../run-reading/bundle-text.ts';
import { argumentText } from '../run-reading/given-text.ts';
import { storeFileOf } from '../run-reading/open-run-store.ts';
import { shellWord, statusWords } from '../run-reading/run-words.ts';
import { usageError } from '../text/usage-error.ts';

/** Takes a run out of a bundle into a store. */
export const runImport: CommandRun = async (given, io) => {
  const text = await readBundleText(
    argumentText(given, 0) ?? '',
    io,
    'Give a bundle, as rerail export writes it. Type: rerail import --help',
  );
  const { file, flag } = await storeFileOf(given.flags, io);
  const store = storeAt(file, { create: true });
  try {
    const as = readName(given);
    const imported = await importRun(store, text, { ...placeOf(given, io), ...defined({ as }) });
    const { runId, from, events, status, children } = imported;
    const name = printable(redact(runId));
    const origin = from === runId ? '' : ` (there "${printable(redact(from))}")`;
    const count = events === 1 ? '1 event' : `${events} events`;
    const below = children === 0 ? '' : ` with ${children === 1 ? 'a child run' : `${children} child runs`}`;
    io.stdout.write(
      `Imported "${name}"${origin}${below}: ${count}, ${statusWords({ status }).text}. See it: ${io.command} show ${shellWord(name)}${flag}\n`,
    );
    return 0;
  } catch (error) {
    throw withOwnHint(error, io);
  } finally {
    await store.close();
  }
};

/** Where the bundle came from, and who took it in: kept with the run, and shown with its questions. */
function placeOf(given: Given, { env }: CliIo): { readonly from: string; readonly by?: string } {
  const file = argumentText(given, 0) ?? '-';
  const by = env['USER'] ?? env['USERNAME'] ?? '';
  return { from: file === '-' ? 'standard input' : file, ...(by === '' ? {} : { by }) };
}

function readName({ flags }: Given): string | undefined {
  const { as } = flags;
  if (as === undefined) return undefined;
  if (typeof as === 'string' && as.trim() !== '' && as.length <= maxNameLength) return as;
  throw usageError({
    message: `--as must be an id of 1 to ${maxNameLength} characters`,
    hint: 'Type: --as order-17-copy',
  });
}

const maxNameLength = 200;

/** What is said to a program is said to a person in terms of flags. */
function withOwnHint(error: unknown, { command }: CliIo): unknown {
  if (!RerailError.isInstance(error)) return error;
  const { code, context } = error.failure;
  if (code !== 'ALREADY_REGISTERED' && context?.['field'] !== 'as') return error;
  return RerailError.from(
    { ...error.failure, hint: `Give it another id: ${command} import … --as <name>` },
    { cause: error },
  );
}
