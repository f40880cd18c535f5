import type { RunOutcome, RunRecovery } from '../../agent/run-outcome.ts';
import { printable } from '../../base/printable.ts';
import type { TestReport } from '../../providers/simulated/test-report.ts';
import { withoutRerail } from './demo-faults.ts';
import { paymentRunId } from './demo-payment.ts';
import { layoutRows } from '../text/layout.ts';
import type { Row, Screen } from '../text/layout.ts';
import { costText, durationText } from '../view/amounts.ts';
import { wrap } from '../text/wrap.ts';

const columns = { indent: 2, labelWidth: 10 } as const;

export interface Opening {
  readonly seed: number;
  readonly root: string;
  readonly sandboxLabel: string;
  readonly before: TestReport;
}

/** What one looks at, before anything else is known. */
export function titleLines({ width, paint }: Screen): readonly string[] {
  const title =
    'Rerail: an agent repairs a project while its provider misbehaves, and a payment survives kill -9';
  return [...wrap(title, width).map((line) => paint('title', line)), ''];
}

/** What will be seen, where, and how it stands before. */
export function openingLines(
  { seed, root, sandboxLabel, before }: Opening,
  screen: Screen,
): readonly string[] {
  const rows: readonly Row[] = [
    { label: 'project', text: `${root}, a small shop with one mistake in it` },
    { label: 'tests', text: testsText(before), ...(before.type === 'failed' ? { style: 'failure' } : {}) },
    {
      label: 'model',
      text: 'the embedded one (rules, no network), behind a server on this machine that speaks as Anthropic does and breaks as providers do',
    },
    { label: 'seed', text: `${seed}: it decides what goes wrong, and when` },
    { label: 'sandbox', text: sandboxLabel },
  ];
  return [...layoutRows(rows, { ...screen, ...columns }), ''];
}

/** How the tests went, in a few words. */
function testsText({ type, failing, failedCount, passedCount }: TestReport): string {
  if (type === 'not-run') return 'could not be run';
  const failed = failedCount ?? failing.length;
  const passed = passedCount ?? 0;
  return type === 'passed' ? `${passed} of ${passed} pass` : `${failed} of ${failed + passed} fail`;
}

export interface Closing {
  readonly outcome: RunOutcome;
  readonly before: TestReport;
  readonly after: TestReport;
  readonly requests: number;
  readonly faultsDelivered: number;
}

/** What can be looked at afterwards. */
export interface Leftovers {
  readonly folder: string;
  /** Nothing where the run was not kept. */
  readonly storeFile: string | undefined;
  readonly command: string;
}

/** How it ended, what was overcome, and what it would have cost. */
export function resultLines(closing: Closing, screen: Screen): readonly string[] {
  const { outcome, before, after } = closing;
  const rows: readonly Row[] = [
    { label: 'outcome', text: outcomeText(outcome) },
    { label: 'tests', text: `before: ${testsText(before)}; after: ${testsText(after)}` },
    { label: 'counted', text: countedText(closing) },
    { label: 'cost', text: moneyText(outcome) },
  ];
  const overcome = outcome.recoveries;
  const count = overcome.length === 1 ? '1 failure' : `${overcome.length} failures`;
  return [
    '',
    ...layoutRows(rows, { ...screen, ...columns }),
    '',
    ...wrap(`${count} overcome. Without Rerail:`, screen.width).map((line) => screen.paint('recovery', line)),
    ...recoveryLines(overcome, screen),
  ];
}

function outcomeText(outcome: RunOutcome): string {
  const spent = `${outcome.turns} turns, ${outcome.usage.toolCalls} tool calls, ${durationText(outcome.usage.elapsedMs)}`;
  return `${outcome.type} after ${spent}`;
}

function countedText({ requests, faultsDelivered, outcome }: Closing): string {
  return `${requests} requests, ${faultsDelivered} hit an injected fault; ${durationText(outcome.usage.waitedMs)} of waiting`;
}

function moneyText({ usage }: RunOutcome): string {
  const { costUsd, inputTokens, outputTokens, lostTokens } = usage;
  const tokens = (inputTokens + outputTokens).toLocaleString('en-US');
  const lost =
    lostTokens === 0 ? '' : `, ${lostTokens.toLocaleString('en-US')} of them spent on failed attempts`;
  return `nothing; with a real model of this price it would have been about ${costText(costUsd)} (${tokens} tokens${lost})`;
}

/** The same twice in one turn is shown once. */
function recoveryLines(recoveries: readonly RunRecovery[], screen: Screen): readonly string[] {
  const seen = new Map<string, { readonly recovery: RunRecovery; count: number }>();
  for (const recovery of recoveries) {
    const key = `${recovery.turn} ${recovery.failure.code} ${recovery.recovery}`;
    const known = seen.get(key);
    if (known === undefined) seen.set(key, { recovery, count: 1 });
    else known.count += 1;
  }
  return [...seen.values()].flatMap(({ recovery: { failure, recovery, turn }, count }) => {
    const times = count === 1 ? '' : `, ${count} times`;
    const done = `turn ${turn}: ${failure.code}${times}, overcome by ${recovery}`;
    return [
      ...wrap(done, screen.width - 4).map((line) => `  ${screen.paint('recovery', line)}`),
      ...wrap(`without: ${withoutRerail(failure.code)}`, screen.width - 6).map((line) => `      ${line}`),
    ];
  });
}

/** What to type next: beside each other where there is room, else below each other. */
export function nextLines(
  { storeFile, folder, command }: Leftovers,
  { width, paint }: Screen,
): readonly string[] {
  const kept =
    storeFile === undefined
      ? []
      : [
          { line: `${command} show demo --store ${storeFile}`, text: 'this run, step by step' },
          { line: `${command} why demo --store ${storeFile}`, text: 'why it retried, and why it continued' },
          {
            line: `${command} show ${paymentRunId} --store ${storeFile}`,
            text: 'the payment, and both processes',
          },
        ];
  const rows = [
    ...kept,
    { line: `${command} chat`, text: 'work with the agent in this folder' },
    {
      line: `${command} run "The tests fail. Fix it." --model anthropic:claude-sonnet-5`,
      text: 'a real model on your project; it wants ANTHROPIC_API_KEY',
    },
    { line: `rm -r ${folder}`, text: 'when you have seen enough' },
  ];
  const labelWidth = Math.max(...rows.map(({ line }) => line.length)) + 2;
  const isWide = rows.every(({ text }) => 2 + labelWidth + text.length <= width);
  const lines = rows.flatMap(({ line, text }) => {
    if (isWide) return [`  ${printable(line).padEnd(labelWidth)}${text}`];
    return [`  ${printable(line)}`, ...wrap(text, width - 6).map((part) => `      ${part}`)];
  });
  const missing =
    storeFile === undefined
      ? [
          '',
          ...wrap(
            'Not shown: a payment that is killed and not made twice. It needs SQLite, which this Node lacks: install @photostructure/sqlite, or use Node 22.16 or newer.',
            width,
          ),
        ]
      : [];
  return [...missing, '', paint('title', 'Type next'), ...lines];
}
