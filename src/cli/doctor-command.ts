import type { Command } from 'commander';
import { printable, printableJson } from '../base/printable.ts';
import { redact } from '../base/redact.ts';
import { configError } from '../errors/config-error.ts';
import { RerailError } from '../errors/rerail-error.ts';
import { loadDriver } from '../storage/sqlite/driver.ts';
import { exitCodeOf, renderReport, reportOf } from './doctor-report.ts';
import type { Diagnosis, NodeFound, NotFound, SqliteFound, StoreFound } from './doctor-report.ts';
import { interruptible } from './interruption.ts';
import type { CliIo, CommandContext } from './io.ts';
import { createScreen } from './layout.ts';
import { bytesOf, openExisting, storeOption } from './open-store.ts';
import { quote } from './usage-error.ts';

interface DoctorFlags {
  readonly store?: string;
  readonly json?: true;
}

/** Adds `rerail doctor`. */
export function addDoctorCommand(program: Command, { io, onExitCode }: CommandContext): void {
  program
    .command('doctor')
    .description('Say whether this machine can keep runs, and whether a store is whole')
    .addOption(storeOption('A store to look at, event by event; one that is not there is not made'))
    .option('--json', 'Print one JSON object and nothing else')
    .action(async (flags: DoctorFlags) => onExitCode(await runDoctor(flags, io)))
    .addHelpText('after', `\n${examples}`);
}

async function runDoctor({ store: file, json }: DoctorFlags, io: CliIo): Promise<number> {
  const sqlite = findSqlite();
  const canLook = file !== undefined && sqlite.type === 'found';
  const diagnosis: Diagnosis = {
    rerail: io.version,
    node: findNode(process.versions.node),
    sqlite,
    ...(canLook ? { store: await interruptible((signal) => findStore(file, io, signal)) } : {}),
  };
  const report =
    json === true ? `${printableJson(reportOf(diagnosis))}\n` : renderReport(diagnosis, createScreen(io));
  io.stdout.write(report);
  return exitCodeOf(diagnosis);
}

const leastNode = { major: 20, minor: 19 } as const;

/** What is to be said of a version of Node. */
export function findNode(version: string): NodeFound {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > leastNode.major || (major === leastNode.major && minor >= leastNode.minor);
  if (isEnough) return { type: 'found', version };
  const least = `${leastNode.major}.${leastNode.minor}`;
  const error = configError(`Node ${version} is too old: ${least} or later is needed`, {
    hint: `Install Node ${least} or later.`,
  });
  return { type: 'failed', version, failure: error.failure };
}

function findSqlite(): SqliteFound {
  try {
    const database = loadDriver()(':memory:');
    try {
      const row = database.prepare('SELECT sqlite_version() AS version').get();
      const { version } = row as { readonly version: string }; // As it was asked for.
      const isOwn = process.getBuiltinModule('node:sqlite') !== undefined;
      return { type: 'found', driver: isOwn ? 'node:sqlite' : '@photostructure/sqlite', version };
    } finally {
      database.close();
    }
  } catch (error) {
    return notFound(error);
  }
}

/** A failure is what somebody wants to know here. An interruption and a defect are none. */
function notFound(error: unknown): NotFound {
  if (!RerailError.isInstance(error) || error.code === 'CANCELLED') throw error;
  return { type: 'failed', failure: error.failure };
}

async function findStore(file: string, io: CliIo, signal: AbortSignal): Promise<StoreFound> {
  const stopNotes = noteProgress(file, io);
  try {
    const store = openExisting(file);
    try {
      return { type: 'checked', file, bytes: bytesOf(file), check: await store.check({ signal }) };
    } finally {
      await store.close();
    }
  } catch (error) {
    return { ...notFound(error), file };
  } finally {
    stopNotes();
  }
}

const noteEveryMs = 1000;
const emptyLine = '\r\u001b[K';

/** Only a person wonders. How far it has come the store does not say, but that it is at work can be said. */
function noteProgress(file: string, io: CliIo): () => void {
  if (!io.isTerminal.stderr) return () => undefined;
  const name = printable(redact(quote(file)));
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += noteEveryMs / 1000;
    io.stderr.write(`${emptyLine}rerail: Looking at every event of ${name}: ${seconds} s. Ctrl-C ends it.`);
  }, noteEveryMs);
  return () => {
    clearInterval(timer);
    if (seconds > 0) io.stderr.write(emptyLine);
  };
}

const examples = `Ends with 0 where all is well, else with the exit code of what is wrong: 2 where
something must be installed, 30 where a store is not whole or not there.

Examples:
  rerail doctor
  rerail doctor --store runs.db
  rerail doctor --store runs.db --json`;
