// Table: what each thing that happened in a run is called, for `show`.
import { money } from '../../agent/report/report-words.ts';
import { duration } from '../../base/duration.ts';
import type { RecoveryName } from '../../agent/turn/recovery.ts';
import type { PersonRequest, SuspendReason } from '../../agent/run-outcome.ts';
import { unreachable } from '../../base/assert.ts';
import type { Json } from '../../base/json.ts';
import { printable, visible } from '../../base/printable.ts';
import { redactJson } from '../../base/redact.ts';
import { boundText } from '../../base/text.ts';
import type { Failure } from '../../errors/failure.ts';
import type { Style } from '../text/paint.ts';
import type { AttemptBody, ReadItem, ToolBody, WaitBody } from './run-reading.ts';
import { conductWords, nodeEndWords, nodeWaitWords } from './node-words.ts';
import { momentText } from './run-words.ts';
import type { Words } from './run-words.ts';

/** What happened, in words; nothing for what the heading of its turn says already. */
export function itemWords(item: ReadItem): readonly Words[] {
  switch (item.type) {
    case 'began':
      return item.how === 'start' ? [] : [gold('It was resumed after it had ended.')];
    case 'turn':
      return [];
    case 'attempt':
      return attemptWords(item);
    case 'decision':
      return [decisionWords(item)];
    case 'wait':
      return [gold(waitText(item))];
    case 'switch':
      return [gold(`Now ${printable(item.to)} instead of ${printable(item.from)}: ${printable(item.why)}`)];
    case 'tool':
      return toolWords(item);
    case 'verified':
      return [
        gold(`Checked whether the call of ${printable(item.tool)} had happened: ${foundText(item.found)}`),
      ];
    case 'question':
      return [gold(`A person is asked: ${requestText(item.request)}`)];
    case 'answer': {
      const after = item.afterMs === undefined ? '' : ` after ${duration(item.afterMs)}`;
      const { changed } = item;
      const change =
        changed === undefined
          ? ''
          : `, with the arguments changed from ${printable(changed.asked)} to ${printable(changed.approved)}`;
      return [{ text: `Answered${after}: ${printable(item.verdict)} (${printable(item.reason)})${change}` }];
    }
    default:
      return otherWords(item);
  }
}

type Other = Exclude<
  ReadItem,
  {
    readonly type:
      | 'began'
      | 'turn'
      | 'attempt'
      | 'decision'
      | 'wait'
      | 'switch'
      | 'tool'
      | 'verified'
      | 'question'
      | 'answer';
  }
>;

function otherWords(item: Other): readonly Words[] {
  switch (item.type) {
    case 'compaction': {
      if (item.strategy === undefined)
        return [red('The conversation was too long, and nothing of it could be left out.')];
      const why =
        item.why === 'overflow' ? 'the provider refused it as too long' : 'too little room was left';
      return [
        gold(
          `The conversation was made shorter (${printable(item.strategy)}): about ${item.tokensBefore} tokens became ${item.tokensAfter}, for ${why}`,
        ),
      ];
    }
    case 'limit':
      return [red(`The limit ${printable(item.limit)} is reached.`)];
    case 'tool-withdrawn':
      return [gold(`The tool ${printable(item.tool)} was taken away: ${printable(item.why)}`)];
    case 'tool-restored':
      return [{ text: `The tool ${printable(item.tool)} is back.` }];
    case 'conduct':
      return [conductWords(item)];
    case 'node-waits':
      return [nodeWaitWords(item, suspensionText(item.reason))];
    case 'hook':
      return [{ text: `A hook at ${printable(item.point)} said: ${printable(item.verdict)}` }];
    case 'injected':
      return [
        {
          text:
            item.messages === 1
              ? 'A message came in from outside.'
              : `${item.messages} messages came in from outside.`,
        },
      ];
    case 'suspended':
      return [gold(`It waits outside any process: ${suspensionText(item.reason)}${fromText(item.resumeAt)}`)];
    case 'resumed': {
      const after = item.afterMs === undefined ? '' : ` after ${duration(item.afterMs)}`;
      return [gold(`It resumes${after}.`)];
    }
    default:
      return recordWords(item);
  }
}

type Word = Exclude<
  Other,
  {
    readonly type:
      | 'compaction'
      | 'limit'
      | 'tool-withdrawn'
      | 'tool-restored'
      | 'conduct'
      | 'node-waits'
      | 'hook'
      | 'injected'
      | 'suspended'
      | 'resumed';
  }
>;

function recordWords(item: Word): readonly Words[] {
  switch (item.type) {
    case 'taken-over':
      return [
        gold(
          item.crashes === 0
            ? 'Resumed manually.'
            : `Its process had vanished, and another one took it over (crash ${item.crashes}).`,
        ),
      ];
    case 'parked':
      return [red(`It was parked after ${item.crashes} crashes: no worker resumes it automatically.`)];
    case 'changed':
      return [gold(`It was resumed with other code: ${item.differences.map(printable).join('; ')}`)];
    case 'forked':
      return [
        { text: `Everything before is a copy of run ${printable(item.from)}, up to its event ${item.seq}.` },
      ];
    case 'imported':
      return [
        {
          text: `Everything before ${item.from === undefined ? 'was written elsewhere' : `came out of a bundle of run ${printable(item.from)}`}${item.how === undefined ? '' : `: ${printable(item.how)}`}. No approval before it counts.`,
        },
      ];
    case 'cancelled':
      return [{ text: `Cancellation was requested: ${printable(item.reason)}` }];
    case 'ended': {
      const style: Style | undefined =
        item.status === 'failed' || item.status === 'stopped' ? 'failure' : undefined;
      const why = item.failure === undefined ? '' : `: ${failureText(item.failure)}`;
      return [
        { text: `The run ended: ${printable(item.status)}${why}`, ...(style === undefined ? {} : { style }) },
      ];
    }
    case 'note':
      return [{ text: printable(item.text) }];
    default:
      return unreachable(item);
  }
}

function attemptWords(item: AttemptBody): readonly Words[] {
  const { model, failure, durationMs, wasSent, gateMs, isProbe, attempt } = item;
  const name = printable(model);
  const nth = attempt === 1 ? '' : `, attempt ${attempt}`;
  const held = gateMs >= 1 ? ` (held back ${duration(gateMs)} before)` : '';
  const probe = isProbe ? ', the one that finds out whether it works again' : '';
  if (failure !== undefined && !wasSent) return [red(`${name} was not asked${nth}: ${failureText(failure)}`)];
  const used = usedText(item);
  if (failure !== undefined)
    return [
      red(
        `${name} failed after ${duration(durationMs)}${nth}${probe}${held}: ${failureText(failure)}${used}`,
      ),
    ];
  const calls = item.calls.length === 0 ? '' : `, and called ${item.calls.map(printable).join(', ')}`;
  const said = item.text === '' ? '' : `: “${quoted(item.text)}”`;
  return [{ text: `${name} answered in ${duration(durationMs)}${nth}${probe}${held}${used}${calls}${said}` }];
}

function usedText({ inputTokens, outputTokens, costUsd }: AttemptBody): string {
  const tokens = (inputTokens ?? 0) + (outputTokens ?? 0);
  return [
    ...(tokens === 0 ? [] : [`, ${tokens.toLocaleString('en-US')} tokens`]),
    ...(costUsd === undefined || costUsd === 0 ? [] : [`, ${money(costUsd, 0)}`]),
  ].join('');
}

function toolWords(item: ToolBody): readonly Words[] {
  const { tool, input, askedInput, end, durationMs, failure, attempt, answer, sandbox } = item;
  if (item.node !== undefined)
    return [nodeEndWords(item, failure === undefined ? '' : `: ${failureText(failure)}`)];
  const call = `${printable(tool)}${input === '' ? '' : ` ${quoted(input)}`}`;
  const nth = attempt > 1 ? `, attempt ${attempt}` : '';
  const place = sandbox === undefined ? '' : `, in the sandbox "${sandbox}"`;
  const changed = askedInput === undefined ? '' : `, changed by a person from ${quoted(askedInput)}`;
  const allowed = answer?.verdict === 'yes' ? `, allowed: ${printable(answer.reason)}${changed}` : '';
  if (end === 'ok')
    return [{ text: `${call} ok in ${duration(durationMs)}${nth}${place}${allowed}${resultText(item)}` }];
  const why = failure === undefined ? resultText(item) : `: ${failureText(failure)}`;
  const text = `${call} ${toolEnds[end]}${nth}${place}${allowed}${why}`;
  return [end === 'retry' ? gold(text) : red(text)];
}

const toolEnds = {
  failed: 'failed',
  retry: 'asked for another try',
  denied: 'was not run',
  unknown: 'may have happened or not',
} as const satisfies Record<Exclude<ToolBody['end'], 'ok'>, string>;

function resultText({ text }: ToolBody): string {
  return text === '' ? '' : `: “${quoted(text)}”`;
}

const maxQuote = 120;

function quoted(text: string): string {
  return printable(boundText(text, maxQuote));
}

/** The code and the words of its source. */
export function failureText({ code, message }: Failure): string {
  return `${code}, ${printable(boundText(message, maxFailure)).replace(/\.$/, '')}`;
}

const maxFailure = 240;

/** Who paused, for how long, and on whose behalf. */
export function waitText({ delayMs, tookMs, askedBy, dueAtMs }: WaitBody): string {
  const who =
    askedBy === 'rerail' ? 'Backoff (the provider sent no Retry-After)' : `as ${printable(askedBy)} asked`;
  if (tookMs === undefined)
    return `A wait of ${duration(delayMs)} began, until ${momentText(dueAtMs)} (${who})`;
  return `Waited ${duration(tookMs)} (${who})`;
}

/** What was decided about a failure. */
export const recoveryWords = {
  retry: 'it is tried again',
  splice: 'the answer is continued where it broke off',
  'next-key': 'the same model is asked with its next key',
  'fall-back': 'another one is asked in its place',
  nudge: 'the model is asked to continue',
  continue: 'the answer was cut off and is continued',
  're-ask': 'the model is asked again, with what was wrong',
  compact: 'the conversation is made shorter',
  'tell-model': 'the failure is reported to the model, which may fix it',
  'withdraw-tool': 'the tool is taken away',
  verify: 'the tool looks whether it happened',
  'ask-person': 'a person is asked',
  salvage: 'one last turn without tools',
  skip: 'the flow continues without it',
  replan: 'the rest is planned again, and finished steps stay finished',
  reclassify: 'capabilities are chosen again',
  suspend: 'the run waits outside any process',
  stop: 'the run is stopped',
  fail: 'the run has failed',
} as const satisfies Record<RecoveryName, string>;

function decisionWords({ recovery, reason }: Extract<ReadItem, { type: 'decision' }>): Words {
  const text = `Decided: ${recoveryWords[recovery]} (${printable(reason)})`;
  return recovery === 'stop' || recovery === 'fail' ? red(text) : gold(text);
}

/** What a run waits for. */
function suspensionText(reason: SuspendReason): string {
  return suspensions[reason];
}

const suspensions = {
  approval: 'for approval by a person',
  'in-doubt': 'for a person to say whether a call happened',
  'long-wait': 'for the time that the provider named',
  credit: 'for credit at the provider',
  credentials: 'for a key that the provider accepts',
  clarification: 'for an answer from a person',
  storage: 'for a store that can be written',
  released: 'for a process to resume it',
} as const satisfies Record<SuspendReason, string>;

function fromText(resumeAt: number | undefined): string {
  return resumeAt === undefined ? '' : `, not before ${momentText(resumeAt)}`;
}

/** A question, with the very call that it is about. */
export function requestText(request: PersonRequest): string {
  if (request.type === 'mend') return printable(request.why);
  if (request.type === 'question') return printable(request.question);
  return `${callText(request.tool, request.input)} (${printable(request.why)})`;
}

/** A call as it would run. */
function callText(tool: string, input: Json): string {
  return `${printable(tool)} ${visible(boundText(JSON.stringify(redactJson(input)), maxCall))}`;
}

const maxCall = 2000;

function foundText(found: string): string {
  return { happened: 'it had', 'did-not-happen': 'it had not' }[found] ?? 'not known';
}

function gold(text: string): Words {
  return { text, style: 'recovery' };
}

function red(text: string): Words {
  return { text, style: 'failure' };
}
