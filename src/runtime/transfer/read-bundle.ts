import { canonicalJson } from '../../base/canonical-json.ts';
import { defined } from '../../base/defined.ts';
import { hashText } from '../../base/hash.ts';
import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { configError } from '../../errors/config-error.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { chainStart, hashEvent } from '../../model/store/event-chain.ts';
import { nestsTooDeeply } from '../../model/check/json-depth.ts';
import { isBelow } from '../../model/store/run-tree.ts';
import { showValue } from '../../model/check/show-value.ts';
import type { NewSignal, StoredEvent, StoredStatus } from '../../model/store/store.ts';
import { badBundle, bundleFormat, bundleVersion, checksumOf, maxBundleCharacters } from './run-bundle.ts';
import type { BundledBlob, BundledRun, RunBundle, RunPart } from './run-bundle.ts';
import { chunkHashesIn, readChunk } from '../record/run-blobs.ts';
import { foldRun } from '../record/stored-run.ts';
import { generationsOf } from '../record/run-generations.ts';

// A bundle is a file from somewhere: everything in it is looked at before anything is done with it.

/** Reads a bundle and checks all of it. Throws `STORAGE_NEWER_SCHEMA` or `STORAGE_CORRUPT`. */
export function readBundle(text: string): RunBundle {
  const content = parse(text);
  if (content['format'] !== bundleFormat) throw badBundle('it is not a run of this program');
  const { version } = content;
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
    throw badBundle('its version is not a number from 1');
  if (version > bundleVersion) throw newerBundle(version);
  const { checksum } = content;
  if (typeof checksum !== 'string' || checksum !== checksumOf(content))
    throw badBundle('its checksum does not fit what it holds');
  const own = readPart(content);
  const whole = { format: bundleFormat, version, checksum, ...own } as const;
  if (!('children' in content)) return whole;
  return { ...whole, children: listIn(content, 'children').map((part) => readChild(part, own.run)) };
}

function readPart(content: Readonly<Record<string, unknown>>): RunPart {
  const run = readBundledRun(content['run']);
  const events = readEvents(content['events'], run.runId);
  const blobs = listIn(content, 'blobs').map(readBlob);
  const signals = listIn(content, 'signals').map(readSignal);
  checkGenerations(run.runId, events, blobs);
  return { run, events, signals, blobs };
}

function readChild(part: unknown, above: BundledRun): RunPart {
  if (!isRecord(part)) throw badBundle('a child run cannot be read');
  const child = readPart(part);
  if (isBelow(child.run, above.runId)) return child;
  throw badBundle(`the run ${showValue(child.run.runId)} is not a child of ${showValue(above.runId)}`);
}

function parse(text: unknown): Readonly<Record<string, unknown>> {
  if (typeof text !== 'string') throw configError(`A bundle is a text, got ${showValue(text)}`);
  if (text.length > maxBundleCharacters)
    throw badBundle(`it has ${text.length} characters, at most ${maxBundleCharacters} are read`);
  if (nestsTooDeeply(text)) throw badBundle('its values are nested too deeply');
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw badBundle(`it is not JSON (${error instanceof Error ? error.message : 'unreadable'})`);
  }
  if (!isRecord(content)) throw badBundle('it is not an object');
  return content;
}

function newerBundle(version: number): RerailError {
  return RerailError.from(
    createFailure('STORAGE_NEWER_SCHEMA', {
      origin: 'storage',
      message: `The bundle is of version ${version}, this program reads up to ${bundleVersion}`,
      hint: 'Update this program, then import the bundle again. Nothing was changed.',
      context: { version, known: bundleVersion },
    }),
  );
}

const statuses: readonly StoredStatus[] = [
  'running',
  'suspended',
  'completed',
  'stopped',
  'cancelled',
  'failed',
  'parked',
];

/** What is listed of the run, field by field: nothing else is taken over. */
export function readBundledRun(run: unknown): BundledRun {
  if (!isRecord(run)) throw badBundle('it does not say which run it holds');
  const status = statusIn(run['status']);
  if (status === undefined) throw badBundle(`there is no status ${showValue(run['status'])}`);
  const tools = listIn(run, 'tools').map((name) => textOf(name, 'tools'));
  return defined({
    runId: readRunId(run['runId']),
    agent: textOf(run['agent'], 'agent'),
    status,
    createdAtMs: numberOf(run['createdAtMs'], 'createdAtMs'),
    updatedAtMs: numberOf(run['updatedAtMs'], 'updatedAtMs'),
    crashes: numberOf(run['crashes'], 'crashes'),
    text: textOf(run['text'], 'text'),
    tools,
    turns: numberOf(run['turns'], 'turns'),
    sessionId: maybe(run['sessionId'], (value) => textOf(value, 'sessionId')),
    code: maybe(run['code'], (value) => textOf(value, 'code')),
    reason: maybe(run['reason'], (value) => textOf(value, 'reason')),
    resumeAtMs: maybe(run['resumeAtMs'], (value) => numberOf(value, 'resumeAtMs')),
    costUsd: maybe(run['costUsd'], (value) => numberOf(value, 'costUsd')),
  });
}

/** A status that runs are listed with, or nothing where it is none. */
export function statusIn(value: unknown): StoredStatus | undefined {
  return statuses.find((known) => known === value);
}

const maxRunIdCharacters = 1000;

function readRunId(value: unknown): string {
  const runId = textOf(value, 'runId');
  if (runId === '' || runId.length > maxRunIdCharacters)
    throw badBundle(`"runId" must have 1 to ${maxRunIdCharacters} characters`);
  return runId;
}

function maybe<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined ? undefined : read(value);
}

function textOf(value: unknown, name: string): string {
  if (typeof value !== 'string') throw badBundle(`"${name}" must be a text, got ${showValue(value)}`);
  return value;
}

function numberOf(value: unknown, name: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw badBundle(`"${name}" must be a number, got ${showValue(value)}`);
  return value;
}

function listIn(record: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  const list = record[name];
  if (!Array.isArray(list)) throw badBundle(`"${name}" must be a list, got ${showValue(list)}`);
  return list;
}

/** A type is a word: whatever a later program may add, it is no text. */
const typeShape = /^[a-z][a-z-]{0,63}$/;

function readEvents(given: unknown, runId: string): readonly StoredEvent[] {
  if (!Array.isArray(given) || given.length === 0) throw badBundle('it holds no events');
  let previous = chainStart;
  return given.map((event: unknown, index): StoredEvent => {
    const seq = index + 1;
    if (!isRecord(event) || event['seq'] !== seq) throw badBundle(`event ${seq} is missing`, { runId, seq });
    const { type, atMs, hash } = event;
    if (typeof type !== 'string' || !typeShape.test(type) || typeof atMs !== 'number' || !('body' in event))
      throw badBundle(`event ${seq} cannot be read`, { runId, seq });
    const body = event['body'] as Json; // Parsed from JSON.
    previous = hashEvent(previous, { runId, seq, atMs, type, bodyText: canonicalJson(body) });
    if (hash !== previous) throw badBundle(`event ${seq} is not what was written`, { runId, seq });
    return { seq, atMs, type, body, hash: previous };
  });
}

function readBlob(blob: unknown, index: number): BundledBlob {
  const content = isRecord(blob) ? blob['content'] : undefined;
  const hash = isRecord(blob) ? blob['hash'] : undefined;
  if (typeof content !== 'string' || typeof hash !== 'string' || hash !== hashText(content))
    throw badBundle(`blob ${index + 1} is not what was written`);
  return { hash, content };
}

function readSignal(signal: unknown, index: number): NewSignal {
  if (!isRecord(signal) || !('payload' in signal)) throw badBundle(`signal ${index + 1} cannot be read`);
  return {
    id: textOf(signal['id'], 'id'),
    name: textOf(signal['name'], 'name'),
    payload: signal['payload'] as Json, // Parsed from JSON.
  };
}

/** To continue or replay it, every generation must be complete. */
function checkGenerations(
  runId: string,
  events: readonly StoredEvent[],
  blobs: readonly BundledBlob[],
): void {
  if (events[0]?.type !== 'began') throw badBundle('its first event does not say how the run started');
  const contents = new Map(blobs.map(({ hash, content }) => [hash, content]));
  for (const generation of generationsOf(events)) foldRun(runId, generation, []);
  for (const event of events) {
    for (const hash of chunkHashesIn(event)) {
      const content = contents.get(hash);
      if (content === undefined) throw badBundle(`the blob ${hash} is missing`, { runId, seq: event.seq });
      if (readChunk(content) === undefined) throw badBundle(`the blob ${hash} holds no messages`);
    }
  }
}
