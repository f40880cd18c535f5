import { duration } from '../../base/duration.ts';
import { failedCallOf } from './error-facts.ts';
import type { Block } from './report-document.ts';
import type { ReportFacts } from './report-facts.ts';
import { amount, counted, excerpt, explainEnd, money, own, safely, section } from './report-words.ts';
import type { Explanation } from './report-words.ts';

/** For a reader who does not want to know how it works: what was asked, what happened, what it cost, what to do. */
export function describeForPerson(facts: ReportFacts): readonly Block[] {
  return [
    { type: 'title', text: safely(() => titleOf(facts), 'The work could not be finished.') },
    ...section('What was asked', () => [
      { type: 'quote', text: excerpt(facts.asked, 300) || 'nothing in words' },
    ]),
    ...section('What happened', () => [{ type: 'paragraph', text: whatHappened(facts) }]),
    ...section('What had been done before', () => [{ type: 'list', items: whatWasDone(facts) }]),
    ...section('What it cost', () => [{ type: 'paragraph', text: whatItCost(facts) }]),
    ...section('What to do next', () => [{ type: 'list', items: whatNext(facts) }]),
    { type: 'paragraph', text: `Run: ${safely(() => excerpt(facts.runId, 200), '') || 'unknown'}` },
  ];
}

function titleOf({ ended }: ReportFacts): string {
  return ended.type === 'stopped'
    ? 'The work was stopped before it was finished.'
    : 'The work could not be finished.';
}

function whatHappened(facts: ReportFacts): string {
  const { what: end }: Explanation = explainEnd(facts);
  const what = `${end}${whichNode(facts)}`;
  const overcome = facts.recoveries.length;
  if (overcome === 0) return what;
  const many = overcome === 1 ? 'One problem' : `${amount(overcome)} problems`;
  return `${what} ${many} before that had been overcome.`;
}

/** Of several agents: whose failure it was. */
function whichNode(facts: ReportFacts): string {
  const { ended, nodes = [] } = facts;
  const name = ended.type === 'failed' ? failedCallOf(facts) : undefined;
  if (name === undefined || !nodes.includes(name)) return '';
  return ` It was its node "${excerpt(name, 60)}" that failed.`;
}

const maxTools = 8;

function whatWasDone(facts: ReportFacts): readonly string[] {
  const { succeeded, partial } = facts;
  const tools = Object.entries(succeeded).filter(([, count]) => count > 0);
  const lines = tools.slice(0, maxTools).map(([name, count]) => {
    const times = count === 1 ? 'once' : counted(count, 'time');
    return `${excerpt(name, 60)}: ${times}${whatItChanged(facts, name)}`;
  });
  const rest = tools.length - maxTools;
  const text = excerpt(partial, 200);
  const left = `There is an unfinished answer of ${counted(partial.length, 'character')}. It begins: "${text}"`;
  return [
    ...(lines.length === 0 ? ['Nothing had been done by a tool'] : lines),
    ...(rest > 0 ? [`… and ${counted(rest, 'other tool')}`] : []),
    ...(text === '' ? [] : [left]),
  ];
}

function whatItChanged({ effects, nodes = [] }: ReportFacts, name: string): string {
  if (!changes(own(effects, name))) return '';
  return nodes.includes(name)
    ? '. What it finished is on its own record'
    : '. This may have changed something';
}

function whatItCost({ elapsedMs, usage }: ReportFacts): string {
  const { inputTokens, outputTokens, unknownUsage, costUsd, unknownCost, requests } = usage;
  const more = unknownUsage > 0 ? 'at least ' : '';
  return [
    `${duration(elapsedMs)} of work`,
    `${counted(requests, 'request')} to a model`,
    `${more}${amount(inputTokens + outputTokens)} tokens`,
    money(costUsd, unknownCost),
  ].join(', ');
}

function whatNext(facts: ReportFacts): readonly string[] {
  const { next } = explainEnd(facts);
  const { effects, succeeded, ended, turns, nodes = [] } = facts;
  const changing = Object.keys(succeeded).filter(
    (name) => (own(succeeded, name) ?? 0) > 0 && changes(own(effects, name)),
  );
  // A stopped run is not resumed: asking again starts over, records or not.
  const isKept = (name: string): boolean => ended.type === 'failed' && nodes.includes(name);
  const kept = changing.filter(isKept);
  const others = changing.filter((name) => !isKept(name));
  return [
    next,
    ...(others.length === 0
      ? []
      : [
          `Before you ask for the same again, check what was already done (${namesIn(others)}), so that it is not done twice.`,
        ]),
    ...(kept.length === 0
      ? []
      : [
          `What was finished (${namesIn(kept)}) is on record and is not done again when this run is resumed. It is done again only if you ask for the same in a new run.`,
        ]),
    ended.type === 'failed' && turns > 0
      ? 'The operator of this program can resume from here without doing it all again; give them the line below.'
      : 'If you need help, give the line below to the operator of this program.',
  ];
}

function namesIn(names: readonly string[]): string {
  return names
    .slice(0, maxTools)
    .map((name) => excerpt(name, 60))
    .join(', ');
}

function changes(effect: unknown): boolean {
  return effect === 'once' || effect === 'idempotent';
}
