import { printable, printableJson } from '../../base/printable.ts';
import { redact } from '../../base/redact.ts';
import { systemClock } from '../../base/system.ts';
import type { Clock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { configError } from '../../errors/config-error.ts';
import type { CommandRun, Given } from '../specs/command-spec.ts';
import { failureOf } from '../doctor/doctor-check.ts';
import { checkConfig } from '../doctor/doctor-config.ts';
import { checkClock, checkSandbox, checkTerminal, readMoment } from '../doctor/doctor-machine.ts';
import {
  addressesOf,
  checkKeys,
  checkLocal,
  findKeys,
  findLocalServers,
  reachProviders,
} from '../doctor/doctor-providers.ts';
import type { KeyFound } from '../doctor/doctor-providers.ts';
import { exitCodeOf, renderReport, reportOf } from '../doctor/doctor-report.ts';
import type { Diagnosis, NodeFound, SqliteFound, StoreFound } from '../doctor/doctor-report.ts';
import { interruptible } from '../start/interruption.ts';
import type { CliIo } from '../start/io.ts';
import { createScreen } from '../text/layout.ts';
import { quote } from '../text/quote.ts';
import { readStoreFlag } from '../run-reading/open-run-store.ts';
import { settingFlagsOf } from '../specs/shared-options.ts';
import { isAddress, shownPlace } from '../start/store-place.ts';

/** `rerail doctor`. */
export const runDoctor: CommandRun = async ({ flags }, io) => {
  const file = readStoreFlag(flags);
  const diagnosis = await interruptible(async (signal) => {
    const sqlite = await findSqlite();
    const store =
      file !== undefined && (sqlite.type === 'found' || isAddress(file))
        ? await findStore(file, io, signal)
        : undefined;
    const checks = await lookAround(flags, io, signal);
    const found = { rerail: io.version, node: findNode(process.versions.node), sqlite, ...checks };
    return store === undefined ? found : { ...found, store };
  });
  const isJson = flags['json'] === true;
  const screen = createScreen(io);
  io.stdout.write(isJson ? `${printableJson(reportOf(diagnosis))}\n` : renderReport(diagnosis, screen));
  return exitCodeOf(diagnosis);
};

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

async function findSqlite(): Promise<SqliteFound> {
  const { loadDriver } = await import('../../storage/sqlite/driver.ts');
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
    return { type: 'failed', failure: failureOf(error) };
  }
}

async function findStore(place: string, io: CliIo, signal: AbortSignal): Promise<StoreFound> {
  const { bytesOf, openExisting } = await import('../start/open-store.ts');
  const file = shownPlace(place);
  const stopNotes = noteProgress(file, io);
  try {
    const store = openExisting(place);
    try {
      const check = await store.check({ signal });
      return { type: 'checked', file, ...defined({ bytes: bytesOf(place) }), check };
    } finally {
      await store.close();
    }
  } catch (error) {
    return { type: 'failed', failure: failureOf(error), file };
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

/** Everything but Node and stores. What does not depend on each other is looked at together. */
async function lookAround(
  flags: Given['flags'],
  io: CliIo,
  signal: AbortSignal,
): Promise<Pick<Diagnosis, 'checks' | 'worstCase'>> {
  const clock: Clock = { ...systemClock, wallMs: io.now };
  const from = readMoment(clock);
  const keys = findKeys(io.env);
  const local = await findLocalServers();
  signal.throwIfAborted();
  const reported = new Set(keys.flatMap(({ failure }) => (failure === undefined ? [] : [failure.message])));
  const config = await checkConfig({ flags: settingFlagsOf({ flags }), io, local, reported });
  signal.throwIfAborted();
  const { settings, worstCase } = config;
  const addresses = addressesOf(settings?.models ?? []);
  // After the settings: they say where a key goes.
  const online =
    flags['online'] === true
      ? await reachProviders(keys, { env: io.env, clock, signal, addresses })
      : notAsked(keys, io);
  signal.throwIfAborted();
  const folder = settings?.workspace ?? io.folder;
  const sandbox = await checkSandbox({ folder, choice: settings?.sandbox ?? {}, clock, signal });
  const checks = [
    checkClock(from, readMoment(clock), online.times),
    checkTerminal(io),
    sandbox,
    ...checkKeys(keys),
    ...online.checks,
    checkLocal(local),
    ...config.checks,
  ];
  return worstCase === undefined ? { checks } : { checks, worstCase };
}

/** By default nothing is sent anywhere. */
function notAsked(keys: readonly KeyFound[], { command }: CliIo): Awaited<ReturnType<typeof reachProviders>> {
  if (keys.every(({ failure }) => failure !== undefined)) return { checks: [], times: [] };
  const text = `Not asked. Type: ${command} doctor --online`;
  return { checks: [{ name: 'provider', status: 'ok', text }], times: [] };
}
