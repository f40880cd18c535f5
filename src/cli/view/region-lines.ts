import { redact } from '../../base/redact.ts';
import type { FailureCode } from '../../errors/codes.ts';
import { costText, elapsedText, tokensText } from './amounts.ts';
import { whatHappened } from './event-lines.ts';
import type { RunFacts, RunningTool, Wait } from './run-facts.ts';
import { safeLine, safeQuote } from './safe-text.ts';
import { columnsOf, fitColumns } from './text-width.ts';
import { wrapSpans } from './wrap-spans.ts';
import type { ViewPaint } from './view-paint.ts';

export interface RegionOptions {
  readonly columns: number;
  readonly nowMs: number;
  readonly paint: ViewPaint['paint'];
  /** Of the policy, where it is known. */
  readonly maxAttempts: number | undefined;
}

const maxSaidCharacters = 500;

/** At most so many tools are shown by name; the others are counted. */
const maxShownTools = 6;

/** What a run is doing now: tools, the wait, the silence, and the status line. */
export function regionLines(facts: RunFacts, options: RegionOptions): readonly string[] {
  const { paint, columns } = options;
  const tools = [...facts.tools.values()];
  const more = tools.length - maxShownTools;
  return [
    ...tools.slice(0, maxShownTools).flatMap((tool) => toolLines(tool, options)),
    ...(more > 0 ? [fitColumns(`  and ${more} more`, columns)] : []),
    ...(facts.wait === undefined ? [] : waitLines(facts.wait, options)),
    ...(facts.silence === undefined || tools.length > 0
      ? []
      : [paint('dim', fitColumns(silences[facts.silence], columns))]),
    paint('dim', statusLine(facts, options)),
  ];
}

const silences = { waiting: '… waiting for the model', thinking: '… the model is thinking' } as const;

/** The call with its time, and below it the last that it said. */
function toolLines(
  { call, startedAtMs, progress }: RunningTool,
  { columns, nowMs, paint }: RegionOptions,
): readonly string[] {
  const end = ` ${elapsedText(nowMs - startedAtMs)}`;
  // What it is about is cut before the time is.
  const room = Math.max(1, columns - columnsOf(end) - 2);
  const head = fitColumns(`› ${fitColumns(call, room)}${end}`, columns);
  if (progress === undefined) return [paint('bold', head)];
  const count = progress.done === undefined ? '' : ` ${progress.done}/${progress.total ?? '?'}`;
  const [last = ''] = progress.message.trimEnd().split('\n').slice(-1);
  const said = `  ${fitColumns(safeLine(redact(last.slice(-maxSaidCharacters))), Math.max(1, columns - columnsOf(count) - 2))}${count}`;
  return [paint('bold', head), paint('dim', fitColumns(said, columns))];
}

/** Why there is a wait, in a word or two. */
const shortReasons: Partial<Record<FailureCode, string>> = {
  RATE_LIMITED: 'busy',
  OVERLOADED: 'busy',
  MODEL_LOADING: 'the model is being loaded',
  SERVER_ERROR: 'an error of the provider',
  NETWORK_ERROR: 'not reachable',
  TIMEOUT: 'no answer in time',
  STREAM_INTERRUPTED: 'the stream broke',
  INVALID_RESPONSE: 'an unreadable answer',
  EMPTY_RESPONSE: 'an empty answer',
  STORAGE_LOCKED: 'the store is in use',
};

/** The countdown while nothing else can be done. */
function waitText(
  { failure, untilMs, nextAttempt }: Wait,
  options: Pick<RegionOptions, 'nowMs' | 'maxAttempts'>,
): string {
  const { nowMs, maxAttempts } = options;
  const reason = shortReasons[failure.code] ?? whatHappened(failure).replace(/\.$/, '');
  const leftMs = untilMs - nowMs;
  const left = leftMs <= 0 ? 'now' : `in ${Math.ceil(leftMs / 1000)} s`;
  const of = maxAttempts === undefined || !Number.isFinite(maxAttempts) ? '' : ` of ${maxAttempts}`;
  const asked = failure.retryAfterMs === undefined ? '' : ', asked for by the provider';
  return `${reason}: trying again ${left} (attempt ${nextAttempt}${of})${asked}`;
}

function waitLines(wait: Wait, options: RegionOptions): readonly string[] {
  const { columns, paint } = options;
  return wrapSpans([{ text: `↻ ${waitText(wait, options)}`, look: 'recovery' }], { columns, paint });
}

/** As many facts as there is room for; those that are missed least go first. */
function statusLine(facts: RunFacts, { columns, nowMs }: RegionOptions): string {
  const { model, turn, tokens, costUsd, startedAtMs } = facts;
  const parts = [
    { text: safeQuote(model, 60), worth: 3 },
    { text: turn === 0 ? '' : `turn ${turn}`, worth: 1 },
    { text: tokens === 0 ? '' : tokensText(tokens), worth: 2 },
    { text: costUsd === undefined ? '' : costText(costUsd), worth: 4 },
    { text: startedAtMs === undefined ? '' : elapsedText(nowMs - startedAtMs), worth: 5 },
  ].filter(({ text }) => text !== '');
  for (let least = 0; least < 5; least += 1) {
    const line = parts
      .filter(({ worth }) => worth > least)
      .map(({ text }) => text)
      .join(' · ');
    if (columnsOf(line) <= columns) return line;
  }
  return '';
}
