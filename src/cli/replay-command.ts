import type { Command } from 'commander';
import type { RunOutcome } from '../agent/run-outcome.ts';
import type { Json } from '../base/json.ts';
import { printableJson } from '../base/printable.ts';
import { redactJson } from '../base/redact.ts';
import { replayRun } from '../runtime/replay-run.ts';
import type { ReplaySource, ReplayStep } from '../runtime/replay-run.ts';
import type { CliIo, CommandContext } from './io.ts';
import { createScreen } from './layout.ts';
import { openExisting, storeOption } from './open-store.ts';
import { readInput } from './read-input.ts';
import { createReplayTeller, renderEnd } from './replay-lines.ts';
import { quote, usageError } from './usage-error.ts';

interface ReplayFlags {
  readonly store?: string;
  readonly to?: string;
  readonly json?: true;
}

/** Adds `rerail replay`. */
export function addReplayCommand(program: Command, { io }: CommandContext): void {
  program
    .command('replay')
    .description('Show a recorded run step by step, without model, tools or network')
    .argument(
      '<file>',
      'A bundle, as `rerail export` writes it; "-" is standard input. With --store, the id of a run',
    )
    .addOption(storeOption('The store that holds the run'))
    .option('--to <number>', 'The last event to show; all by default')
    .option('--json', 'Print JSON lines and nothing else')
    .action((name: string, flags: ReplayFlags) => runReplay({ name, flags }, io))
    .addHelpText('after', `\n${examples}`);
}

interface ReplayRequest {
  /** The positional argument. */
  readonly name: string;
  readonly flags: ReplayFlags;
}

async function runReplay({ name, flags }: ReplayRequest, io: CliIo): Promise<void> {
  const options = flags.to === undefined ? {} : { to: readTo(flags.to) };
  const show = createShow(io, flags.json === true);
  if (flags.store === undefined) {
    await showAll(replayRun({ bundle: await readBundleText(name, io) }, options), show);
    return;
  }
  const store = openExisting(flags.store);
  try {
    const source: ReplaySource = { store, runId: name };
    await showAll(replayRun(source, options), show);
  } finally {
    await store.close();
  }
}

function readTo(value: string): number {
  if (/^[1-9]\d{0,11}$/.test(value)) return Number(value);
  throw usageError({
    message: `--to must be the number of an event, from 1, got ${quote(value)}`,
    hint: 'Type: --to 12',
  });
}

/** Whatever may be in the longest bundle that is read, as bytes. */
const maxBundleBytes = 300_000_000;

async function readBundleText(name: string, io: CliIo): Promise<string> {
  const source = name === '-' ? ({ type: 'stdin' } as const) : ({ type: 'file', path: name } as const);
  return readInput(source, io, {
    maxBytes: maxBundleBytes,
    hint: 'Give a bundle, or the id of a run with --store. Type: rerail replay --help',
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

const examples = `Nothing is done again and nothing is written. It ends with 0 however the run itself
ended, with 30 where the record is damaged, and where this version of rerail would
have done something else than the record says, it says where.

Examples:
  rerail replay order-17.json
  rerail replay order-17.json --to 12
  rerail replay order-17 --store runs.db --json`;
