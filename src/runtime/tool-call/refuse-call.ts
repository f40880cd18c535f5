import type { PreparedCall, ToolEnd } from '../../agent/tools/tool-call.ts';
import { fingerprint } from '../../base/hash.ts';
import { clean, createFailure } from '../../errors/failure.ts';
import type { Cause, Failure } from '../../errors/failure.ts';
import type { InvalidInput } from '../../model/tool.ts';
import { findJsonFault } from '../model-call/json-fault.ts';
import type { ToolRegistry } from './tool-registry.ts';

/** A call as far as its refusal names it. */
interface Refusable {
  readonly callId: string;
  readonly name: string;
}

/** A call of a tool that is not there; `written` is its name as the model wrote it. */
export function refuseUnknown(
  call: Refusable,
  { findUnknown, names }: ToolRegistry,
  written: string,
): PreparedCall {
  const failure = findUnknown(written);
  const advice = names.length === 0 ? 'Answer without tools.' : 'Call one of them by its exact name.';
  return refuse(call, { failure, words: `${failure.message} ${notRun} ${advice}` });
}

/** A call of a tool that is not there for now. */
export function refuseWithdrawn(call: Refusable, why: string): PreparedCall {
  const message = `The tool "${call.name}" is withdrawn for now: ${endless(why)}.`;
  const failure = failureOf('TOOL_NOT_FOUND', call, { message, isWithdrawn: true });
  return refuse(call, { failure, words: `${message} ${notRun} Use another tool, or continue without it.` });
}

/** A call with more arguments than are looked at. */
export function refuseTooLong(
  call: Refusable & { readonly argumentsText: string },
  limit: number,
): PreparedCall {
  const length = call.argumentsText.length;
  return refuseUnreadable(call, `The arguments have ${length} characters; at most ${limit} are read`);
}

/** A call whose arguments are no JSON. */
export function refuseUnreadable(call: Refusable, reason: string): PreparedCall {
  const message = `Cannot run tool "${call.name}": ${endless(reason)}`;
  const failure = failureOf('VALIDATION_ERROR', call, { message });
  const words = `${message}.\n${notRun} Call it again with a complete JSON object as arguments.`;
  return refuse(call, { failure, words });
}

/** Why a text is no JSON, with the place. Engines put it in different words, and not all of them name the place. */
export function describeUnreadable(argumentsText: string, reason: string): string {
  if (!reason.startsWith('The arguments are not JSON')) return reason;
  const place = findJsonFault(argumentsText);
  if (place >= argumentsText.length || /unterminated|unexpected end/i.test(reason)) {
    return `The arguments are not JSON: they end in the middle, at position ${argumentsText.length}`;
  }
  const seen = JSON.stringify(argumentsText.slice(place, place + maxExcerptCharacters));
  return `The arguments are not JSON: ${seen} is not allowed at position ${place}`;
}

const maxExcerptCharacters = 20;

/** A call whose arguments do not fit their schema. */
export function refuseArguments(
  call: Refusable,
  { issues, causes = [] }: InvalidInput,
  isEmpty: boolean,
): PreparedCall {
  const lines = issues.map(({ path, message }) => `- ${path === '' ? 'the arguments' : path}: ${message}`);
  const problem = isEmpty ? 'it was called without arguments, but needs some' : 'the arguments do not fit';
  const message = `Cannot run tool "${call.name}": ${problem}:\n${lines.join('\n')}`;
  const failure = failureOf('VALIDATION_ERROR', call, { message, issues: issues.length, causes });
  return refuse(call, { failure, words: `${message}\n${notRun} Correct the arguments and call it again.` });
}

/** A call that a rule forbids. */
export function refuseDenied(call: Refusable, why: string | undefined): PreparedCall {
  const reason = why === undefined ? '' : `: ${endless(why)}`;
  const message = `The tool "${call.name}" may not be called like this${reason}.`;
  const failure = failureOf('PERMISSION_DENIED', call, { message });
  const words = `${message} ${notRun} Do not try the same again; choose another way or say that it is not allowed.`;
  return refuse(call, { failure, words, type: 'denied' });
}

/** Calls that are too many. They share one failure, for there may be thousands. */
export function refuseSurplus(calls: readonly Refusable[], why: string): readonly PreparedCall[] {
  if (calls.length === 0) return [];
  const message = `This call was not run: ${why}`;
  const failure = createFailure('BUDGET_EXCEEDED', {
    origin: 'agent',
    message,
    sideEffect: 'none',
    context: { notRun: calls.length },
  });
  const words = `${message}. Continue with the results that you have, or say what is missing.`;
  const end = endOf({ failure, words });
  return calls.map((call) => refusedBy(call, end));
}

const notRun = 'Nothing was run.';
const maxContentCharacters = 4000;

interface Facts {
  readonly message: string;
  readonly isWithdrawn?: true;
  readonly issues?: number;
  readonly causes?: readonly Cause[];
}

function failureOf(
  code: 'TOOL_NOT_FOUND' | 'VALIDATION_ERROR' | 'PERMISSION_DENIED',
  { name }: Refusable,
  { message, causes = [], ...facts }: Facts,
): Failure {
  const context = { tool: name, ...facts };
  return createFailure(code, {
    origin: 'tool',
    message,
    phase: 'parse',
    sideEffect: 'none',
    context,
    causes,
  });
}

function endless(sentence: string): string {
  return sentence.replace(/[.\s]+$/, '');
}

interface Refusal {
  readonly failure: Failure;
  /** For the model: what was wrong, that nothing ran, what to change. */
  readonly words: string;
  readonly type?: ToolEnd['type'];
}

function refuse(call: Refusable, refusal: Refusal): PreparedCall {
  return refusedBy(call, endOf(refusal));
}

function endOf({ failure, words, type = 'failed' }: Refusal): Omit<ToolEnd, 'callId' | 'name'> {
  // The model's own words come back in it, and what a rule or a schema says: secrets stay out of both.
  const content = clean(words, maxContentCharacters);
  return { type, content, failure, resultHash: fingerprint(content), durationMs: 0 };
}

function refusedBy({ callId, name }: Refusable, end: Omit<ToolEnd, 'callId' | 'name'>): PreparedCall {
  return { callId, name, type: 'refused', end: { callId, name, ...end } };
}
