import type { RunOutcome } from '../agent/run-outcome.ts';
import { configError } from '../errors/config-error.ts';
import { showValue } from '../model/check/show-value.ts';
import type { Message, UserPart } from '../model/message.ts';
import type { Parsed, Schema } from '../model/tool.ts';
import { resolveAgent } from './agent-options.ts';
import type { AgentOptions, AgentSeams } from './agent-options.ts';
import type { AgentParts } from './agent-parts.ts';
import { createHostedRuns } from './hosted/hosted-runs.ts';
import { rememberInternals } from './agent-internals.ts';
import { createAgentRuns } from './run/agent-runs.ts';
import type { AgentRuns } from './run/agent-runs.ts';
import type { RunSnapshot } from './record/journal.ts';
import { mergeExtras } from './children/inherited.ts';
import type { AgentExtras } from './children/inherited.ts';
import type { ResumeOptions, RunInput, RunOptions, TakeOverOptions } from './run/run-input.ts';
import { answerText, throwUnlessCompleted } from './run/outcome-text.ts';
import type { RunStream } from './watch/run-stream.ts';

/** An agent: runs end in a typed outcome, whatever the model and the tools do. */
export interface Agent<Output = string> {
  readonly name: string;
  /** Runs to a typed outcome. Never rejects for a failure. */
  readonly run: (input: RunInput, options?: RunOptions) => Promise<RunOutcome<Output>>;
  /** The completed outcome; anything else is thrown as a `RerailError`. */
  readonly runOrThrow: (input: RunInput, options?: RunOptions) => Promise<Completed<Output>>;
  /** The answer as a text, or the message for a person. */
  readonly ask: (input: RunInput, options?: RunOptions) => Promise<string>;
  /** The run as it happens. */
  readonly stream: (input: RunInput, options?: RunOptions) => RunStream<Output>;
  /** Continues a run: after a suspension, with the answer to its question; after a failure or a cancellation. */
  readonly resume: (runId: string, options?: ResumeOptions) => Promise<RunOutcome<Output>>;
  /** Stops a run. Does nothing where it has ended. */
  readonly cancel: (runId: string, reason?: string) => Promise<void>;
  /** Releases a stored run without ending it: it continues where a process resumes it, such as a worker. */
  readonly release: (runId: string) => Promise<void>;
  /** What is on record of a run, in a form with which any store and any engine can continue: see `takeOver`. */
  readonly journal: (runId: string) => Promise<RunSnapshot | undefined>;
  /**
   * Continues a run of another backend, from what `journal` gave there: nothing that is on record is done again. The caller
   * states that no process runs it there any more: cancel it there first, and resume it here.
   */
  readonly takeOver: (record: RunSnapshot, options?: TakeOverOptions) => Promise<RunOutcome<Output>>;
  /** Puts a message into a run that is under way: the model sees it at its next turn. */
  readonly inject: (runId: string, message: string | readonly UserPart[] | Message) => Promise<void>;
  /** With an engine: executes the runs that it hands to this process, until `close`. Without one there is nothing to do. */
  readonly serve: () => Promise<void>;
  /** Executes no runs any more. Those of an engine or a store continue elsewhere; others are cancelled. */
  readonly close: () => Promise<void>;
}

export type Completed<Output> = Extract<RunOutcome<Output>, { type: 'completed' }>;

type OutputOf<S extends Schema> = [S] extends [never] ? string : Parsed<S>;

/**
 * Makes an agent. Throws a `ConfigError` for what can never work, before anything is sent.
 *
 * @example
 * const agent = createAgent({ model: openai('gpt-5.2'), instructions: 'You help customers.', tools: [refund] });
 * const outcome = await agent.run('Refund order 17');
 */
export function createAgent<S extends Schema = never>(options: AgentOptions<S>): Agent<OutputOf<S>> {
  return makeAgent(options) as Agent<OutputOf<S>>; // The output was checked against the schema whose type this is.
}

/** The same for flows, plans and teams, which give it more than a caller can. */
export function makeAgent(options: AgentOptions<Schema>, extras: AgentExtras = {}): Agent<unknown> {
  return agentOf((more) => {
    const whole = mergeExtras(extras, more);
    const resolve = (seams: AgentSeams, ofRun?: AgentExtras): AgentParts =>
      resolveAgent(options, seams, ofRun === undefined ? whole : mergeExtras(whole, ofRun));
    return options.engine === undefined
      ? createAgentRuns(resolve)
      : createHostedRuns(resolve, options.engine);
  });
}

/** The public face of whatever makes such runs. */
export function agentOf(make: (extras: AgentExtras) => AgentRuns): Agent<unknown> {
  const runs = make({});
  const run = (input: RunInput, given?: RunOptions): Promise<RunOutcome> => runs.run(input, given);
  const agent: Agent<unknown> = {
    name: runs.name,
    run,
    runOrThrow: async (input, given) => throwUnlessCompleted(await run(input, given)),
    ask: async (input, given) => answerText(await run(input, given)),
    stream: (input, given) => runs.stream(input, given),
    resume: async (runId, given) => runs.resume(checkId(runId), given),
    cancel: async (runId, reason) => runs.cancel(checkId(runId), reason),
    release: async (runId) => runs.release(checkId(runId)),
    journal: async (runId) => runs.journal(checkId(runId)),
    takeOver: async (record, given) => runs.takeOver(record, given),
    inject: async (runId, message) => runs.inject(checkId(runId), message),
    serve: () => runs.serve(),
    close: () => runs.close(),
  };
  const { parts, isHosted } = runs;
  const { setup } = parts;
  rememberInternals(agent, {
    parts,
    isHosted,
    make: (more) => make(setup === undefined ? more : { ...more, setup }),
  });
  return agent;
}

function checkId(runId: unknown): string {
  if (typeof runId === 'string' && runId !== '') return runId;
  throw configError(`A run is named by the text in its outcome's "runId", got ${showValue(runId)}`);
}
