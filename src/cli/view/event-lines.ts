import { isNote } from '../../agent/notes.ts';
import type { RunEvent } from '../../agent/run-event.ts';
import type { RecoveryName } from '../../agent/turn/recovery.ts';
import { renderWait, renderFailure } from '../../errors/render-failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { printableFailure } from '../../errors/printable-failure.ts';
import { partsOf, textOf } from '../../model/message.ts';
import type { Message } from '../../model/message.ts';
import { durationText, tokensText } from './amounts.ts';
import { callSummary } from './call-summary.ts';
import { factsBelow, modelName } from './run-facts.ts';
import type { RunFacts } from './run-facts.ts';
import { safeQuote } from './safe-text.ts';
import type { Look } from './view-paint.ts';

/** One thing that happened, in words. All text from outside in it is safe to show. */
export interface Said {
  /** One character, for where there are no words. */
  readonly sign: string;
  readonly text: string;
  readonly look?: Look;
}

const maxQuote = 160;

/** The lines of an event, once it is over. Nothing for what only passes by: text, progress, the start of a tool. */
export function eventLines(event: RunEvent, facts: RunFacts): readonly Said[] {
  switch (event.type) {
    case 'run-resumed':
      return [{ sign: '↻', text: 'the run is resumed', look: 'recovery' }];
    case 'turn-started':
      return event.purpose === 'salvage' ? [salvage] : [];
    case 'attempt-started':
      return switched(event, facts);
    case 'tool-finished':
      return [toolEnd(event, facts)];
    case 'failure':
      // A cancel request, which its end reports.
      if (event.failure.code === 'CANCELLED') return [];
      return [{ sign: '✗', text: `${whatHappened(event.failure)} (${event.failure.code})`, look: 'failure' }];
    case 'recovery':
      return [recoveryLine(event, facts)];
    case 'tool-late':
      // A view that still counts it as running needs no second notice.
      return facts.isOver || facts.tools.has(event.callId) ? [] : rareLines(event);
    case 'child-event':
      return linesBelow(event, facts);
    default:
      return rareLines(event);
  }
}

/** The events of a child run, with the name of its node. Its text is for the parent run, which passes on its own answer. */
function linesBelow(
  { node, runId, event }: Extract<RunEvent, { type: 'child-event' }>,
  facts: RunFacts,
): readonly Said[] {
  // The parent run reports its failures with its end.
  if (event.type === 'run-finished' || event.type === 'run-suspended') return [];
  const name = printableName(node);
  return eventLines(event, factsBelow(facts, runId)).map((said) => ({
    ...said,
    text: `${name}: ${said.text}`,
  }));
}

/** What happened and no more: the recovery has a line of its own. */
export function whatHappened(failure: Failure): string {
  const text = renderFailure(printableFailure(failure), 'person', { retrying: true });
  const end = text.lastIndexOf(' Rerail will try again');
  return end < 0 ? text : text.slice(0, end);
}

/** A failure for a person, with its code: people search for it. */
export function failureText(failure: Failure): string {
  return `${renderFailure(printableFailure(failure), 'person', { retrying: false })} (${failure.code})`;
}

const salvage: Said = {
  sign: '↻',
  text: 'a limit is reached: one last turn without tools, for whatever answer there is',
  look: 'recovery',
};

function switched(event: Extract<RunEvent, { type: 'attempt-started' }>, facts: RunFacts): readonly Said[] {
  const name = modelName(event);
  if (facts.model === '' || facts.model === name) return [];
  const text = `now asking ${safeQuote(name, maxQuote)} instead of ${safeQuote(facts.model, maxQuote)}`;
  return [{ sign: '⇄', text, look: 'recovery' }];
}

function toolEnd({ callId, name, end }: Extract<RunEvent, { type: 'tool-finished' }>, facts: RunFacts): Said {
  const call = facts.tools.get(callId)?.call ?? callSummary(name, null);
  const took = `(${durationText(end.durationMs)})`;
  if (end.failure?.code === 'CANCELLED') return dim(`${call} was cancelled ${took}`);
  if (end.failure !== undefined) {
    const message = safeQuote(end.failure.message, maxQuote);
    // Of what was not run, only why is of interest.
    const why = end.type === 'denied' ? message : `${whyOf(end.failure, message)} (${end.failure.code})`;
    const text = `${call} ${ends[end.type]}${end.type === 'denied' ? '' : ` ${took}`}: ${why}`;
    return { sign: '✗', text, look: 'failure' };
  }
  if (end.type === 'ok') return { sign: '✓', text: `${call} ${took}`, look: 'success' };
  const parts: readonly { readonly type: string; readonly text?: string }[] = partsOf(end.content);
  return {
    sign: '✗',
    text: `${call} ${ends[end.type]} ${took}: ${safeQuote(textOf(parts), maxQuote)}`,
    look: 'failure',
  };
}

/** Some failures have their message among the words for a person. */
function whyOf(failure: Failure, message: string): string {
  const words = whatHappened(failure);
  return words.includes(message) ? words : `${words} ${message}`;
}

const ends = {
  ok: 'is done',
  failed: 'failed',
  retry: 'asks for another try',
  denied: 'was not run',
  unknown: 'may or may not have happened',
} as const;

/** The recoveries that are an end. */
const endings: ReadonlySet<RecoveryName> = new Set(['stop', 'fail']);

function recoveryLine(event: Extract<RunEvent, { type: 'recovery' }>, facts: RunFacts): Said {
  const { recovery, reason, delayMs, failure } = event;
  const words = recoveryWords[recovery];
  if (endings.has(recovery))
    return { sign: '■', text: `${words}: ${safeQuote(reason, maxQuote)}`, look: 'failure' };
  if (recovery !== 'retry' || delayMs === undefined)
    return { sign: '↻', text: `${words}: ${safeQuote(reason, maxQuote)}`, look: 'recovery' };
  const asked = failure.retryAfterMs === undefined ? '' : ', as the provider asked';
  const wait = delayMs < 1000 ? `${Math.round(delayMs)} ms` : renderWait(delayMs);
  const text = `trying again after ${wait}${asked}: attempt ${facts.attempt + 1}`;
  return { sign: '↻', text, look: 'recovery' };
}

const recoveryWords = {
  retry: 'trying again',
  splice: 'continuing where the stream broke',
  'next-key': 'asking the same model with its next key',
  'fall-back': 'asking another one',
  nudge: 'reporting to the model what was wrong with its answer',
  continue: 'letting the model continue an answer that was cut off',
  're-ask': 'asking for the answer again in the right form',
  compact: 'making the conversation shorter',
  'tell-model': 'reporting the failure to the model, so that it can try another way',
  'withdraw-tool': 'taking the tool away from the model',
  verify: 'checking whether the call happened',
  'ask-person': 'asking a person',
  salvage: 'asking for whatever answer there is',
  skip: 'continuing without it',
  replan: 'planning the rest again',
  reclassify: 'choosing capabilities again',
  suspend: 'suspending the run, to be resumed later',
  stop: 'stopping',
  fail: 'giving up',
} as const satisfies Record<RecoveryName, string>;

/** What most runs never see. */
function rareLines(event: RunEvent): readonly Said[] {
  switch (event.type) {
    case 'breaker-changed':
      return [dim(`circuit breaker of ${printableName(event.provider)}: ${event.from} → ${event.to}`)];
    case 'breaker-awaited':
      return [
        dim(
          `waiting for ${printableName(modelName(event))}: others found it failing, and one of them is trying it`,
        ),
      ];
    case 'history-repaired':
      return [gold(`the conversation was repaired: ${safeQuote(event.repairs.join('; '), maxQuote)}`)];
    case 'events-dropped':
      return [gold(`${event.count} events were dropped: they were not read in time`)];
    case 'agent-changed':
      return [
        dim(
          `the agent has changed since this run began: ${safeQuote(event.differences.join('; '), maxQuote)}`,
        ),
      ];
    case 'history-selected':
      return [
        dim(`${event.selected} of ${event.total} exchanges of this session were chosen (${event.strategy})`),
      ];
    case 'history-compacted':
      return [
        gold(
          `the conversation was made shorter: ${tokensText(event.tokensBefore)} → ${tokensText(event.tokensAfter)} by estimate (${event.strategy})`,
        ),
      ];
    default:
      return toolLines(event);
  }
}

function toolLines(event: RunEvent): readonly Said[] {
  switch (event.type) {
    case 'tool-late':
      return [
        dim(
          `${printableName(event.name)} ended after ${durationText(event.afterMs)}, when the run no longer waited for it: ${safeQuote(event.summary, maxQuote)}`,
        ),
      ];
    case 'tool-warning':
      return [gold(`${printableName(event.name)}: ${safeQuote(event.failure.message, maxQuote)}`)];
    case 'arguments-repaired':
      return [
        gold(
          `the arguments of ${printableName(event.name)} were not valid JSON and were repaired: ${callSummary('', event.input).trim()}`,
        ),
      ];
    case 'tool-withdrawn':
      return [
        gold(
          `the model may no longer use ${printableName(event.name)}: ${safeQuote(event.reason, maxQuote)}`,
        ),
      ];
    case 'tool-restored':
      return [gold(`the model may use ${printableName(event.name)} again`)];
    default:
      return keepingLines(event);
  }
}

function keepingLines(event: RunEvent): readonly Said[] {
  switch (event.type) {
    case 'storage-failed':
      return [
        { sign: '!', text: `not on record from here on: ${failureText(event.failure)}`, look: 'failure' },
      ];
    case 'storage-restored':
      return [gold('everything is on record again')];
    case 'messages-injected':
      return event.messages.map((message) => {
        const whose = isNote(message) ? 'a note from the runtime' : 'your message';
        return dim(`the model reads ${whose} now: “${safeQuote(contentOf(message), 60)}”`);
      });
    case 'limit-reached':
      return [{ sign: '■', text: `the limit ${event.limit} is reached`, look: 'failure' }];
    case 'approval-answered':
      return [
        dim(
          `answered ${safeQuote(event.verdict, 20)}: ${safeQuote(event.reason, maxQuote)}${changeText(event)}`,
        ),
      ];
    case 'hook-failed':
      return [
        {
          sign: '!',
          text: `the hook ${printableName(event.hook)} failed at ${event.point}: ${failureText(event.failure)}`,
          look: 'failure',
        },
      ];
    default:
      return [];
  }
}

function changeText({ changed }: Extract<RunEvent, { type: 'approval-answered' }>): string {
  if (changed === undefined) return '';
  return `, with the arguments changed to ${safeQuote(JSON.stringify(changed.input), maxQuote)}`;
}

function contentOf({ content }: Message): string {
  return typeof content === 'string' ? content : textOf(content);
}

function printableName(name: string): string {
  return safeQuote(name, 80);
}

function gold(text: string): Said {
  return { sign: '↻', text, look: 'recovery' };
}

function dim(text: string): Said {
  return { sign: '·', text, look: 'dim' };
}
