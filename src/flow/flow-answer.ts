import type { Json } from '../base/json.ts';
import { createFailure } from '../errors/failure.ts';
import type { ConductorCall, ConductorStep, ConductorView } from '../runtime/children/conductor.ts';
import { listNames } from './flow-error.ts';
import { resultOf } from './flow-results.ts';
import type { FlowParts, Standing } from './flow-results.ts';
import type { FlowNodeInput, FlowResult } from './flow-types.ts';

/**
 * The end of a flow of which every node is settled. One last node: its text and output. Several: a text with a section for
 * each, and an object by their names of what there is. Where all but one of them were skipped, the text is that one's.
 */
export function answerOfFlow(
  { graph }: FlowParts,
  view: ConductorView,
  standings: ReadonlyMap<string, Standing>,
): ConductorStep {
  const ends = graph.last.map((name) => endOf(name, standings.get(name)));
  const given = ends.filter(isGiven);
  const [first] = given;
  if (first === undefined) return againOrFail(graph.name, view, ends);
  if (graph.last.length === 1)
    return { type: 'answer', text: first.result.text, output: first.result.output };
  const output: Record<string, Json> = {};
  for (const { name, result } of given) output[name] = result.output;
  const isChoice =
    given.length === 1 && ends.every((end) => end === first || end.result.status === 'skipped');
  const text = isChoice ? first.result.text : ends.map(sectionOf).join('\n\n');
  return { type: 'answer', text, output };
}

interface End {
  readonly name: string;
  readonly by: string;
  readonly result: FlowResult;
  /** How often the run had been continued when it ended. */
  readonly resumes: number;
}

type Given = End & { readonly result: Extract<FlowResult, { status: 'succeeded' }> };

function isGiven(end: End): end is Given {
  return end.result.status === 'succeeded';
}

function endOf(name: string, standing: Standing | undefined): End {
  const state = standing?.state;
  const by = standing?.by ?? name;
  if (state?.type === 'succeeded' || state?.type === 'failed')
    return { name, by, result: resultOf(state), resumes: state.record.resumes };
  const reason = state?.type === 'skipped' ? state.reason : 'it was not reached';
  return { name, by, result: { status: 'skipped', reason }, resumes: Infinity };
}

function sectionOf({ name, result }: End): string {
  return `## ${name}\n\n${result.status === 'succeeded' ? result.text : `(No result: ${whyNot(result)}.)`}`;
}

function whyNot(result: Exclude<FlowResult, { status: 'succeeded' }>): string {
  return result.status === 'skipped' ? result.reason : `it failed with ${result.failure.code}`;
}

/** A flow that fails has failed at its last nodes: continued, it tries those again that failed. */
function againOrFail(flow: string, { resumes }: ConductorView, ends: readonly End[]): ConductorStep {
  const again = ends.filter((end) => end.result.status === 'failed' && end.resumes < resumes);
  const input: FlowNodeInput = { do: 'run' };
  if (again.length > 0)
    return { type: 'call', calls: again.slice(0, 64).map(({ by }): ConductorCall => ({ name: by, input })) };
  const reasons = ends.map(({ name, result }) =>
    result.status === 'succeeded' ? '' : `"${name}": ${whyNot(result)}`,
  );
  const failure = createFailure('EMPTY_RESPONSE', {
    origin: 'flow',
    retryable: false,
    message: `The flow "${flow}" has no result, because ${listNames(ends.map(({ name }) => name))} gave none (${reasons.join('; ')})`,
    hint: 'Check "when" and "onError" of its last nodes: at least one of them must be done.',
    context: { flow, nodes: ends.map(({ name }) => name) },
  });
  return { type: 'fail', failure };
}
