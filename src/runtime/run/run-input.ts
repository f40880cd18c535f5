import { repairHistory } from '../../agent/tools/repair-history.ts';
import type { RunAnswer } from '../../agent/approval/run-answer.ts';
import type { RunEvent } from '../../agent/run-event.ts';
import { isRecord } from '../../base/json.ts';
import { configError } from '../../errors/config-error.ts';
import { createFailure } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { checkRequest } from '../../model/check/check-request.ts';
import type { Message, UserPart } from '../../model/message.ts';
import type { ToolChoice } from '../../model/request.ts';
import type { Tool } from '../../model/tool.ts';
import type { AgentParts } from '../agent-parts.ts';
import type { Placed } from '../children/child-place.ts';
import type { DriveInput } from '../drive.ts';
import { aFlag, aFunction, anyValue, aSignal, checkOptions } from '../../model/check/check-options.ts';
import type { OptionRule, OptionsSpec } from '../../model/check/check-options.ts';
import { someTools } from '../../model/define-tool.ts';

/** What a run is asked: a text, or a conversation whose last message is the question. */
export type RunInput = string | readonly Message[];

export interface RunOptions extends Placed {
  readonly signal?: AbortSignal;
  /** A name of your own; a second run of that name is the first one. */
  readonly runId?: string;
  /** A conversation across runs: what was said in it before comes first, and this run is added to it. Needs a store. */
  readonly sessionId?: string;
  /** Tools for this run, besides the agent's own. A name that the agent has already is refused. See `ResumeOptions`. */
  readonly tools?: readonly Tool[];
  /** Instead of the agent's `toolChoice`, for this run. */
  readonly toolChoice?: ToolChoice;
  /** Receives everything, every piece of text included. What it throws is noted and never touches the run. */
  readonly onEvent?: (event: RunEvent) => void | Promise<void>;
}

/** A take-over goes to where the record of the run ends; to answer what it asks there is another step. */
export interface TakeOverOptions extends Omit<ResumeOptions, 'answer'> {
  /**
   * The record was written by a program of yours and came here unchanged: approvals and answers in it count. By default they do not, and
   * what they were about is asked again.
   */
  readonly trusted?: boolean;
}

/** A stored run that was begun with `tools` of its own needs them again: functions are not on record. */
export interface ResumeOptions extends Omit<RunOptions, 'runId' | 'sessionId' | 'toolChoice'> {
  /** What the person said who was asked. One of a form that means nothing is refused, and the question stays open. */
  readonly answer?: RunAnswer;
}

type OptionsOf = 'run' | 'resume' | 'takeOver';

/** Throws a `ConfigError` for options that make no sense, before anything is done. */
export function checkRunOptions(options: unknown, kind: OptionsOf): void {
  checkOptions({ of: `${kind}()`, rules: optionRules[kind] }, options);
}

const aName: OptionRule = {
  isLegal: (value) => typeof value === 'string' && value !== '' && value.length <= 200,
  expected: 'a text of 1 to 200 characters',
};
const watching = { signal: aSignal, onEvent: aFunction, tools: someTools };

const optionRules: Readonly<Record<OptionsOf, OptionsSpec['rules']>> = {
  run: { ...watching, runId: aName, sessionId: aName, toolChoice: anyValue },
  resume: { ...watching, answer: anyValue },
  takeOver: { ...watching, trusted: aFlag },
};

/** The conversation that a run begins with, repaired where providers would refuse it, or why it cannot begin. */
export function readInput(parts: AgentParts, input: unknown): Extract<DriveInput, { type: 'start' }> {
  try {
    return readGiven(parts, input);
  } catch {
    return refuse('The input cannot be read: pass plain objects, lists and texts'); // A Proxy that throws.
  }
}

function readGiven(parts: AgentParts, input: unknown): Extract<DriveInput, { type: 'start' }> {
  if (typeof input === 'string') {
    if (input.trim() === '') return refuse('The input is empty: there is nothing to do');
    return { type: 'start', messages: [{ role: 'user', content: input }], repairs: [] };
  }
  if (!Array.isArray(input))
    return refuse(
      `The input must be a text or a list of messages, got ${input === null ? 'null' : typeof input}`,
    );
  const given = copyMessages(input as readonly Message[]);
  if (given === undefined) return refuse('The messages cannot be read: pass plain objects, lists and texts');
  const { messages, repairs } = repairHistory(given);
  if (messages.length === 0) return refuse('The input is an empty list: there is nothing to do');
  const failure = checkInput(parts, messages);
  return failure === undefined
    ? { type: 'start', messages, repairs }
    : { type: 'start', messages: [], repairs: [], refused: failure };
}

/** A copy, so that what the caller does to his own list afterwards is his affair. */
function copyMessages(messages: readonly Message[]): readonly Message[] | undefined {
  try {
    return structuredClone(messages);
  } catch {
    return undefined; // A function or a Proxy among them: nothing that could be sent.
  }
}

function refuse(message: string): Extract<DriveInput, { type: 'start' }> {
  const hint = 'Pass the task of the agent, as a text or as messages.';
  const refused = createFailure('CONFIG_ERROR', {
    origin: 'config',
    message: `Cannot start this run. ${message}`,
    hint,
  });
  return { type: 'start', messages: [], repairs: [], refused };
}

/** What one of the models would not take, if there is something. */
function checkInput({ models }: AgentParts, messages: readonly Message[]): Failure | undefined {
  for (const model of models) {
    const failure = checkRequest(model, { messages });
    if (failure !== undefined) return failure;
  }
  return undefined;
}

/** A message to put into a run. Throws a `ConfigError` for what no model would take. */
export function readMessage(parts: AgentParts, given: string | readonly UserPart[] | Message): Message {
  const message: Message = isMessage(given) ? given : { role: 'user', content: given };
  const failure = checkInput(parts, [message]);
  if (failure !== undefined) throw RerailError.from(failure);
  if (message.role !== 'user')
    throw configError(`Only messages of the role "user" can be put into a run, got "${message.role}"`);
  return message;
}

function isMessage(message: unknown): message is Message {
  return isRecord(message) && typeof message['role'] === 'string';
}
