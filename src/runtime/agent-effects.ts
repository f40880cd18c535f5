import { hookFailed } from '../agent/hooks/hook-failure.ts';
import type { HookPoint } from '../agent/hooks/hook.ts';
import type { PersonRequest } from '../agent/run-outcome.ts';
import type { PersonAnswer } from '../agent/event.ts';
import type { Json } from '../base/json.ts';
import { classifyFailure } from '../errors/classify-failure.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { ownerNamed } from '../model/stray-errors.ts';
import type { AgentParts } from './agent-parts.ts';
import { configFor } from './children/child-place.ts';
import { makeCompaction } from './run/compact-effect.ts';
import { performConductEffect } from './children/conduct-effect.ts';
import type { Effect, EffectContext, EffectEnd, SignalMessage } from './record/durable.ts';
import { makeExplanation } from './run/explain-effect.ts';
import { callHook } from './hooks/hook-call.ts';
import { publish } from './run/live-run.ts';
import type { LiveRun } from './run/live-run.ts';
import { performModelEffect } from './model-call/model-effect.ts';
import type { ModelEffectInput } from './model-call/model-effect.ts';
import { isAbout } from './run/resume-payload.ts';
import type { ResumePayload } from './run/resume-payload.ts';
import { performSelectEffect } from './run/select-effect.ts';
import { takeAnswer } from './run/take-answer.ts';
import { createToolEffects } from './tool-call/tool-effects.ts';
import type { Report, ToolEffectInput } from './tool-call/tool-effects.ts';

interface EffectDeps {
  readonly liveOf: (runId: string) => LiveRun | undefined;
  readonly onBackground: Report;
}

/** All that an agent's runs do to the world, by name. */
export function createAgentEffects(
  parts: AgentParts,
  { liveOf, onBackground }: EffectDeps,
): Readonly<Record<string, Effect>> {
  const tools = createToolEffects(parts, onBackground);
  const within =
    (
      effect: (live: LiveRun, input: Json, context: EffectContext) => Promise<EffectEnd> | EffectEnd,
    ): Effect =>
    (input, context) => {
      const live = liveOf(context.runId);
      if (live === undefined) return goneEnd(context.runId);
      live.isQuiet = false;
      live.isUntouched = false;
      return effect(live, input, context);
    };
  // The inputs are those of `perform.ts`: one form per effect.
  return {
    model: within((live, input, context) =>
      performModelEffect(live.parts ?? parts, live, { input: input as unknown as ModelEffectInput, context }),
    ),
    select: within((live, input, { signal }) => {
      const { turn } = input as unknown as { readonly turn: number };
      return performSelectEffect(live.parts ?? parts, live, { turn, signal });
    }),
    conduct: within((live, _input, context) => performConductEffect(parts, live, context)),
    intend: within((live, input) => tools.intend(live, input as unknown as { readonly timeoutMs: number })),
    tool: within((live, input, context) => tools.run(live, input as unknown as ToolEffectInput, context)),
    verify: within((live, input, context) =>
      tools.verify(live, input as unknown as ToolEffectInput, context),
    ),
    compact: within((live, _input, { signal }) => compact(live.parts ?? parts, live, signal)),
    hook: within(async (live, input, { signal }) => {
      const { point, index } = input as unknown as { readonly point: HookPoint; readonly index: number };
      const moment = live.moments.get(`${point}:${index}`);
      live.moments.delete(`${point}:${index}`);
      if (moment === undefined) return goneEnd(live.runId);
      const verdict = await parts.hooks.run(point, moment, { signal });
      // What was not changed is not recorded again: it would hold the whole conversation at every turn.
      const isPlain = verdict.type === 'continue' && verdict.modifiedBy.length === 0;
      const value = isPlain ? { type: 'continue', modifiedBy: [] } : verdict;
      return { type: 'done', value: value as unknown as Json }; // Moments and verdicts are plain data.
    }),
    explain: within(async (live, _input, context) => {
      const value = await makeExplanation(parts, live, context);
      return { type: 'done', value: value as unknown as Json }; // Explanations and ledgers are plain data.
    }),
    ask: within((live, input, context) => askPerson(parts, live, { input, context })),
    adopt: within((live) => adoptRun(live.parts ?? parts, live)),
  };
}

async function compact(parts: AgentParts, live: LiveRun, signal: AbortSignal): Promise<EffectEnd> {
  const startMs = parts.clock.monotonicMs();
  const made = await makeCompaction(parts, live, { signal });
  const value = { made, tookMs: parts.clock.monotonicMs() - startMs };
  return { type: 'done', value: value as unknown as Json }; // Plans, failures and ledgers are plain data.
}

/** What takes the place of limits and rules on record. */
function adoptRun(parts: AgentParts, { provenance, bounds: own }: LiveRun): EffectEnd {
  const value = { config: configFor(parts, own), wallMs: parts.clock.wallMs(), provenance };
  return { type: 'done', value: value as unknown as Json }; // A configuration is JSON.
}

interface AskEffect {
  readonly input: Json;
  readonly context: EffectContext;
}

async function askPerson(
  parts: AgentParts,
  live: LiveRun,
  { input, context }: AskEffect,
): Promise<EffectEnd> {
  const { signal, pending } = context;
  const { request } = input as unknown as { readonly request: PersonRequest };
  // A person has answered while no process ran the run. What is not taken here would answer another question later.
  const kept = answerIn(pending('resume'), request, live.runId);
  const answer = kept ?? (await askCallback(parts, live, { request, signal }));
  // It cannot be an answer: the question stays open, outside the process.
  if (answer === 'refused') return { type: 'done', value: { isRefused: true } };
  // A cancelled run is no denial: the question stands, and is asked again where a process continues the run.
  if (!answer.given && signal.aborted) throw signal.reason;
  const late = pending('resume');
  const here = live.provenance === undefined ? {} : { provenance: live.provenance };
  const value = { answer, wallMs: parts.clock.wallMs(), ...here } as unknown as Json; // Read as JSON.
  return late.length === 0
    ? { type: 'done', value }
    : { type: 'done', value, took: late.map(({ id }) => id) };
}

function answerIn(
  waiting: readonly SignalMessage[],
  request: PersonRequest,
  runId: string,
): PersonAnswer | undefined {
  const payloads = waiting.map(({ payload }) => payload as unknown as ResumePayload); // Its one form.
  return payloads.find(({ answer, about }) => answer.given && isAbout(about, request, runId))?.answer;
}

/** A program that continues in another process has to build its runs there first. */
function goneEnd(runId: string): EffectEnd {
  const message = `The run "${runId}" is not in this process`;
  return { type: 'failed', failure: createFailure('INVALID_STATE', { origin: 'agent', message }) };
}

interface Asking {
  readonly request: PersonRequest;
  readonly signal: AbortSignal;
}

/**
 * Asks the caller's function as long as the question stands. What it throws is reported; that, and silence, is no answer. What it answers is
 * refused where it means nothing, and reported.
 */
async function askCallback(
  parts: AgentParts,
  live: LiveRun,
  { request, signal }: Asking,
): Promise<PersonAnswer | 'refused'> {
  const { approve, clock, config, strayErrors } = parts;
  const { approvalTimeoutMs } = config.limits;
  const timeoutMs =
    request.type === 'approval' ? Math.max(0, request.expiresAt - clock.wallMs()) : approvalTimeoutMs;
  const place = { hook: 'onApproval', kind: 'observer', point: 'approval' } as const;
  const report = (failure: Failure): void => {
    publish(live, { type: 'hook-failed', hook: place.hook, point: place.point, failure });
  };
  const owner = ownerNamed('The callback "onApproval"', { strayErrors, report });
  const end = await callHook((context) => approve?.(request, context), { clock, timeoutMs, signal, owner });
  if (end.type === 'threw') report(hookFailed(place, end));
  if (end.type !== 'answered' || end.answer === undefined) return { given: false };
  try {
    return await takeAnswer(parts, end.answer, { runId: live.runId, request, signal });
  } catch (error) {
    if (signal.aborted) throw error;
    report(classifyFailure(error, 'hook'));
    return 'refused';
  }
}
