import { changedField, checkAnswer } from '../../agent/approval/run-answer.ts';
import type { PersonAnswer } from '../../agent/event.ts';
import type { PersonRequest } from '../../agent/run-outcome.ts';
import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { toPlainJson } from '../../base/plain-json.ts';
import { configError } from '../../errors/config-error.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { InputCheck, SchemaIssue, Tool } from '../../model/tool.ts';
import type { AgentParts } from '../agent-parts.ts';
import { isThenable } from '../tool-call/bounded-work.ts';
import { childPlace } from '../children/child-place.ts';
import type { ResumeOptions } from './run-input.ts';
import { awaitSchema } from '../tool-call/schema-wait.ts';

/** What an answer is to. */
export interface AnswerPlace {
  readonly runId: string;
  /** The open question, where it is known. */
  readonly request: PersonRequest | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * An answer as it is recorded. Throws a `ConfigError` for one of a form that means nothing, and a `VALIDATION_ERROR` for changed arguments
 * that do not fit the tool: nothing is on record then, and the question stays open. A promise only where a schema takes its time.
 */
export function takeAnswer(
  parts: AgentParts,
  answer: unknown,
  place: AnswerPlace,
): PersonAnswer | Promise<PersonAnswer> {
  const { request, runId } = place;
  const check = checkAnswer(request, answer);
  if (check.type === 'misuse') throw misuse(request, check.problem);
  const { changed } = check;
  const given = isRecord(answer) ? withoutInput(answer) : answer;
  const plain = toPlainJson(given, answerBounds);
  if (request?.type !== 'approval' || changed === undefined || !isRecord(plain)) {
    // What names the call that is meant is compared with it, so it must not be cut.
    const named = isRecord(plain) && request !== undefined && 'input' in request && hasInput(answer);
    return { given: true, value: named ? { ...plain, input: request.input } : plain };
  }
  // The approval stays bound to the call as it was asked about.
  const value: Json = { hash: request.hash, ...plain, [changedField]: changed };
  const tools = toolsFor(parts, request, runId);
  return firstFit(tools, { parts, changed, request, signal: place.signal }, () => ({ given: true, value }));
}

/** The answer in the options of `resume`, as it is recorded; or that there is none. */
export function answerIn(
  parts: AgentParts,
  { answer, signal, [childPlace]: child }: ResumeOptions,
  place: Omit<AnswerPlace, 'signal'>,
): PersonAnswer | Promise<PersonAnswer> {
  if (answer === undefined) return { given: false };
  // The run above has taken it, and has it on record.
  if (child !== undefined) return { given: true, value: answer as Json };
  return takeAnswer(parts, answer, { ...place, signal });
}

function hasInput(answer: unknown): boolean {
  return isRecord(answer) && answer['approved'] === true && answer['input'] !== undefined;
}

function withoutInput(answer: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (answer['approved'] !== true) return answer;
  return Object.fromEntries(Object.entries(answer).filter(([name]) => name !== 'input'));
}

const answerBounds = {
  maxDepth: 16,
  maxMembers: 10_000,
  boundText: (text: string) => text.slice(0, 1_000_000),
};

type Approval = Extract<PersonRequest, { readonly type: 'approval' }>;

/** The tools that the request may be about: the run's own, or those of agents below it, which ask by way of it. */
function toolsFor(parts: AgentParts, { id, tool }: Approval, runId: string): readonly Tool[] {
  const isOwn = id.startsWith(`${runId}:`);
  const agents = isOwn ? new Set([parts]) : familyOf(parts, new Set());
  return [...agents].flatMap(({ registry }) => {
    const found = registry.get(tool);
    return found === undefined ? [] : [found];
  });
}

function familyOf(parts: AgentParts, seen: Set<AgentParts>): ReadonlySet<AgentParts> {
  if (seen.has(parts)) return seen;
  seen.add(parts);
  for (const { agent } of parts.nodes?.values() ?? []) if (agent !== undefined) familyOf(agent, seen);
  return seen;
}

interface Fitting {
  readonly parts: AgentParts;
  readonly changed: Json;
  readonly request: Approval;
  readonly signal: AbortSignal | undefined;
}

/** Where agents below have tools of the same name, one that takes it is enough: each call is checked again before it starts. */
function firstFit(
  [tool, ...others]: readonly Tool[],
  fitting: Fitting,
  take: () => PersonAnswer,
): PersonAnswer | Promise<PersonAnswer> {
  if (tool === undefined) return take();
  const { parts, changed, signal = new AbortController().signal } = fitting;
  const settle = (check: InputCheck): PersonAnswer | Promise<PersonAnswer> => {
    if (check.type === 'valid') return take();
    if (others.length > 0) return firstFit(others, fitting, take);
    throw unfit(fitting.request, check.issues);
  };
  const check = tool.parse(changed);
  return isThenable(check)
    ? awaitSchema(Promise.resolve(check), { clock: parts.clock, signal }).then(settle)
    : settle(check);
}

function misuse(request: PersonRequest | undefined, problem: string): RerailError {
  const about = request === undefined ? 'the run' : kinds[request.type];
  return configError(`The answer to ${about} means nothing: ${problem}`, {
    hint: 'Nothing was done, and the question is still open. Answer it again.',
  });
}

const kinds = {
  approval: 'an approval',
  'in-doubt': 'the question whether a call happened',
  question: 'a question',
  mend: 'the run',
} as const satisfies Record<PersonRequest['type'], string>;

function unfit({ tool }: Approval, issues: readonly SchemaIssue[]): RerailError {
  return RerailError.from(
    createFailure('VALIDATION_ERROR', {
      origin: 'tool',
      message: `Cannot approve the call of "${tool}" with these arguments: ${issueText(issues)}`,
      hint: 'Nothing was run, and the question is still open. Correct the arguments and answer it again.',
      sideEffect: 'none',
      context: { tool, issues: issues.length },
    }),
  );
}

/** What a schema says against arguments, in one line. */
export function issueText(issues: readonly SchemaIssue[]): string {
  return issues
    .slice(0, maxIssues)
    .map(({ path, message }) => (path === '' ? message : `"${path}" ${message}`))
    .join('; ');
}

const maxIssues = 5;
