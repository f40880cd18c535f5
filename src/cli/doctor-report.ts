import type { Json } from '../base/json.ts';
import { printable } from '../base/printable.ts';
import { redact } from '../base/redact.ts';
import { failureTraits } from '../errors/codes.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { printableFailure } from '../errors/printable-failure.ts';
import { renderFailure } from '../errors/render-failure.ts';
import { RerailError } from '../errors/rerail-error.ts';
import type { StoreCheck, StoreProblem } from '../model/store.ts';
import { layoutRows } from './layout.ts';
import type { Row, Screen } from './layout.ts';

/** What `rerail doctor` has found. */
export interface Diagnosis {
  readonly rerail: string;
  readonly node: NodeFound;
  readonly sqlite: SqliteFound;
  /** Absent where none was asked for, or none can be looked at. */
  readonly store?: StoreFound;
}

export interface NotFound {
  readonly type: 'failed';
  readonly failure: Failure;
}

export type NodeFound = { readonly version: string } & ({ readonly type: 'found' } | NotFound);

export type SqliteFound =
  { readonly type: 'found'; readonly driver: string; readonly version: string } | NotFound;

export type StoreFound = { readonly file: string } & (
  { readonly type: 'checked'; readonly bytes: number; readonly check: StoreCheck } | NotFound
);

/** 0 where all is well, else of the first thing that is not. */
export function exitCodeOf(diagnosis: Diagnosis): number {
  const [first] = failuresOf(diagnosis);
  return first === undefined ? 0 : failureTraits[first.code].exitCode;
}

/** As `--json` prints it. */
export function reportOf(diagnosis: Diagnosis): object {
  const { rerail, node, sqlite, store } = diagnosis;
  const failures = failuresOf(diagnosis);
  return {
    rerail,
    node: { version: node.version },
    ...(sqlite.type === 'found' ? { sqlite: { driver: sqlite.driver, version: sqlite.version } } : {}),
    ...(store === undefined ? {} : { store: storeReport(store) }),
    isWell: failures.length === 0,
    exitCode: exitCodeOf(diagnosis),
    failures: failures.map((failure) => RerailError.from(failure).toJSON()),
  };
}

function storeReport(store: StoreFound): object {
  const file = redact(store.file);
  if (store.type === 'failed') return { file };
  const { runs, events, blobs } = store.check;
  return { file, bytes: store.bytes, runs, events, blobs };
}

/** Everything that is not as it should be. */
function failuresOf({ node, sqlite, store }: Diagnosis): readonly Failure[] {
  return [
    ...(node.type === 'failed' ? [node.failure] : []),
    ...(sqlite.type === 'failed' ? [sqlite.failure] : []),
    ...(store?.type === 'failed' ? [store.failure] : []),
    ...(store?.type === 'checked' ? store.check.problems.map(toFailure) : []),
  ];
}

function toFailure({ code, message, runId, seq }: StoreProblem): Failure {
  const context: Record<string, Json> = {
    ...(runId === undefined ? {} : { runId }),
    ...(seq === undefined ? {} : { seq }),
  };
  return createFailure(code, { origin: 'storage', message, context });
}

const labelWidth = 10;

/** For someone at a terminal: the facts, then everything that is wrong with what to do about it. */
export function renderReport(diagnosis: Diagnosis, screen: Screen): string {
  const failures = failuresOf(diagnosis);
  const layout = (rows: readonly Row[], indent = 0): readonly string[] =>
    layoutRows(rows, { ...screen, indent, labelWidth });
  const problems = failures
    .map(printableFailure)
    .flatMap((failure) => ['', screen.paint('failure', failure.code), ...layout(problemRows(failure), 2)]);
  const end = failures.length === 0 ? 'All is well.' : `${counted(failures.length, 'problem')}.`;
  return `${[...layout(factRows(diagnosis)), ...problems, '', end].join('\n')}\n`;
}

function factRows({ rerail, node, sqlite, store }: Diagnosis): readonly Row[] {
  return [
    { label: 'rerail', text: rerail },
    { label: 'node', text: node.version },
    {
      label: 'sqlite',
      text: sqlite.type === 'found' ? `${sqlite.version}, by ${sqlite.driver}` : 'there is none',
    },
    ...(store === undefined ? [] : [{ label: 'store', text: printable(redact(store.file)) }]),
    ...(store?.type === 'checked' ? [{ label: 'holds', text: holdings(store) }] : []),
  ];
}

function holdings({ bytes, check }: Extract<StoreFound, { type: 'checked' }>): string {
  const { runs, events, blobs } = check;
  const counts = [counted(runs, 'run'), counted(events, 'event'), counted(blobs, 'blob')];
  return `${counts.join(', ')}; ${counted(bytes, 'byte')}`;
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

function problemRows(failure: Failure): readonly Row[] {
  const { runId, seq } = failure.context;
  return [
    ...(typeof runId === 'string' ? [{ label: 'run', text: runId }] : []),
    ...(typeof seq === 'number' ? [{ label: 'event', text: String(seq) }] : []),
    { label: 'found', text: failure.message },
    { label: 'do', text: renderFailure(failure, 'person', { retrying: false }) },
  ];
}
