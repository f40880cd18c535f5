import type { RunOutcome, SuspendReason } from '../../agent/run-outcome.ts';
import { unreachable } from '../../base/assert.ts';
import { costText, durationText, tokensText } from './amounts.ts';
import { failureText } from './event-lines.ts';
import type { Said } from './event-lines.ts';
import { safeQuote } from './safe-text.ts';

export interface OutcomeOptions {
  /** What to type to go on with a run, where that is possible. */
  readonly resumeCommand?: ((runId: string) => string) | undefined;
}

/** How a run ended, what it took, and how to go on. The answer itself has been shown. */
export function outcomeLines(outcome: RunOutcome, { resumeCommand }: OutcomeOptions): readonly Said[] {
  const resume = canGoOn(outcome) ? resumeCommand?.(outcome.runId) : undefined;
  return [
    ...endLines(outcome, resume !== undefined),
    ...(outcome.unsaved === undefined
      ? []
      : [
          {
            sign: '!',
            text: `this run is not wholly on record: ${failureText(outcome.unsaved)}`,
            look: 'failure',
          } as const,
        ]),
    sumLine(outcome),
    ...recoveredLines(outcome),
    ...(resume === undefined ? [] : [{ sign: '→', text: `go on with: ${resume}` }]),
  ];
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
          text: `cancelled: what was done stays done${canBeResumed ? ', and the run can go on' : ''}`,
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
  approval: 'it waits for somebody to say yes or no',
  'in-doubt': 'it waits for somebody to say whether a call happened',
  'long-wait': 'the provider asked for a long wait',
  credit: 'the account of the provider is empty',
  credentials: 'the key was not accepted',
  storage: 'it could not be written down, and what is not written down is not done',
  released: 'this process has let go of it',
} as const satisfies Record<SuspendReason, string>;

function suspendedText({
  reason,
  resumeAt,
  request,
  failure,
}: Extract<RunOutcome, { type: 'suspended' }>): string {
  const from = resumeAt === undefined ? '' : `; not before ${new Date(resumeAt).toISOString()}`;
  const about = request === undefined ? '' : `; ${safeQuote(request.why, 160)}`;
  const why = failure === undefined ? '' : `; ${failureText(failure)}`;
  return `suspended: ${suspensions[reason]}${from}${about}${why}`;
}

function sumLine({ usage, turns }: RunOutcome): Said {
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

function recoveredLines({ recoveries }: RunOutcome): readonly Said[] {
  if (recoveries.length === 0) return [];
  const codes = [...new Set(recoveries.map(({ failure }) => failure.code))].join(', ');
  const count = recoveries.length === 1 ? '1 failure was' : `${recoveries.length} failures were`;
  return [{ sign: '↻', text: `${count} overcome: ${codes}`, look: 'recovery' }];
}
