import { printableJson } from '../../base/printable.ts';
import { redactJson } from '../../base/redact.ts';
import type { Json } from '../../base/json.ts';
import { failureTraits } from '../../errors/codes.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { RunQuery, RunRow, Store } from '../../model/store/store.ts';
import type { CommandRun, Given } from '../specs/command-spec.ts';
import type { CliIo } from '../start/io.ts';
import { createScreen } from '../text/layout.ts';
import { shortIdsOf } from '../run-reading/find-run.ts';
import { flagTexts } from '../run-reading/given-text.ts';
import { isNoStore, readRunStore } from '../run-reading/open-run-store.ts';
import { findDamaged, readOrigins } from '../run-reading/run-origins.ts';
import type { RunOrigin } from '../run-reading/run-reading.ts';
import { asTree, layoutRuns } from '../run-reading/runs-table.ts';
import { readRunQuery } from '../run-reading/runs-query.ts';
import { shellWord, statusWords, unprovenRow, unprovenWords } from '../run-reading/run-words.ts';
import { wrap } from '../text/wrap.ts';

/** Lists runs: what they are doing or came to, in words. */
export const runRuns: CommandRun = async (given, io) => {
  try {
    return await listRuns(given, io);
  } catch (error) {
    // Without any run yet the list is empty.
    if (!isNoStore(error) || given.flags['store'] !== undefined) {
      if (given.flags['json'] === true) printFailure(error, io);
      throw error;
    }
    if (given.flags['json'] === true)
      printJson({ runs: [], next: undefined, origins: new Map(), damaged: new Set() }, io);
    else io.stdout.write(`There is no run yet. Begin one: ${io.command} run "…"\n`);
    return 0;
  }
};

function listRuns(given: Given, io: CliIo): Promise<number> {
  return readRunStore({ flags: given.flags, io }, async ({ store, flag }) => {
    const query = readRunQuery(given.flags, io.now());
    const page = await readPages(store, query, given.flags['all'] === true);
    const isChecked = given.flags['check'] === true;
    const damaged = isChecked ? await findDamaged(store, page.runs) : new Set<string>();
    const listed = { ...page, origins: await readOrigins(store, page.runs, damaged), damaged };
    if (given.flags['json'] === true) printJson(listed, io);
    else await printTable({ ...listed, store, storeFlag: flag }, given, io);
    return damaged.size === 0 ? 0 : failureTraits.STORAGE_CORRUPT.exitCode;
  });
}

/** More than anybody reads, and not all that a store can hold. */
const maxRuns = 10_000;
const pageRuns = 1000;

interface ReadPages {
  readonly runs: readonly RunRow[];
  readonly next: string | undefined;
}

interface Listed extends ReadPages {
  readonly origins: ReadonlyMap<string, RunOrigin>;
  /** Found damaged, as far as they were read. */
  readonly damaged: ReadonlySet<string>;
}

async function readPages(store: Store, query: RunQuery, isAll: boolean): Promise<ReadPages> {
  if (!isAll) {
    const { runs, next } = await store.runs.list(query);
    return { runs, next };
  }
  const runs: RunRow[] = [];
  let { cursor } = query;
  while (runs.length < maxRuns) {
    const page = await store.runs.list({
      ...query,
      limit: pageRuns,
      ...(cursor === undefined ? {} : { cursor }),
    });
    runs.push(...page.runs);
    cursor = page.next;
    if (cursor === undefined) break;
  }
  return { runs, next: cursor };
}

function printJson({ runs, next, origins, damaged }: Listed, io: CliIo): void {
  const line = (value: object): void => void io.stdout.write(`${printableJson(value)}\n`);
  for (const row of runs) {
    const isDamaged = damaged.has(row.runId);
    const run = redactJson((isDamaged ? unprovenRow(row) : row) as unknown as Json); // A row is JSON.
    const origin = origins.get(row.runId);
    const came = origin === undefined ? {} : { origin };
    line({ type: 'run', words: (isDamaged ? unprovenWords(row) : statusWords(row)).text, ...came, run });
  }
  line({ type: 'end', runs: runs.length, ...(next === undefined ? {} : { next }) });
}

/** A program that reads lines of JSON finds one, whatever happens. */
function printFailure(error: unknown, io: CliIo): void {
  if (RerailError.isInstance(error))
    io.stdout.write(`${printableJson({ type: 'failed', failure: error.failure })}\n`);
}

interface Table extends Listed {
  readonly store: Store;
  readonly storeFlag: string;
}

async function printTable(table: Table, given: Given, io: CliIo): Promise<void> {
  const { store, runs, next, storeFlag, origins, damaged } = table;
  const screen = createScreen(io);
  const write = (lines: readonly string[]): void =>
    void io.stdout.write(lines.map((line) => `${line}\n`).join(''));
  const tree = asTree(runs);
  const [first] = tree;
  if (first === undefined) {
    const isFiltered = Object.keys(given.flags).some((name) => name !== 'store' && name !== 'check');
    const says = isFiltered ? `No run in ${store.name} fits that.` : `There is no run in ${store.name} yet.`;
    write(wrap(says, screen.width));
    if (isFiltered) write([`All of them: ${io.command} runs${storeFlag}`]);
    return;
  }
  const ids = await shortIdsOf(store, runs);
  write(layoutRuns(tree, { ids, origins, damaged, screen, nowMs: io.now() }));
  const urgent = tree.find(
    ({ runId, status, owner }) =>
      damaged.has(runId) ||
      status === 'suspended' ||
      status === 'failed' ||
      (status === 'running' && owner === undefined),
  );
  const about = urgent ?? first;
  const id = shellWord(ids.get(about.runId) ?? about.runId);
  const verb = urgent === undefined ? 'show' : 'why';
  write(['', `Next: ${io.command} ${verb} ${id}${storeFlag}`]);
  if (next !== undefined)
    write([`More: ${io.command} runs${filterText(given.flags)} --page ${shellWord(next)}${storeFlag}`]);
}

/** The same filters again, for the next page. */
function filterText(flags: Given['flags']): string {
  const typed = filters.flatMap((name) =>
    flagTexts(flags, name).map((value) => ` --${name} ${shellWord(value)}`),
  );
  return [...typed, ...(flags['check'] === true ? [' --check'] : [])].join('');
}

const filters = ['status', 'code', 'tool', 'text', 'since', 'below', 'limit'] as const;
