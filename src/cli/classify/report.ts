import { printableJson } from '../../base/printable.ts';
import { docsOf, failureTraits } from '../../errors/codes.ts';
import type { Severity } from '../../errors/codes.ts';
import type { FailureDocument } from '../../errors/failure-document.ts';
import { severityOf } from '../../errors/failure.ts';
import type { Failure, ProviderFacts } from '../../errors/failure.ts';
import { printableFailure } from '../../errors/printable-failure.ts';
import { renderFailure, renderWait } from '../../errors/render-failure.ts';
import type { Audience } from '../../errors/render-failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { layoutRows } from '../text/layout.ts';
import type { Row, Screen } from '../text/layout.ts';

/** What `--json` prints. */
export interface ClassifyReport {
  readonly failure: FailureDocument;
  readonly severity: Severity;
  readonly httpStatus: number;
  readonly exitCode: number;
  readonly messages: Readonly<Record<Audience, string>>;
}

/** One JSON object on one line. */
export function reportJson(failure: Failure): string {
  const { httpStatus, exitCode } = failureTraits[failure.code];
  const report: ClassifyReport = {
    failure: RerailError.from(failure).toJSON(),
    severity: severityOf(failure),
    httpStatus,
    exitCode,
    messages: messagesOf(failure),
  };
  return `${printableJson(report)}\n`;
}

const labelWidth = 11;

/** A failure for someone who reads it at a terminal: the code, the facts, the three messages. */
export function reportText(given: Failure, screen: Screen): string {
  const failure = printableFailure(given);
  const layout = (rows: readonly Row[]): readonly string[] =>
    layoutRows(rows, { ...screen, indent: 0, labelWidth });
  const messages = messagesOf(failure);
  const lines = [
    screen.paint('failure', failure.code),
    '',
    ...layout(factRows(failure)),
    '',
    ...layout([
      { label: 'person', text: messages.person },
      { label: 'model', text: messages.model },
      { label: 'developer', text: messages.developer },
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** What the other side asked for, as a person says it and to the millisecond. */
function waitText({ retryAfterMs, context }: Failure): string | undefined {
  const [from, ignored] = [context['retryAfterFrom'], context['retryAfterIgnored']];
  if (retryAfterMs !== undefined) {
    const source = typeof from === 'string' ? `, read from ${from}` : '';
    return `${renderWait(retryAfterMs)} (${retryAfterMs} ms)${source}`;
  }
  return typeof ignored === 'string' ? `ignored (implausible value): ${ignored}` : undefined;
}

/** This command retries nothing, so the text says what a person can do, not what Rerail will do. */
function messagesOf(failure: Failure): Readonly<Record<Audience, string>> {
  return {
    person: renderFailure(failure, 'person', { retrying: false }),
    model: renderFailure(failure, 'model'),
    developer: renderFailure(failure, 'developer'),
  };
}

function factRows(failure: Failure): readonly Row[] {
  const { httpStatus, exitCode } = failureTraits[failure.code];
  const because = failure.context['because'];
  const why = typeof because === 'string' ? because : 'its source says so';
  const provider = providerText(failure.provider ?? {});
  return [
    { label: 'why', text: `${why} (classified by ${failure.classifiedBy})` },
    { label: 'severity', text: severityOf(failure) },
    retryRow(failure),
    { label: 'wait', text: waitText(failure) ?? 'none stated', ...waitStyle(failure) },
    { label: 'answer', text: `HTTP ${httpStatus} to your own client` },
    { label: 'exit code', text: String(exitCode) },
    { label: 'docs', text: docsOf(failure.code) },
    ...(failure.hint === undefined ? [] : [{ label: 'hint', text: failure.hint }]),
    ...(provider === '' ? [] : [{ label: 'provider', text: provider }]),
  ];
}

function retryRow({ retryable, code }: Failure): Row {
  if (retryable)
    return { label: 'retry', text: 'yes, the same request may succeed later', style: 'recovery' };
  const why = code === 'UNKNOWN' ? 'nothing says that it would help' : 'the same request would fail again';
  return { label: 'retry', text: `no, ${why}` };
}

function waitStyle({ retryAfterMs }: Failure): Pick<Row, 'style'> {
  return retryAfterMs === undefined ? {} : { style: 'recovery' };
}

function providerText({ provider, model, statusCode, errorType, requestId }: ProviderFacts): string {
  return [
    ...(provider === undefined ? [] : [provider]),
    ...(model === undefined ? [] : [`model ${model}`]),
    ...(statusCode === undefined ? [] : [`status ${statusCode}`]),
    ...(errorType === undefined ? [] : [`error type ${errorType}`]),
    ...(requestId === undefined ? [] : [`request ${requestId}`]),
  ].join(', ');
}
