import type { HookPoint } from '../agent/hook.ts';
import type { PersonRequest } from '../agent/run-outcome.ts';
import type { PersonAnswer } from '../agent/event.ts';
import { toPlainJson } from '../base/plain-json.ts';
import { onAbort } from '../base/abort.ts';
import type { Cancel } from '../base/clock.ts';
import type { Json } from '../base/json.ts';
import { createFailure } from '../errors/failure.ts';
import type { AgentParts } from './agent-parts.ts';
import type { Effect, EffectContext, EffectEnd } from './durable.ts';
import type { LiveRun } from './live-run.ts';
import { performModelEffect } from './model-effect.ts';
import type { ModelEffectInput } from './model-effect.ts';
import { createToolEffects } from './tool-effects.ts';
import type { Report, ToolEffectInput } from './tool-effects.ts';

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
    (effect: (live: LiveRun, input: Json, context: EffectContext) => Promise<EffectEnd>): Effect =>
    (input, context) => {
      const live = liveOf(context.runId);
      return live === undefined ? goneEnd(context.runId) : effect(live, input, context);
    };
  // The inputs are those of `perform.ts`: one form per effect.
  return {
    model: within((live, input, context) =>
      performModelEffect(parts, live, { input: input as unknown as ModelEffectInput, context }),
    ),
    intend: (input) => tools.intend(input as unknown as { readonly timeoutMs: number }),
    tool: within((live, input, context) => tools.run(live, input as unknown as ToolEffectInput, context)),
    verify: within((live, input, context) =>
      tools.verify(live, input as unknown as ToolEffectInput, context),
    ),
    hook: within(async (live, input, { signal }) => {
      const { point, index } = input as unknown as { readonly point: HookPoint; readonly index: number };
      const moment = live.moments.get(`${point}:${index}`);
      live.moments.delete(`${point}:${index}`);
      if (moment === undefined) return goneEnd(live.runId);
      const verdict = await parts.hooks.run(point, moment, { signal });
      // What nobody changed is not written down again: it would hold the whole conversation at every turn.
      const isPlain = verdict.type === 'continue' && verdict.modifiedBy.length === 0;
      const value = isPlain ? { type: 'continue', modifiedBy: [] } : verdict;
      return { type: 'done', value: value as unknown as Json }; // Moments and verdicts are plain data.
    }),
    ask: within(async (_live, input, { signal }) => {
      const { request } = input as unknown as { readonly request: PersonRequest };
      const answer = await askCallback(parts, request, signal);
      return { type: 'done', value: { answer, wallMs: parts.clock.wallMs() } as unknown as Json }; // Read as JSON.
    }),
  };
}

/** A program that goes on in another process has to build its runs there first. */
function goneEnd(runId: string): EffectEnd {
  const message = `The run "${runId}" is not in this process`;
  return { type: 'failed', failure: createFailure('INVALID_STATE', { origin: 'agent', message }) };
}

const bounds = { maxDepth: 8, maxMembers: 200, boundText: (text: string) => text.slice(0, 10_000) };

/** Asks the caller's function as long as the question stands. What it throws, or does not answer, is no answer. */
function askCallback(parts: AgentParts, request: PersonRequest, signal: AbortSignal): Promise<PersonAnswer> {
  const { approve, clock, config } = parts;
  const wallMs = clock.wallMs();
  const leftMs =
    request.type === 'approval' ? Math.max(0, request.expiresAt - wallMs) : config.limits.approvalTimeoutMs;
  const controller = new AbortController();
  return new Promise((resolve) => {
    let cancelTimer: Cancel = () => undefined;
    let stopListening: Cancel = () => undefined;
    const end = (answer: PersonAnswer): void => {
      cancelTimer();
      stopListening();
      resolve(answer);
      controller.abort();
    };
    cancelTimer = clock.after(leftMs, () => end({ given: false }));
    stopListening = onAbort(signal, () => end({ given: false }));
    Promise.resolve()
      .then(() => approve?.(request, { signal: controller.signal }))
      .then(
        (value) =>
          end(value === undefined ? { given: false } : { given: true, value: toPlainJson(value, bounds) }),
        // A function that breaks has not said yes.
        () => end({ given: false }),
      );
  });
}
