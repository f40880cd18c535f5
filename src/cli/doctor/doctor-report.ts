import type { Json } from '../../base/json.ts';
import { printable } from '../../base/printable.ts';
import { redact } from '../../base/redact.ts';
import { failureTraits } from '../../errors/codes.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { printableFailure } from '../../errors/printable-failure.ts';
import { renderFailure } from '../../errors/render-failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { StoreCheck, StoreProblem } from '../../model/store/store.ts';
import type { Check } from './doctor-check.ts';
import { layoutRows } from '../text/layout.ts';
import type { Row, Screen } from '../text/layout.ts';
import type { Style } from '../text/paint.ts';
import type { WorstCase } from './worst-case.ts';
import { wrap } from '../text/wrap.ts';

/** What `rerail doctor` has found. */
export interface Diagnosis {
  readonly rerail: string;
  readonly node: NodeFound;
  readonly sqlite: SqliteFound;
  /** Absent where none was asked for, or none can be looked at. */
  readonly store?: StoreFound;
  /** Everything else. */
  readonly checks: readonly Check[];
  /** Absent where the configuration is wrong. */
  readonly worstCase?: WorstCase;
}

export interface NotFound {
  readonly type: 'failed';
  readonly failure: Failure;
}

export type NodeFound = { readonly version: string } & ({ readonly type: 'found' } | NotFound);

export type SqliteFound =
  { readonly type: 'found'; readonly driver: string; readonly version: string } | NotFound;

/** Of a database, `file` is what may be shown of its address. */
export type StoreFound = { readonly file: string } & (
  { readonly type: 'checked'; readonly bytes?: number; readonly check: StoreCheck } | NotFound
);

/** 0 where all is well, else of the first thing that is not. */
export function exitCodeOf(diagnosis: Diagnosis): number {
  const [first] = failuresOf(diagnosis);
  return first === undefined ? 0 : failureTraits[first.code].exitCode;
}

/** As `--json` prints it. */
export function reportOf(diagnosis: Diagnosis): object {
  const { rerail, node, sqlite, store, worstCase } = diagnosis;
  const failures = failuresOf(diagnosis);
  return {
    rerail,
    node: { version: node.version },
    ...(sqlite.type === 'found' ? { sqlite: { driver: sqlite.driver, version: sqlite.version } } : {}),
    ...(store === undefined ? {} : { store: storeReport(store) }),
    checks: checksOf(diagnosis).map(({ name, status, text, advice }) => ({
      name,
      status,
      text: redact(text),
      ...(advice === undefined ? {} : { advice }),
    })),
    // What has no bound is null there, for JSON has no infinity.
    ...(worstCase === undefined ? {} : { worstCase }),
    isWell: failures.length === 0,
    exitCode: exitCodeOf(diagnosis),
    failures: failures.map((failure) => RerailError.from(failure).toJSON()),
  };
}

function storeReport(store: StoreFound): object {
  const file = redact(store.file);
  if (store.type === 'failed') return { file };
  const { runs, events, blobs } = store.check;
  return { file, ...(store.bytes === undefined ? {} : { bytes: store.bytes }), runs, events, blobs };
}

/** Everything that is not as it should be. */
function failuresOf({ node, sqlite, store, checks }: Diagnosis): readonly Failure[] {
  return [
    ...(node.type === 'failed' ? [node.failure] : []),
    ...(sqlite.type === 'failed' ? [sqlite.failure] : []),
    ...(store?.type === 'failed' ? [store.failure] : []),
    ...(store?.type === 'checked' ? store.check.problems.map(toFailure) : []),
    ...checks.flatMap(({ failure }) => (failure === undefined ? [] : [failure])),
  ];
}

function toFailure({ code, message, runId, seq }: StoreProblem): Failure {
  const context: Record<string, Json> = {
    ...(runId === undefined ? {} : { runId }),
    ...(seq === undefined ? {} : { seq }),
  };
  return createFailure(code, { origin: 'storage', message, context });
}

/** The facts that every face of the doctor begins with, and then all the rest. */
function checksOf({ rerail, node, sqlite, store, checks }: Diagnosis): readonly Check[] {
  const statusOf = (type: string): Check['status'] => (type === 'failed' ? 'failure' : 'ok');
  const isWhole = store?.type === 'checked' && store.check.problems.length === 0;
  return [
    { name: 'rerail', status: 'ok', text: rerail },
    { name: 'node', status: statusOf(node.type), text: node.version },
    {
      name: 'sqlite',
      status: statusOf(sqlite.type),
      text: sqlite.type === 'found' ? `${sqlite.version}, by ${sqlite.driver}` : 'there is none',
    },
    ...(store === undefined
      ? []
      : [{ name: 'store', status: isWhole ? 'ok' : 'failure', text: store.file } as const]),
    ...(store?.type === 'checked' ? [{ name: 'holds', status: 'ok', text: holdings(store) } as const] : []),
    ...checks,
  ];
}

const labelWidth = 10;
const statusWidth = 9;
const nameWidth = 12;

/** For someone at a terminal: a line for each thing that was looked at, then everything that is wrong with what to do about it. */
export function renderReport(diagnosis: Diagnosis, screen: Screen): string {
  const failures = failuresOf(diagnosis);
  const checks = checksOf(diagnosis);
  const problems = failures
    .map(printableFailure)
    .flatMap((failure) => [
      '',
      screen.paint('failure', failure.code),
      ...layoutRows(problemRows(failure), { ...screen, indent: 2, labelWidth }),
    ]);
  const lines = checks.flatMap((check) => checkLines(check, screen));
  return `${[...lines, ...problems, '', ending(failures.length, checks)].join('\n')}\n`;
}

function checkLines({ name, status, text, advice }: Check, { width, paint }: Screen): readonly string[] {
  const said = printable(redact(advice === undefined ? text : `${text} ${advice}`));
  return wrap(said, width - statusWidth - nameWidth).map((line, index) => {
    if (index > 0) return `${' '.repeat(statusWidth + nameWidth)}${line}`;
    const shown = paint(styles[status], status) + ' '.repeat(statusWidth - status.length);
    return `${shown}${paint('label', name)}${' '.repeat(nameWidth - name.length)}${line}`.trimEnd();
  });
}

const styles = { ok: 'label', warning: 'title', failure: 'failure' } as const satisfies Record<
  Check['status'],
  Style
>;

function ending(failures: number, checks: readonly Check[]): string {
  const warnings = checks.filter(({ status }) => status === 'warning').length;
  if (failures === 0)
    return warnings === 0 ? 'All is well.' : `All is well but for ${counted(warnings, 'warning')}.`;
  return warnings === 0
    ? `${counted(failures, 'problem')}.`
    : `${counted(failures, 'problem')}, ${counted(warnings, 'warning')}.`;
}

function holdings({ bytes, check }: Extract<StoreFound, { type: 'checked' }>): string {
  const { runs, events, blobs } = check;
  const counts = [counted(runs, 'run'), counted(events, 'event'), counted(blobs, 'blob')];
  return `${counts.join(', ')}${bytes === undefined ? '' : `; ${counted(bytes, 'byte')}`}`;
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
