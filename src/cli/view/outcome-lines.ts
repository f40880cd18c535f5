import type { RunOutcome, SuspendReason } from '../../agent/run-outcome.ts';
import { unreachable } from '../../base/assert.ts';
import { costText, durationText, tokensText } from './amounts.ts';
import { failureText } from './event-lines.ts';
import type { Said } from './event-lines.ts';
import type { RunFacts } from './run-facts.ts';
import { safeQuote } from './safe-text.ts';
import type { RunViewOptions } from './view-options.ts';

/** How a run ended, what it took, and how to resume it. The answer itself has been shown. */
export function outcomeLines(outcome: RunOutcome, { options, facts }: OutcomeContext): readonly Said[] {
  return [
    ...endLines(outcome, options.resumeCommand !== undefined),
    ...(outcome.unsaved === undefined
      ? []
      : [
          {
            sign: '!',
            text: `this run is not wholly on record: ${failureText(outcome.unsaved)}`,
            look: 'failure',
          } as const,
        ]),
    sumLine(outcome, facts),
    ...recoveredLines(outcome),
    ...explainedLines(outcome),
    ...goOnLines(outcome, options),
  ];
}

interface OutcomeContext {
  readonly options: Pick<RunViewOptions, 'resumeCommand' | 'answerSteps'>;
  readonly facts: Pick<RunFacts, 'turn' | 'attempt'>;
}

function goOnLines(
  outcome: RunOutcome,
  { resumeCommand, answerSteps }: OutcomeContext['options'],
): readonly Said[] {
  const request = outcome.type === 'suspended' ? outcome.request : undefined;
  // Without an answer it would only ask again.
  if (request !== undefined && request.type !== 'mend') {
    const steps = answerSteps?.(request, outcome.runId) ?? [];
    return steps.map(({ text, command }) => ({ sign: '→', text: `${text}: ${command}` }));
  }
  const resume = canGoOn(outcome) ? resumeCommand?.(outcome.runId) : undefined;
  return resume === undefined ? [] : [{ sign: '→', text: `resume with: ${resume}` }];
}

function canGoOn(outcome: RunOutcome): boolean {
  // Of what could not even be begun there is no record.
  if (outcome.type === 'suspended' && outcome.reason === 'storage') return outcome.usage.requests > 0;
  return outcome.type === 'cancelled' || outcome.type === 'failed' || outcome.type === 'suspended';
}

function endLines(outcome: RunOutcome, canBeResumed: boolean): readonly Said[] {
  switch (outcome.type) {
    case 'completed':
      return [];
    case 'stopped': {
      const why = outcome.failure === undefined ? '' : `: ${failureText(outcome.failure)}`;
      return [{ sign: '■', text: `stopped (${outcome.reason})${why}`, look: 'failure' }];
    }
    case 'suspended':
      return [{ sign: '■', text: suspendedText(outcome), look: 'recovery' }];
    case 'cancelled':
      return [
        {
          sign: '■',
          text: `cancelled: what was done stays done${canBeResumed ? ', and the run can be resumed' : ''}`,
          look: 'recovery',
        },
      ];
    case 'failed':
      return [{ sign: '✗', text: failureText(outcome.failure), look: 'failure' }];
    default:
      return unreachable(outcome);
  }
}

const suspensions = {
  approval: 'it waits for approval',
  'in-doubt': 'it waits for a person to say whether a call happened',
  'long-wait': 'the provider asked for a long wait',
  credit: 'the account of the provider is empty',
  credentials: 'the key was not accepted',
  clarification: 'it waits for an answer in words',
  storage: 'it could not be recorded, and what is not recorded is not done',
  released: 'this process has released it',
} as const satisfies Record<SuspendReason, string>;

function suspendedText({
  reason,
  resumeAt,
  request,
  failure,
}: Extract<RunOutcome, { type: 'suspended' }>): string {
  const from = resumeAt === undefined ? '' : `; not before ${new Date(resumeAt).toISOString()}`;
  // The failure says what must be fixed.
  const isSaid = request === undefined || (request.type === 'mend' && failure !== undefined);
  const asked = request?.type === 'question' ? request.question : request?.why;
  const about = isSaid ? '' : `; ${safeQuote(asked ?? '', 160)}`;
  const why = failure === undefined ? '' : `; ${failureText(failure)}`;
  const isNoModel = reason === 'credentials' && failure?.code === 'MODEL_NOT_FOUND';
  const waits = isNoModel ? 'the model is not available with this key' : suspensions[reason];
  return `suspended: ${waits}${from}${about}${why}`;
}

function sumLine(outcome: RunOutcome, facts: OutcomeContext['facts']): Said {
  const { usage } = outcome;
  // A turn in which no model was asked is not counted for the reader.
  const isEmptyTurn = outcome.type === 'cancelled' && facts.turn === outcome.turns && facts.attempt === 0;
  const turns = isEmptyTurn ? Math.max(0, outcome.turns - 1) : outcome.turns;
  const { inputTokens, outputTokens, costUsd, unknownCost, requests, elapsedMs, toolCalls } = usage;
  const parts = [
    durationText(elapsedMs),
    turns === 1 ? '1 turn' : `${turns} turns`,
    ...(toolCalls === 0 ? [] : [toolCalls === 1 ? '1 tool call' : `${toolCalls} tool calls`]),
    tokensText(inputTokens + outputTokens),
    ...(unknownCost < requests ? [`${unknownCost > 0 ? 'at least ' : ''}${costText(costUsd)}`] : []),
  ];
  return { sign: '·', text: parts.join(' · '), look: 'dim' };
}

/** What a model had to say about a failure, below what is known without it. */
function explainedLines(outcome: RunOutcome): readonly Said[] {
  const explanation = 'report' in outcome ? outcome.report.explanation : undefined;
  if (explanation === undefined) return [];
  const { model, summary, claims, nextSteps } = explanation;
  const said = [summary, ...claims.map(({ text }) => text)].map((text) => safeQuote(text, maxSaid)).join(' ');
  const steps = nextSteps.map(({ text }) => safeQuote(text, maxSaid)).join('; or ');
  return [
    { sign: '?', text: `in the words of ${safeQuote(model, 100)}: ${said}` },
    ...(steps === '' ? [] : [{ sign: '?', text: `it proposes to ${steps}` }]),
  ];
}

const maxSaid = 400;

function recoveredLines({ recoveries }: RunOutcome): readonly Said[] {
  if (recoveries.length === 0) return [];
  const codes = [...new Set(recoveries.map(({ failure }) => failure.code))].join(', ');
  const count = recoveries.length === 1 ? '1 failure was' : `${recoveries.length} failures were`;
  return [{ sign: '↻', text: `${count} overcome: ${codes}`, look: 'recovery' }];
}
