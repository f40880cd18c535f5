import { assert } from '../base/assert.ts';
import type { Json } from '../base/json.ts';
import { lazy } from '../base/lazy.ts';
import { classifyFailure } from '../errors/classify-failure.ts';
import { createFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';
import { readSchema } from '../model/schema/schema.ts';
import type { ReadSchema } from '../model/schema/schema.ts';
import { callFunction } from '../runtime/hooks/call-function.ts';
import type { FunctionBounds } from '../runtime/hooks/call-function.ts';
import type {
  Conductor,
  ConductorCall,
  ConductorStep,
  ConductorView,
} from '../runtime/children/conductor.ts';
import { answerOfFlow } from './flow-answer.ts';
import { optionsOf } from './flow-fallbacks.ts';
import { frontOf, orderOf } from './flow-frontier.ts';
import type { FlowOrder, FrontNode } from './flow-frontier.ts';
import { createContexts, readStates, resultOf, standingOf } from './flow-results.ts';
import type { FlowParts, NodeStates, Standing } from './flow-results.ts';
import { reportFlow } from './flow-report.ts';
import { withRungs } from './flow-rungs.ts';
import type { FlowContext, FlowGraph, FlowNodeInput, NodeOptions } from './flow-types.ts';

// Rules. A node is ready when all that stand directly before it are settled: they succeeded, were skipped, or failed and may
// be done without. It runs even where none of them has a result; it learns which are missing and why, and its own `when`
// may decide otherwise. A failure that may not be done without ends the flow when the calls at its side have ended: they
// keep their results, and nothing new is begun. A flow that is continued calls again only what it failed at.

/** More than the machine takes in one step. */
const maxCallsPerStep = 64;

/** Decides for a flow: what is on record goes in, what to call next comes out. Throws a `ConfigError` for a bad `accepts`. */
export function createFlowConductor(
  graph: FlowGraph,
  options: Readonly<Record<string, NodeOptions>>,
): Conductor {
  const held: Held = { graph, options, order: orderOf(graph), accepts: readAccepts(graph, options) };
  return {
    decide: (view, bounds) => {
      const step = decide({ ...held, bounds }, view);
      return step instanceof Promise
        ? step.then((decided) => withRungs(held, view, decided))
        : withRungs(held, view, step);
    },
    report: (view, outcome) => reportFlow(held, view, outcome),
  };
}

interface Held extends FlowParts {
  readonly order: FlowOrder;
  readonly accepts: ReadonlyMap<string, ReadSchema['check']>;
}

/** With what the functions of its nodes are held to. */
interface Deciding extends Held {
  readonly bounds: FunctionBounds;
}

function readAccepts({ nodes }: FlowGraph, options: Held['options']): Held['accepts'] {
  const checks = new Map<string, ReadSchema['check']>();
  for (const { name } of nodes) {
    const accepts = optionsOf(options, name)?.accepts;
    if (accepts === undefined) continue;
    // No model is informed of it, so that a schema without a JSON Schema will do.
    checks.set(name, readSchema(accepts, `"accepts" of the node "${name}"`, { parameters: {} }).check);
  }
  return checks;
}

/** A promise only where a function of the caller, or a schema, is asked: each costs about as much as the rest. */
function decide(held: Deciding, view: ConductorView): ConductorStep | Promise<ConductorStep> {
  const front = frontOf(held, view);
  const broken = front.filter(({ standing }) => isBroken(held, view, standing));
  if (broken.length > 0) return failedStep(held, broken);
  const states = readStates(view);
  const last = front.length > 0 ? [] : held.graph.last;
  const ends = last.map((name) => [name, standingOf(held.options, states, name)] as const);
  const due: string[] = [];
  for (const { standing } of front) if (isDue(held, view, standing)) due.push(standing.by);
  // A last node that was settled without a result may have been called again, and broken off.
  for (const [, standing] of ends) if (isDue(held, view, standing)) due.push(standing.by);
  if (due.length > 0) return callDue(held, view, { due: due.slice(0, maxCallsPerStep), states });
  const [running] = front;
  assert(running === undefined, `The flow was asked to decide while its node "${running?.node.name}" runs`);
  return answerOfFlow(held, view, new Map(ends));
}

function onErrorOf({ options }: Held, name: string): NonNullable<NodeOptions['onError']> {
  return optionsOf(options, name)?.onError ?? 'fail';
}

function isBroken(held: Held, { resumes }: ConductorView, standing: Standing): boolean {
  if (standing.state.type !== 'failed') return false;
  return onErrorOf(held, standing.by) === 'fail' && standing.state.record.resumes >= resumes;
}

/** Several may have failed side by side: the first one is the flow's failure, and the others are named. */
function failedStep({ graph }: Held, broken: readonly FrontNode[]): ConductorStep {
  const [name = '', ...others] = broken.map(({ node }) => node.name);
  const standing = broken[0]?.standing;
  assert(standing?.state.type === 'failed', `The node "${name}" of the flow has not failed`);
  const { by, state } = standing;
  const instead = by === name ? '' : `, and so did "${by}" in its place`;
  const { failure } = state;
  return {
    type: 'fail',
    failure: createFailure(failure.code, {
      ...failure,
      message: `The node "${name}" of the flow "${graph.name}" failed${instead}: ${failure.message}`,
      context: {
        ...failure.context,
        flow: graph.name,
        node: name,
        ...(by === name ? {} : { fallback: by }),
        ...(others.length === 0 ? {} : { alsoFailed: others }),
      },
    }),
  };
}

/** Never called, broken off, or failed in an earlier life of the run. */
function isDue(held: Held, { resumes }: ConductorView, { by, state }: Standing): boolean {
  if (state.type === 'failed') return onErrorOf(held, by) === 'fail' && state.record.resumes < resumes;
  return state.type === 'open' || state.type === 'interrupted';
}

interface Due {
  readonly due: readonly string[];
  readonly states: NodeStates;
}

function callDue(held: Deciding, view: ConductorView, asked: Due): ConductorStep | Promise<ConductorStep> {
  const isPlain = asked.due.every(
    (name) => optionsOf(held.options, name)?.when === undefined && !held.accepts.has(name),
  );
  if (isPlain) return { type: 'call', calls: asked.due.map((name) => ({ name, input: plainRun })) };
  return callsOf(held, view, asked).then((calls) => ({ type: 'call', calls }));
}

const plainRun = { do: 'run' } as const satisfies FlowNodeInput;

function callsOf(
  held: Deciding,
  view: ConductorView,
  { due, states }: Due,
): Promise<readonly ConductorCall[]> {
  const contexts = lazy(() => createContexts(held, view));
  return Promise.all(
    due.map(async (name): Promise<ConductorCall> => {
      const input = await inputOf(held, { name, states, contextOf: (each) => contexts()(each) });
      return { name, input: input as unknown as Json }; // A failure is plain data.
    }),
  );
}

interface Asked {
  readonly name: string;
  readonly states: NodeStates;
  readonly contextOf: (name: string) => FlowContext;
}

async function inputOf(held: Deciding, asked: Asked): Promise<FlowNodeInput> {
  const { name, contextOf } = asked;
  const { when, timeoutMs } = optionsOf(held.options, name) ?? {};
  const bounds = { ...held.bounds, timeoutMs };
  const ofNode = `of the node "${name}"`;
  try {
    const isWanted =
      when === undefined || (await callFunction(`"when" ${ofNode}`, () => when(contextOf(name)), bounds));
    if (!isWanted) return { do: 'skip', reason: 'its "when" returned false' };
    const failure = await callFunction(`"accepts" ${ofNode}`, () => refusalOf(held, asked), bounds);
    return failure === undefined ? { do: 'run' } : { do: 'refuse', failure };
  } catch (thrown) {
    if (bounds.signal.aborted) throw thrown;
    return { do: 'refuse', failure: classifyFailure(thrown, 'flow') };
  }
}

/** Why what came before is not what the node takes. */
async function refusalOf(held: Held, { name, states }: Asked): Promise<Failure | undefined> {
  const check = held.accepts.get(name);
  const [before] = held.graph.nodes.find((node) => node.name === name)?.before ?? [];
  if (check === undefined || before === undefined) return undefined;
  const { by, state } = standingOf(held.options, states, before);
  if (state.type !== 'succeeded') return undefined; // There is nothing to check: the node learns that it is missing.
  const result = resultOf(state);
  const checked = await check(result.status === 'succeeded' ? result.output : undefined);
  if (checked.type === 'valid') return undefined;
  const issues = checked.issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return createFailure('VALIDATION_ERROR', {
    origin: 'flow',
    message: `The node "${name}" cannot take what "${by}" gave: ${issues.join('; ')}`,
    hint: `Let "${by}" give what "accepts" of "${name}" asks for, or change "accepts".`,
    context: { node: name, from: by, issues },
    causes: checked.causes ?? [],
  });
}
