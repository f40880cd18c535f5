import type { Asking } from './ask-person.ts';
import { defined } from '../../base/defined.ts';
import { callHash } from './call-hash.ts';
import { callWarning } from './call-warning.ts';
import { replaceCall } from '../tools/next-step.ts';
import { isForeign } from './provenance.ts';
import type { Provenance } from './provenance.ts';
import type { ReadyCall, RunningTools, RunState } from '../state.ts';

/** Why a call is asked about that came with an imported run. */
export const foreignWhy = 'It came with an imported run, and was not proposed here';

/**
 * A question of an imported run was written by the author of the bundle: it is asked again as the call itself has it. Gives the calls with
 * what the new question is bound to, and nothing where the question is not of that kind.
 */
export function renewQuestion(
  { config }: RunState,
  { tools, index, request }: Asking,
  provenance: Provenance,
): RunningTools | undefined {
  const asked = tools.calls[index];
  if (provenance.type !== 'imported' || asked === undefined || asked.type === 'done') return undefined;
  if (!('hash' in request) || !isForeign(provenance, request)) return undefined;
  const { name, input } = asked.call;
  const level = config.tools[name]?.level;
  const hash = callHash({ name, input, level });
  const call: ReadyCall = {
    ...asked.call,
    why: foreignWhy,
    hash,
    ...defined({ warning: callWarning(name, input) }),
  };
  return replaceCall(tools, index, { ...asked, call });
}
