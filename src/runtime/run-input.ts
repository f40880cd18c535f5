import type { PersonAnswer } from '../agent/event.ts';
import { repairHistory } from '../agent/repair-history.ts';
import type { RunEvent } from '../agent/run-event.ts';
import { isRecord } from '../base/json.ts';
import { nearestNames } from '../base/nearest.ts';
import { toPlainJson } from '../base/plain-json.ts';
import { configError } from '../errors/config-error.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';
import { checkRequest } from '../model/check-request.ts';
import type { Message, UserPart } from '../model/message.ts';
import type { AgentParts } from './agent-parts.ts';
import type { Placed } from './child-place.ts';
import type { DriveInput } from './drive.ts';

/** What a run is asked: a text, or a conversation whose last message is the question. */
export type RunInput = string | readonly Message[];

export interface RunOptions extends Placed {
  readonly signal?: AbortSignal;
  /** A name of your own; a second run of that name is the first one. */
  readonly runId?: string;
  /** A conversation across runs: what was said in it before comes first, and this run is added to it. Needs a store. */
  readonly sessionId?: string;
  /** Hears everything, every piece of text included. What it throws is noted and never touches the run. */
  readonly onEvent?: (event: RunEvent) => void | Promise<void>;
}

/** Whoever takes a run over goes to where its record ends; to answer what it asks there is another step. */
export interface TakeOverOptions extends Omit<ResumeOptions, 'answer'> {
  /**
   * The record was written by a program of yours and came here unchanged: approvals and answers in it count. Unless told, they do not, and
   * what they were about is asked again.
   */
  readonly trusted?: boolean;
}

export interface ResumeOptions extends Omit<RunOptions, 'runId' | 'sessionId'> {
  /** What the person said who was asked. */
  readonly answer?: unknown;
}

type OptionsOf = 'run' | 'resume' | 'takeOver';

/** Throws a `ConfigError` for options that make no sense, before anything is done. */
export function checkRunOptions(options: unknown, kind: OptionsOf): void {
  if (!isRecord(options))
    throw configError(`The options of ${kind}() must be an object, got ${String(options)}`);
  const known = optionNames[kind];
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (!known.includes(name)) {
      const [nearest] = nearestNames(name, known);
      const advice = nearest === undefined ? `known are ${known.join(', ')}` : `did you mean "${nearest}"?`;
      throw configError(`There is no option "${name}" of ${kind}(): ${advice}`);
    }
  }
  const { signal, runId, onEvent } = options;
  if (
    signal !== undefined &&
    !(
      isRecord(signal) &&
      typeof signal['aborted'] === 'boolean' &&
      typeof signal['addEventListener'] === 'function'
    )
  )
    throw configError('"signal" must be an AbortSignal: of a controller, hand in its "signal"');
  if (runId !== undefined && (typeof runId !== 'string' || runId === '' || runId.length > 200))
    throw configError(
      `"runId" must be a text of 1 to 200 characters, got ${typeof runId === 'string' ? `one of ${runId.length}` : typeof runId}`,
    );
  const { sessionId, trusted } = options;
  if (trusted !== undefined && typeof trusted !== 'boolean')
    throw configError('"trusted" must be true or false');
  if (
    sessionId !== undefined &&
    (typeof sessionId !== 'string' || sessionId === '' || sessionId.length > 200)
  )
    throw configError('"sessionId" must be a text of 1 to 200 characters');
  if (onEvent !== undefined && typeof onEvent !== 'function')
    throw configError('"onEvent" must be a function');
}

const optionNames: Readonly<Record<OptionsOf, readonly string[]>> = {
  run: ['signal', 'runId', 'sessionId', 'onEvent'],
  resume: ['signal', 'answer', 'onEvent'],
  takeOver: ['signal', 'onEvent', 'trusted'],
};

/** The conversation that a run begins with, repaired where providers would refuse it, or why it cannot begin. */
export function readInput(parts: AgentParts, input: unknown): Extract<DriveInput, { type: 'start' }> {
  try {
    return readGiven(parts, input);
  } catch {
    return refuse('The input cannot be read: hand in plain objects, lists and texts'); // A Proxy that throws.
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
  if (given === undefined)
    return refuse('The messages cannot be read: hand in plain objects, lists and texts');
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
  const hint = 'Hand in what the agent should do, as a text or as messages.';
  const refused = createFailure('CONFIG_ERROR', {
    origin: 'config',
    message: `Cannot begin this run. ${message}`,
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

const answerBounds = {
  maxDepth: 16,
  maxMembers: 10_000,
  boundText: (text: string) => text.slice(0, 1_000_000),
};

/** The answer of a person, as JSON. */
export function readAnswer(options: ResumeOptions): PersonAnswer {
  return options.answer === undefined
    ? { given: false }
    : { given: true, value: toPlainJson(options.answer, answerBounds) };
}
