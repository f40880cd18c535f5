import { printableJson } from '../../base/printable.ts';
import type { CommandRun, Given } from '../specs/command-spec.ts';
import { createScreen } from '../text/layout.ts';
import { findRunByPrefix } from '../run-reading/find-run.ts';
import { findOptionsOf, readRunArgument, readRunStore } from '../run-reading/open-run-store.ts';
import { flagText } from '../run-reading/given-text.ts';
import { readingJson } from '../run-reading/reading-json.ts';
import { exitCodeOfReading, readRun } from '../run-reading/read-run.ts';
import type { RunReading } from '../run-reading/run-reading.ts';
import { layoutTimeline } from '../run-reading/timeline.ts';
import { quote, usageError } from '../text/usage-error.ts';

/** Shows what happened in a run. */
export const runShow: CommandRun = (given, io) =>
  readRunStore({ flags: given.flags, io }, async ({ store, flag }) => {
    const turn = readTurn(given);
    const { runId } = await findRunByPrefix(store, readRunArgument(given), findOptionsOf(io, given.flags));
    const reading = onlyTurn(await readRun(store, runId), turn);
    if (given.flags['json'] === true) {
      io.stdout.write(`${printableJson(readingJson(reading))}\n`);
      return exitCodeOfReading(reading);
    }
    const lines = layoutTimeline(reading, {
      screen: createScreen(io),
      withEvents: given.flags['events'] === true,
      turn,
      typing: { command: io.command, storeFlag: flag, nowMs: io.now() },
    });
    io.stdout.write(lines.map((line) => `${line}\n`).join(''));
    return exitCodeOfReading(reading);
  });

function readTurn({ flags }: Given): number | undefined {
  const typed = flagText(flags, 'turn');
  if (typed === undefined) return undefined;
  if (/^[1-9]\d{0,5}$/.test(typed)) return Number(typed);
  throw usageError({
    message: `--turn must be the number of a turn, from 1, got ${quote(typed)}`,
    hint: 'Type: --turn 2',
  });
}

function onlyTurn(reading: RunReading, turn: number | undefined): RunReading {
  if (turn === undefined) return reading;
  const items = reading.items.filter((item) => item.turn === turn);
  if (items.length > 0) return { ...reading, items };
  throw usageError({
    message: `The run "${reading.row.runId}" has no turn ${turn}: there are ${reading.turns}`,
    hint: reading.turns === 0 ? 'Leave --turn out' : `Type: --turn ${reading.turns}`,
  });
}
