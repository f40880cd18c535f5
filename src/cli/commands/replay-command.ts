import type { RunOutcome } from '../../agent/run-outcome.ts';
import type { Json } from '../../base/json.ts';
import { printableJson } from '../../base/printable.ts';
import { redactJson } from '../../base/redact.ts';
import { replayRun } from '../../runtime/transfer/replay-run.ts';
import type { ReplayStep } from '../../runtime/transfer/replay-run.ts';
import type { CommandRun } from '../specs/command-spec.ts';
import type { CliIo } from '../start/io.ts';
import { createScreen } from '../text/layout.ts';
import { createReplayTeller, renderEnd } from './replay-lines.ts';
import { readBundleText } from '../run-reading/bundle-text.ts';
import { findRunByPrefix } from '../run-reading/find-run.ts';
import { argumentText, flagText } from '../run-reading/given-text.ts';
import { findOptionsOf, withRunStore } from '../run-reading/open-run-store.ts';
import { quote, usageError } from '../text/usage-error.ts';

/** Shows a recorded run step by step. */
export const runReplay: CommandRun = async (given, io) => {
  const to = flagText(given.flags, 'to');
  const name = argumentText(given, 0) ?? '';
  const options = to === undefined ? {} : { to: readTo(to) };
  const show = createShow(io, given.flags['json'] === true);
  if (given.flags['store'] === undefined) {
    const hint = 'Give a bundle, or the id of a run with --store. Type: rerail replay --help';
    await showAll(replayRun({ bundle: await readBundleText(name, io, hint) }, options), show);
    return 0;
  }
  return withRunStore({ flags: given.flags, io }, async ({ store }) => {
    const { runId } = await findRunByPrefix(store, name, findOptionsOf(io, given.flags));
    await showAll(replayRun({ store, runId }, options), show);
    return 0;
  });
};

function readTo(value: string): number {
  if (/^[1-9]\d{0,11}$/.test(value)) return Number(value);
  throw usageError({
    message: `--to must be the number of an event, from 1, got ${quote(value)}`,
    hint: 'Type: --to 12',
  });
}

interface Show {
  readonly step: (step: ReplayStep) => void;
  readonly end: (last: ReplayStep | undefined) => void;
}

async function showAll(steps: AsyncIterable<ReplayStep>, show: Show): Promise<void> {
  let last: ReplayStep | undefined;
  for await (const step of steps) {
    // A bundle has no secrets that are known; a store has what the run was given.
    last = redactJson(step as unknown as Json) as unknown as ReplayStep; // JSON; the shape stays.
    show.step(last);
  }
  show.end(last);
}

function createShow(io: CliIo, isJson: boolean): Show {
  if (isJson) {
    const line = (value: object): void => void io.stdout.write(`${printableJson(value)}\n`);
    return {
      step: (step) => line({ type: 'step', step }),
      end: (last) => line({ type: 'end', ...endOf(last) }),
    };
  }
  const screen = createScreen(io);
  const tell = createReplayTeller(screen);
  return {
    step: (step) => void io.stdout.write(tell(step)),
    end: (last) => void io.stdout.write(renderEnd(last, screen)),
  };
}

interface End {
  /** Events that were replayed. */
  readonly events: number;
  readonly phase?: string;
  readonly outcome?: RunOutcome;
}

function endOf(last: ReplayStep | undefined): End {
  if (last === undefined) return { events: 0 };
  const { seq, phase, outcome } = last;
  return { events: seq, phase, ...(outcome === undefined ? {} : { outcome }) };
}
