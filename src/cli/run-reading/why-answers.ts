import { explainEnd, explainFailure } from '../../agent/report/report-words.ts';
import type { ReportFacts } from '../../agent/report/report-facts.ts';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import { printable } from '../../base/printable.ts';
import type { Failure } from '../../errors/failure.ts';
import { readSalvageMark } from '../../model/store/proven.ts';
import { failureText, requestText } from './item-words.ts';
import { hasAnswer, openQuestion } from './next-steps.ts';
import { latest } from './run-reading.ts';
import type { ItemOf, RunReading } from './run-reading.ts';
import { agoText, momentText, untilText } from './run-words.ts';
import { modelPoints, retryPoints } from './why-attempts.ts';
import { originPoints } from './why-origin.ts';

/** What can be asked about a run. */
export const whyTopics = ['retried', 'model', 'stopped', 'waiting', 'origin'] as const;
export type WhyTopic = (typeof whyTopics)[number];

/** One known fact, and the events behind it. */
export interface WhyPoint {
  readonly text: string;
  /** Empty only for what the list of runs says and no event does. */
  readonly seqs: readonly number[];
}

/** The answer to one question. */
export interface WhyAnswer {
  readonly topic: WhyTopic;
  readonly points: readonly WhyPoint[];
}

/** Answers what was asked, or all that applies. */
export function whyAnswers(
  reading: RunReading,
  { topic, nowMs }: { readonly topic?: WhyTopic | undefined; readonly nowMs: number },
): readonly WhyAnswer[] {
  const answers: readonly WhyAnswer[] = [
    { topic: 'origin', points: inOrder(originPoints(reading)) },
    { topic: 'stopped', points: inOrder(stoppedPoints(reading, nowMs)) },
    { topic: 'waiting', points: inOrder([...waitingPoints(reading, nowMs), ...waitingNodes(reading)]) },
    { topic: 'retried', points: inOrder(retryPoints(reading)) },
    { topic: 'model', points: inOrder(modelPoints(reading)) },
  ];
  if (topic === undefined) return answers.filter(({ points }) => points.length > 0);
  const found = answers.filter((answer) => answer.topic === topic);
  return found.map((answer) =>
    answer.points.length > 0 ? answer : { topic, points: [nothing(topic, reading)] },
  );
}

/** Each event once, ascending. */
function inOrder(points: readonly WhyPoint[]): readonly WhyPoint[] {
  return points.map(({ text, seqs }) => ({
    text,
    seqs: [...new Set(seqs)].toSorted((one, other) => one - other),
  }));
}

const nothings = {
  retried: 'Nothing was tried again: whatever was asked was answered the first time, or given up at once.',
  model: 'No model was asked.',
  stopped: 'It has not stopped.',
  waiting: 'It is not waiting for anything.',
  origin: 'It was created in this store.',
} as const satisfies Record<WhyTopic, string>;

function nothing(topic: WhyTopic, { events, isConducted, trouble }: RunReading): WhyPoint {
  const seqs = events.map(({ seq }) => seq);
  if (trouble !== undefined) return { text: 'What can be read of its record does not say.', seqs };
  const text =
    topic === 'model' && isConducted
      ? 'It asks no model itself: the runs of its nodes do, and each has its own record.'
      : nothings[topic];
  return { text, seqs };
}

/** Why it does not continue, whether or not it could. */
function stoppedPoints(reading: RunReading, nowMs: number): readonly WhyPoint[] {
  const { row, outcome, trouble } = reading;
  if (trouble !== undefined) return [...endPoints(reading, outcome), damagePoint(reading, trouble)];
  const request = cancelPoints(reading, nowMs);
  if (row.status === 'suspended') return request;
  if (row.status === 'running') return [...runningPoints(reading, nowMs), ...request];
  if (row.status === 'parked') {
    const provenSeq = readSalvageMark(row)?.provenSeq;
    if (provenSeq !== undefined)
      return [{ text: `Its end is lost: its record is proven up to event ${provenSeq}.`, seqs: [provenSeq] }];
    const parked = latest(reading.items, 'parked') ?? latest(reading.items, 'imported');
    return [
      { text: `${printable(row.reason ?? 'It is parked').replace(/\.$/, '')}.`, seqs: parked?.seqs ?? [] },
    ];
  }
  return endPoints(reading, outcome);
}

/** What the list says of the run is not repeated as a fact. */
function damagePoint({ row, events }: RunReading, trouble: Failure): WhyPoint {
  const last = events.at(-1);
  return {
    text: `From here on its record cannot be read: ${failureText(trouble)}. What comes before it can be trusted. The list says that the run is ${printable(row.status)}, which is not proven.`,
    seqs: last === undefined ? [] : [last.seq],
  };
}

function runningPoints(
  { row, items, events, phase, isConducted }: RunReading,
  nowMs: number,
): readonly WhyPoint[] {
  const last = events.at(-1);
  const seqs = last === undefined ? [] : [last.seq];
  if (row.owner !== undefined) {
    const { id, untilMs } = row.owner;
    return [
      {
        text: `It has not stopped: the process ${printable(id)} runs it, until ${momentText(untilMs)} at least.`,
        seqs,
      },
    ];
  }
  const fork = last?.type === 'forked' ? latest(items, 'forked') : undefined;
  if (fork !== undefined) {
    const of = `a copy of run ${printable(fork.from)} up to its event ${fork.seq}`;
    return [{ text: `It is ${of}, and no process has resumed it yet.`, seqs: fork.seqs }];
  }
  const when = last === undefined ? '' : ` Its last event came ${agoText(last.atMs, nowMs)}.`;
  const crashes = latest(items, 'taken-over');
  const before =
    crashes === undefined || crashes.crashes === 0
      ? ''
      : ` That had happened before: crash ${crashes.crashes}.`;
  return [
    {
      text: `No process is running it: the last one exited or released it ${(isConducted ? doingOfFlow[phase] : undefined) ?? doing[phase] ?? 'in the middle'}.${when} Nothing that is on record is lost.${before}`,
      seqs: [...(crashes?.seqs ?? []), ...seqs],
    },
  ];
}

/** A cancel request that no process has followed yet. */
function cancelPoints({ row, pending, events }: RunReading, nowMs: number): readonly WhyPoint[] {
  const request = pending.find(({ name }) => name === 'cancel');
  if (request === undefined) return [];
  const last = events.at(-1);
  const by = row.owner === undefined ? 'the next process that runs it' : 'the process that runs it';
  const text = `Cancellation was requested ${agoText(request.atMs, nowMs)}; ${by} will cancel it.`;
  return [{ text, seqs: last === undefined ? [] : [last.seq] }];
}

const doingOfFlow: Readonly<Record<string, string>> = {
  'calling-model': 'while it was decided what comes next',
  'running-tools': 'while its nodes were at work',
  'waiting-for-tools': 'during a wait before a node',
};

const doing: Readonly<Record<string, string>> = {
  beginning: 'before it had begun',
  'calling-model': 'while a model was asked',
  waiting: 'during a wait between attempts',
  'running-tools': 'while tools were at work',
  'waiting-for-tools': 'during a wait before a tool',
  asking: 'while a person was asked',
};

function endPoints(reading: RunReading, outcome: RunOutcome | undefined): readonly WhyPoint[] {
  const { items, turns } = reading;
  const end = latest(items, 'ended');
  const seqs = end?.seqs ?? [];
  const many = turns === 1 ? '1 turn' : `${turns} turns`;
  if (outcome?.type === 'completed')
    return [{ text: `It did not stop early: it completed after ${many}.`, seqs }];
  if (outcome?.type === 'cancelled') {
    const request = latest(items, 'cancelled');
    const why = request === undefined ? 'its process was asked to cancel it' : printable(request.reason);
    return [{ text: `It was cancelled after ${many}: ${why}.`, seqs: [...(request?.seqs ?? []), ...seqs] }];
  }
  const failure =
    end?.failure ?? (outcome !== undefined && 'failure' in outcome ? outcome.failure : undefined);
  const decision = items.findLast(
    (item) => item.type === 'decision' && (item.recovery === 'fail' || item.recovery === 'stop'),
  );
  const limit = latest(items, 'limit');
  const because =
    decision?.type === 'decision'
      ? [{ text: `What decided it: ${printable(decision.reason)}.`, seqs: decision.seqs }]
      : [];
  if (outcome?.type === 'stopped') {
    const ended = { type: 'stopped', reason: outcome.reason, failure } as const;
    // Of the facts it reads nothing but how it ended.
    const { what } = explainEnd({ ended } as unknown as ReportFacts);
    const bound = limit === undefined ? '' : ` (the limit ${printable(limit.limit)})`;
    const text = `It was stopped after ${many}: ${outcome.reason}${bound}. ${what}`;
    return [{ text, seqs: [...(limit?.seqs ?? []), ...seqs] }, ...because];
  }
  if (failure === undefined) return [];
  const node = reading.isConducted
    ? items.findLast((item) => item.type === 'tool' && item.node !== undefined && item.end === 'failed')
    : undefined;
  if (node?.type === 'tool') return nodeFailed(reading, node, failure);
  const { what, next } = explainFailure(failure);
  return [{ text: `It failed after ${many}: ${failure.code}. ${what} ${next}`, seqs }, ...because];
}

/** A flow fails by a node: what that one did is on its own record. */
function nodeFailed(
  { turns }: RunReading,
  { tool, node, seqs, failure: own }: ItemOf<'tool'>,
  failure: Failure,
): readonly WhyPoint[] {
  const { what, next } = explainFailure(failure);
  const steps = turns === 1 ? '1 step' : `${turns} steps`;
  const run = node?.runId === undefined ? '' : ` Its own record is run ${printable(node.runId)}.`;
  return [
    {
      text: `It failed after ${steps}, because the node ${printable(tool)} did: ${failure.code}. ${what} ${next}`,
      seqs,
    },
    ...(own === undefined ? [] : [{ text: `What the node says: ${failureText(own)}.${run}`, seqs }]),
  ];
}

/** What has to happen first, and by when. */
function waitingPoints(reading: RunReading, nowMs: number): readonly WhyPoint[] {
  const { row, items, pending, trouble } = reading;
  if (trouble !== undefined) return [];
  if (row.owner === undefined && (row.status === 'running' || row.status === 'parked'))
    return openPoints(reading);
  if (row.status !== 'suspended') return [];
  const waiting = latest(items, 'suspended') ?? latest(items, 'question');
  if (waiting === undefined) return [];
  const { seqs } = waiting;
  const answered = pending.find(({ name }) => name === 'resume');
  if (hasAnswer(reading) && answered !== undefined)
    return [
      {
        text: `It was answered ${agoText(answered.atMs, nowMs)}, and no process has read the answer yet.`,
        seqs,
      },
    ];
  const request = openQuestion(reading) ?? waiting.request;
  const resumeAt = 'resumeAt' in waiting ? waiting.resumeAt : undefined;
  if (request !== undefined && request.type !== 'mend') return questionPoints(reading, nowMs);
  const why = request === undefined ? '' : ` ${printable(request.why)}`;
  if (resumeAt !== undefined) {
    const decision = latest(items, 'decision');
    const code = decision === undefined ? '' : ` (${decision.failure.code}; ${printable(decision.reason)})`;
    const passed = resumeAt <= nowMs ? ' That time has come: it can be resumed.' : '';
    return [
      {
        text: `It waits until ${momentText(resumeAt)}, ${untilText(resumeAt, nowMs)}: the provider asked not to be called before${code}.${passed}`,
        seqs,
      },
    ];
  }
  const reason = 'reason' in waiting ? ` ${waiting.reason}.` : '';
  return [{ text: `It waits for a person to fix this:${why === '' ? reason : why}`, seqs }];
}

/** Whose question it is, where it is that of a run below. */
function waitingNodes({ row, items, nodes, trouble }: RunReading): readonly WhyPoint[] {
  if (row.status !== 'suspended' || trouble !== undefined) return [];
  return nodes
    .filter(({ status }) => status === 'waiting')
    .map(({ name, runId }) => {
      const run = runId === undefined ? '' : `, run ${printable(runId)}`;
      const waits = items.findLast((item) => item.type === 'node-waits' && item.node === name);
      return { text: `The node that waits is ${printable(name)}${run}.`, seqs: waits?.seqs ?? [] };
    });
}

function openPoints(reading: RunReading): readonly WhyPoint[] {
  const request = openQuestion(reading);
  const question = latest(reading.items, 'question');
  if (request === undefined || request.type === 'mend' || question === undefined) return [];
  return [
    {
      text: `A person was being asked, and the question is still open: ${requestText(request)}.`,
      seqs: question.seqs,
    },
  ];
}

function questionPoints(reading: RunReading, nowMs: number): readonly WhyPoint[] {
  const request = openQuestion(reading);
  if (request === undefined || request.type === 'mend') return [];
  const { items } = reading;
  const seqs = [latest(items, 'question'), latest(items, 'suspended')].flatMap((item) => item?.seqs ?? []);
  if (request.type === 'in-doubt') {
    const asked = `It waits for a person to say whether this happened: ${requestText(request)}. It is not repeated automatically, because it may have been done.`;
    return [{ text: asked, seqs }];
  }
  if (request.type === 'question')
    return [{ text: `It waits for an answer to this: ${requestText(request)}`, seqs }];
  const { expiresAt } = request;
  const end =
    expiresAt > nowMs
      ? `Without an answer by ${momentText(expiresAt)} (${untilText(expiresAt, nowMs)}) it is denied.`
      : `It expired at ${momentText(expiresAt)}: any answer now is denied.`;
  return [{ text: `It waits for approval of this: ${requestText(request)}. ${end}`, seqs }];
}
