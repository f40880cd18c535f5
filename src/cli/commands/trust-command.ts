import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { visible } from '../../base/printable.ts';
import { exitCodes } from '../../errors/codes.ts';
import { readProperty } from '../../errors/classify/safe-read.ts';
import type { CommandRun, Given } from '../specs/command-spec.ts';
import { problemsError } from '../config/config-problem.ts';
import { findStateFolders } from '../config/state-folders.ts';
import { addTrust, isTrusted, readTrustList, removeTrust } from '../config/trust-list.ts';
import type { TrustList } from '../config/trust-list.ts';
import { readTrustable } from '../config/trustable-files.ts';
import type { TrustableFile } from '../config/trustable-files.ts';
import { canConfirm, confirm } from '../start/confirm.ts';
import type { CliIo } from '../start/io.ts';
import { createScreen } from '../text/layout.ts';
import { shellWord } from '../run-reading/run-words.ts';
import { quote, usageError } from '../text/usage-error.ts';

/** Shows what would be trusted, asks, and keeps the answer. */
export const runTrust: CommandRun = async (given, io) => {
  const folder = await openFolder(given, io);
  const folders = await findStateFolders(io, folder);
  for (const notice of folders.notices) io.stderr.write(`${notice}\n`);
  const list = await readTrustList(folders);
  if (given.flags['remove'] === true) return remove(list, folder, io);
  const { files, problems } = await readTrustable(folder);
  if (problems.length > 0) throw problemsError(problems, 'Nothing was trusted.');
  if (files.length === 0) {
    io.stdout.write(
      `There is nothing to trust in ${visible(folder)}: no rerail.config.*, no .env, no .rerail/commands.\n`,
    );
    return 0;
  }
  const fresh = files.filter((file) => !isTrusted(list, file));
  if (fresh.length === 0) {
    io.stdout.write(`Trusted already, and unchanged: ${namesOf(files, folder)}.\n`);
    return 0;
  }
  io.stdout.write(render(fresh, folder, io));
  if (!(await isAgreed(given, io))) {
    io.stdout.write('Nothing was trusted.\n');
    return exitCodes.denied;
  }
  await addTrust(
    list,
    files.map((file) => ({ path: file.path, sha256: file.sha256, atMs: io.now() })),
  );
  io.stdout.write(`Trusted, as long as the content stays exactly this: ${namesOf(files, folder)}.\n`);
  return 0;
};

async function openFolder({ args }: Given, io: CliIo): Promise<string> {
  const [named] = args;
  const folder = path.resolve(io.folder, typeof named === 'string' ? named : '.');
  try {
    return await realpath(folder);
  } catch (error) {
    if (typeof readProperty(error, 'code') !== 'string') throw error;
    throw usageError({
      message: `There is no folder ${quote(folder)}`,
      hint: `Type: ${io.command} trust <folder>`,
    });
  }
}

async function remove(list: TrustList, folder: string, io: CliIo): Promise<number> {
  const removed = await removeTrust(list, folder);
  const shown = removed.map((file) => visible(path.relative(folder, file.path)));
  io.stdout.write(
    removed.length === 0
      ? `Nothing in ${visible(folder)} was trusted.\n`
      : `No longer trusted: ${shown.join(', ')}.\n`,
  );
  return 0;
}

function namesOf(files: readonly TrustableFile[], folder: string): string {
  return files.map((file) => visible(path.relative(folder, file.path))).join(', ');
}

const maxShownRows = 40;

function render(files: readonly TrustableFile[], folder: string, io: CliIo): string {
  const { width, paint } = createScreen(io);
  const blocks = files.flatMap((file) => {
    const name = visible(path.relative(folder, file.path));
    const head = `${paint('title', name)}  ${file.size} bytes, sha256 ${file.sha256}`;
    return [head, ...rowsOf(file.lines, width - 2), ''];
  });
  return [`Found in ${visible(folder)}, and not used so far:`, '', ...blocks, warning, ''].join('\n');
}

/** Every character of the first lines: text far to the right may be hidden on purpose. */
function rowsOf(lines: readonly string[], width: number): readonly string[] {
  const rows: string[] = [];
  for (const [index, line] of lines.entries()) {
    const text = visible(line.slice(0, maxShownRows * width));
    const pieces = text === '' ? [''] : (text.match(new RegExp(`.{1,${width}}`, 'gsu')) ?? []);
    const isRoom = rows.length + pieces.length <= maxShownRows && line.length <= maxShownRows * width;
    if (!isRoom) {
      rows.push(...pieces.slice(0, maxShownRows - rows.length).map((piece) => `  ${piece}`));
      return [...rows, `  … and more, from line ${index + 1} on: read the file itself before you trust it`];
    }
    rows.push(...pieces.map((piece) => `  ${piece}`.trimEnd()));
  }
  return rows;
}

const warning =
  'A configuration can run code with your rights, choose who is sent your files, and lift rules.';

/** A plain yes, on a terminal or by `--yes`; everything else is a denial. */
async function isAgreed({ flags, args }: Given, io: CliIo): Promise<boolean> {
  if (flags['yes'] === true) return true;
  if (!canConfirm(io)) {
    const [named] = args;
    const folder = typeof named === 'string' ? ` ${shellWord(named)}` : '';
    io.stdout.write(
      `Not interactive, so no person can confirm. To trust it, type: ${io.command} trust${folder} --yes\n`,
    );
    return false;
  }
  return confirm(io, 'Trust exactly this content?');
}
