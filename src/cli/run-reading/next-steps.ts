import { stepText } from '../../agent/report/next-steps.ts';
import type { PersonRequest } from '../../agent/run-outcome.ts';
import { printable } from '../../base/printable.ts';
import { topRun, topRunId } from './read-nodes.ts';
import { callFlag } from './named-call.ts';
import { latest } from './run-reading.ts';
import type { RunReading } from './run-reading.ts';
import { momentText, shellWord } from './run-words.ts';

/** Something that a person can do now: why, and the command that does it. */
export interface NextStep {
  readonly text: string;
  /** The name of the command alone. */
  readonly verb: string;
  readonly command: string;
}

/** How commands are typed here. */
export interface Typing {
  /** `npx rerail`. */
  readonly command: string;
  /** ` --store runs.db`, or nothing. */
  readonly storeFlag: string;
  readonly nowMs: number;
}

/** What can be done about a run now, the best first. */
export function nextSteps(reading: RunReading, typing: Typing): readonly NextStep[] {
  const { row, trouble } = reading;
  const say = readingSpeaker(reading, typing);
  if (trouble !== undefined) {
    const command = `${typing.command} doctor${typing.storeFlag}`;
    const salvage = `${typing.command} store salvage <from> <to>`;
    return [
      { text: 'look at the whole store', verb: 'doctor', command },
      { text: 'save what is proven into a new store', verb: 'store', command: salvage },
    ];
  }
  switch (row.status) {
    case 'running':
      if (row.owner === undefined) return interruptedSteps(reading, say);
      return [
        say('see how far it is', 'show'),
        say('cancel it; the process that runs it stops within 5 s', 'cancel'),
      ];
    case 'suspended':
      return waitingSteps(reading, say, typing.nowMs);
    case 'parked':
      return parkedSteps(reading, say);
    case 'failed':
      return [say(stepText('resume'), 'resume'), say('read the whole report', 'explain')];
    case 'cancelled':
      return [say('resume from where it was cancelled', 'resume')];
    case 'stopped':
      return [
        say('read how far it came; a stopped run is not resumed', 'explain'),
        {
          text: stepText('run-again'),
          verb: 'run',
          command: `${typing.command} run --help`,
        },
      ];
    default:
      return [say('see what it did', 'show')];
  }
}

/** What can be typed to answer a question about a call. */
export function answerSteps(
  request: PersonRequest,
  runId: string,
  typing: Pick<Typing, 'command' | 'storeFlag'>,
): readonly NextStep[] {
  return questionSteps(request, speaker(runId, typing));
}

/** The next steps of a child run act on its topmost parent: that is the run to resume. */
function readingSpeaker(reading: RunReading, typing: Typing): Say {
  const { row } = reading;
  const own = speaker(row.runId, typing);
  const top = speaker(topRunId(row), typing);
  const isAway = isElsewhere(reading);
  return (text, verb, rest = '') => {
    if (lookingVerbs.has(verb)) return own(text, verb, rest);
    const answer = isAway ? answersOf[verb] : undefined;
    if (answer === undefined) return top(text, verb, rest);
    // A message to a run that waits is recorded here, and its program resumes with it.
    if (verb !== 'resume' && row.status === 'suspended')
      return top(`${text} where its program runs`, verb, `${rest} --no-resume`);
    const command = callText(row, answer(rest));
    return { text: `${text}, in the program that has the agent ${agentText(row)}`, verb, command };
  };
}

/** Whether another program started it: its tools are known there, so that program resumes it. */
export function isElsewhere({ row }: RunReading): boolean {
  return !isOurs(row);
}

/** What is written in the program that has the agent. */
export function callText(row: Pick<RunReading['row'], 'runId' | 'agent'>, answer?: string): string {
  const name = JSON.stringify(printable(topRunId(row)));
  return `await agent.resume(${name}${answer === undefined ? '' : `, { answer: ${answer} }`})`;
}

function agentText(row: RunReading['row']): string {
  return JSON.stringify(printable(topRun(row).agent));
}

const lookingVerbs: ReadonlySet<string> = new Set(['show', 'explain', 'why']);

/** What a program hands over where a command would be typed, by what follows the run there. */
const answersOf: Readonly<Record<string, ((rest: string) => string | undefined) | undefined>> = {
  resume: (rest) => {
    const [, word] = /^ --answer (\S+)$/.exec(rest) ?? [];
    return word === undefined || word.startsWith('"') ? word : JSON.stringify(word);
  },
  approve: () => 'true',
  reject: () => 'false',
  settle: (rest) => JSON.stringify(/ --(happened|did-not-happen|unknown)$/.exec(rest)?.[1] ?? 'unknown'),
};

/** Begun by the command line itself: see `agentNameOf`. */
function isOurs({ agent }: RunReading['row']): boolean {
  return agent.startsWith('rerail:');
}

type Say = (text: string, verb: string, rest?: string) => NextStep;

function speaker(runId: string, { command, storeFlag }: Pick<Typing, 'command' | 'storeFlag'>): Say {
  const name = shellWord(printable(runId));
  return (text, verb, rest = '') => ({
    text,
    verb,
    command: `${command} ${verb} ${name}${rest}${storeFlag}`,
  });
}

/** Its process is gone. Where that one was asking a person, the question stands. */
function interruptedSteps(reading: RunReading, say: Say): readonly NextStep[] {
  const request = openQuestion(reading);
  // A person who resumes it in its program is asked there.
  return request === undefined || isElsewhere(reading)
    ? [say('resume from where it was', 'resume')]
    : questionSteps(request, say);
}

function parkedSteps(reading: RunReading, say: Say): readonly NextStep[] {
  const request = openQuestion(reading);
  if (request !== undefined && request.type !== 'mend') return questionSteps(request, say);
  const crashed = reading.row.crashes > 0;
  return [
    say('see what it did last', 'show', ' --events'),
    say(crashed ? 'resume, once the cause of the crashes is fixed' : 'resume it here', 'resume'),
  ];
}

function waitingSteps(reading: RunReading, say: Say, nowMs: number): readonly NextStep[] {
  if (hasAnswer(reading)) return [say('an answer is on record: resume it', 'resume')];
  const waiting = latest(reading.items, 'suspended');
  // The process that asked may have asked a person itself: then its record ends with the question.
  const request = openQuestion(reading) ?? waiting?.request;
  if (request !== undefined && request.type !== 'mend') {
    if (request.type === 'approval' && request.expiresAt < nowMs)
      return [say('it expired, so approval is denied: resume without the call', 'reject', callFlag(request))];
    return questionSteps(request, say);
  }
  const from = waiting?.resumeAt;
  const when = from !== undefined && from > nowMs ? `, from ${momentText(from)} on` : '';
  const fixed = request === undefined ? '' : ', once it is fixed';
  return [say(`resume${fixed}${when}`, 'resume')];
}

function questionSteps(request: PersonRequest, say: Say): readonly NextStep[] {
  if (request.type === 'question') return [say('answer it, and resume', 'resume', ' --answer "…"')];
  if (request.type !== 'in-doubt') {
    return [
      say('approve it, and resume', 'approve', callFlag(request)),
      say('deny it, and resume', 'reject', `${callFlag(request)} --reason "…"`),
    ];
  }
  return [
    say('check outside whether it happened. If it did', 'settle', `${callFlag(request)} --happened`),
    say('if it did not, it is done now', 'settle', `${callFlag(request)} --did-not-happen`),
    say('if it is not known, the model is informed', 'settle', `${callFlag(request)} --unknown`),
  ];
}

/** The question that stands open at the end of the record. */
export function openQuestion({ items, phase }: RunReading): PersonRequest | undefined {
  if (phase === 'suspended') return latest(items, 'suspended')?.request;
  return phase === 'asking' ? latest(items, 'question')?.request : undefined;
}

/** There is an answer, and no process has read it yet. */
export function hasAnswer({ pending }: RunReading): boolean {
  return pending.some(({ name }) => name === 'resume');
}
