import { printable, printableJson } from '../../base/printable.ts';
import { acceptSalvaged, salvageRuns } from '../../runtime/transfer/salvage-runs.ts';
import type { SalvagedRun, SalvagedRuns } from '../../runtime/transfer/salvage-runs.ts';
import type { CommandRun } from '../specs/command-spec.ts';
import { exitCodes } from '../../errors/codes.ts';
import { interruptible } from '../start/interruption.ts';
import { openExisting, storeAt } from '../start/open-store.ts';
import { findRunByPrefix } from '../run-reading/find-run.ts';
import { argumentText } from '../run-reading/given-text.ts';
import { findOptionsOf, readRunArgument, withRunStore } from '../run-reading/open-run-store.ts';
import { shellWord } from '../run-reading/run-words.ts';
import { placeWord, shownPlace } from '../start/store-place.ts';

/** Saves what a damaged store still proves. */
export const runStoreSalvage: CommandRun = async (given, io) => {
  const [fromPlace, toPlace] = [argumentText(given, 0) ?? '', argumentText(given, 1) ?? ''];
  const isJson = given.flags['json'] === true;
  const [from, to] = [openExisting(fromPlace), storeAt(toPlace, { create: true })];
  const line = (text: string): void => void io.stdout.write(`${text}\n`);
  try {
    const salvaged = await interruptible((signal) =>
      salvageRuns(from, to, {
        signal,
        onProgress: (run) => {
          if (isJson) line(printableJson({ ...run, type: 'run', result: run.type }));
          else if (run.type !== 'whole') line(printable(runWords(run)));
        },
      }),
    );
    if (isJson) line(printableJson({ type: 'end', ...countsOf(salvaged) }));
    else for (const text of endWords(salvaged, toPlace, io.command)) line(text);
    return isWhole(salvaged) ? 0 : exitCodes.storage;
  } finally {
    await from.close();
    await to.close();
  }
};

/** Lets a salvaged run be resumed. */
export const runStoreAccept: CommandRun = (given, io) =>
  withRunStore({ flags: given.flags, io }, async ({ store, flag }) => {
    const { runId } = await findRunByPrefix(store, readRunArgument(given), findOptionsOf(io, given.flags));
    await acceptSalvaged(store, runId);
    const id = shellWord(runId);
    io.stdout.write(`Accepted. Resume it with: ${io.command} resume ${printable(id)}${flag}\n`);
    return 0;
  });

function runWords({ runId, type, damage }: SalvagedRun): string {
  const why = damage === undefined ? '' : `: ${damage.reasons.join('; ')}`;
  switch (type) {
    case 'cut':
      return `${runId}: saved events 1 to ${damage?.provenSeq ?? 0}, the rest is lost${why}`;
    case 'lost':
      return `${runId}: lost, nothing of it is proven${why}`;
    case 'there':
      return `${runId}: not copied, a run of this id is there already`;
    default:
      return `${runId}: whole`;
  }
}

function countsOf({ damaged: _damaged, ...counts }: SalvagedRuns): Omit<SalvagedRuns, 'damaged'> {
  return counts;
}

function isWhole({ cut, lost, lostSessions, there, damaged }: SalvagedRuns): boolean {
  return cut + lost + lostSessions + there === 0 && damaged.length === 0;
}

function endWords(salvaged: SalvagedRuns, toPlace: string, command: string): readonly string[] {
  const { whole, cut, lost, there, sessions, lostSessions } = salvaged;
  const runs = `${whole} runs are whole, ${cut} are cut, ${lost} are lost${there > 0 ? `, ${there} were there` : ''}`;
  const talks = `${sessions} conversations were saved, ${lostSessions} are lost`;
  return [
    `${runs}. ${talks}.`,
    'Only what is on record can be counted: a run of which no trace is left is not among them.',
    `Next: ${command} runs --store ${placeWord(toPlace)}   (written to ${printable(shownPlace(toPlace))})`,
  ];
}
