import { duration } from '../../base/duration.ts';
import type { RecoveryName } from '../../agent/turn/recovery.ts';
import { printable } from '../../base/printable.ts';
import { failureText, recoveryWords, waitText } from './item-words.ts';
import { allOf, latest } from './run-reading.ts';
import type { ItemOf, ReadItem, RunReading } from './run-reading.ts';
import type { WhyPoint } from './why-answers.ts';

const again: ReadonlySet<RecoveryName> = new Set<RecoveryName>([
  'retry',
  'splice',
  'nudge',
  'continue',
  're-ask',
  'compact',
]);

const maxPoints = 20;

/** Why something was tried again, each time. */
export function retryPoints({ items }: RunReading): readonly WhyPoint[] {
  const points = items.flatMap((item, index) =>
    item.type === 'decision' && again.has(item.recovery) ? [retryPoint(items, item, index)] : [],
  );
  if (points.length === 0) return [];
  const shown = points.slice(0, maxPoints);
  const rest = points.slice(maxPoints);
  const more = { text: `And ${rest.length} more like these.`, seqs: rest.flatMap(({ seqs }) => seqs) };
  return [...shown, ...(rest.length === 0 ? [] : [more]), ...overcomePoints(items)];
}

/** The failure, what was decided, and the pause that followed. */
function retryPoint(items: readonly ReadItem[], decision: ItemOf<'decision'>, index: number): WhyPoint {
  const { failure, recovery, reason, turn } = decision;
  const failed = items
    .slice(0, index)
    .findLast(
      (item) =>
        (item.type === 'attempt' || item.type === 'tool') && item.seqs.includes(decision.seqs.at(-1) ?? 0),
    );
  const next = items[index + 1];
  const wait = next?.type === 'wait' ? next : undefined;
  const pause = wait === undefined ? '' : ` ${waitText(wait)}.`;
  return {
    text: `Turn ${turn}, ${whoFailed(failed)}: ${failureText(failure)}. So ${recoveryWords[recovery]}: ${printable(reason)}.${pause}`,
    seqs: [...decision.seqs, ...(wait?.seqs ?? [])],
  };
}

function whoFailed(item: ReadItem | undefined): string {
  if (item?.type === 'attempt')
    return `attempt ${item.attempt} at ${printable(item.model)} failed after ${duration(item.durationMs)}`;
  if (item?.type !== 'tool') return 'this came up';
  if (item.node !== undefined)
    return `the node ${printable(item.tool)} failed after ${duration(item.durationMs)}`;
  return `the tool ${printable(item.tool)}${safeWords[item.effect ?? 'once']} failed after ${duration(item.durationMs)}`;
}

const safeWords = { read: ', which only reads,', idempotent: ', which may be repeated,', once: '' } as const;

/** What came of it in the end: the answer after the last failure. */
function overcomePoints(items: readonly ReadItem[]): readonly WhyPoint[] {
  const last = items.findLast(
    (item) => item.type === 'attempt' && item.attempt > 1 && item.failure === undefined,
  );
  if (last?.type !== 'attempt') return [];
  return [
    {
      text: `Turn ${last.turn} was answered at attempt ${last.attempt}, by ${printable(last.model)}.`,
      seqs: last.seqs,
    },
  ];
}

/** Why this model and no other. */
export function modelPoints({ items, models }: RunReading): readonly WhyPoint[] {
  const attempts = allOf(items, 'attempt');
  const [first] = attempts;
  if (first === undefined) return [];
  const chain = models.map(printable).join(', then ');
  const began = latest(items, 'began')?.seqs ?? [];
  const switches = allOf(items, 'switch');
  if (switches.length === 0) {
    const isFirst = first.model === models[0];
    const why =
      models.length === 1
        ? 'it is the only one'
        : `the chain is ${chain}, and the first never had to be left`;
    const text = isFirst ? why : `the chain is ${chain}, and the ones before it are left alone`;
    return [
      {
        text: `Every attempt was made at ${printable(first.model)}: ${text}.`,
        seqs: [...began, ...attempts.flatMap(({ seqs }) => seqs)],
      },
    ];
  }
  const points = switches.slice(0, maxPoints).map(({ turn, from, to, why, seqs }) => ({
    text: `Turn ${turn}: ${printable(to)} was asked instead of ${printable(from)}: ${printable(why)}.`,
    seqs,
  }));
  const rest = switches.slice(maxPoints);
  const answered = attempts.findLast(({ failure }) => failure === undefined);
  return [
    { text: `The chain is ${chain}.`, seqs: began },
    ...points,
    ...(rest.length === 0
      ? []
      : [{ text: `And ${rest.length} more changes.`, seqs: rest.flatMap(({ seqs }) => seqs) }]),
    ...(answered === undefined
      ? []
      : [{ text: `The last answer came from ${printable(answered.model)}.`, seqs: answered.seqs }]),
  ];
}
