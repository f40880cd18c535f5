import { callHash } from '../../agent/approval/call-hash.ts';
import { callWarning } from '../../agent/approval/call-warning.ts';
import type { PermissionRules } from '../../agent/approval/permission.ts';
import { isForeign } from '../../agent/approval/provenance.ts';
import { foreignWhy } from '../../agent/approval/renew-question.ts';
import type { ReadyCall } from '../../agent/state.ts';
import type { AskFirstEnd, ToolEnd } from '../../agent/tools/tool-call.ts';
import { clean } from '../../errors/failure.ts';
import { levelOf } from '../../model/confinement.ts';
import type { SchemaIssue, Tool } from '../../model/tool.ts';
import type { AgentParts } from '../agent-parts.ts';
import { judgeCall } from './judge-call.ts';
import type { LiveRun } from '../run/live-run.ts';
import { refuseDenied, refuseUnknown } from './refuse-call.ts';
import { issueText } from '../run/take-answer.ts';

// Between the moment at which a call was proposed and the one at which it starts there may be a question, a restart, a deploy or another
// machine. What decides is what the agent allows when the call would start.

/** Nothing where the call may start now; else how it ends instead: refused, or after a question. */
export function admitCall(
  parts: AgentParts,
  live: LiveRun,
  { call, index }: { readonly call: ReadyCall; readonly index: number },
): ToolEnd | AskFirstEnd | undefined {
  const tool = parts.registry.get(call.name);
  if (tool === undefined) return refusedEnd(refuseUnknown(call, parts.registry, call.name));
  const input = live.inputs?.get(index) ?? call.input;
  const { permission, why } = judgeCall(tool, input, rulesFor(parts, call));
  if (permission === 'deny') return refusedEnd(refuseDenied(call, why));
  const reason = whyAsked(parts, live, { call, tool, permission, why });
  if (reason === undefined) return undefined;
  // What a hook made of the input was not what a person will be shown.
  live.inputs?.delete(index);
  return {
    callId: call.callId,
    name: call.name,
    type: 'ask-first',
    wallMs: parts.clock.wallMs(),
    call: renew(live, { call, tool, why: reason }),
  };
}

/**
 * The rules of a flow are for the tools of its nodes; a step of a plan is a call itself. By what the agent is, and not by the state, which
 * may come from elsewhere. See `conduct-effect.ts`.
 */
function rulesFor({ rules, conductor, nodes }: AgentParts, { name }: ReadyCall): PermissionRules {
  return conductor !== undefined && nodes?.has(name) === true ? noRules : rules;
}

const noRules: PermissionRules = [];

/** Where a person changed the arguments to what the tool does not take: nothing is done, and the question is open again. */
export function askUnfit(
  parts: AgentParts,
  live: LiveRun,
  { call, issues }: { readonly call: ReadyCall; readonly issues: readonly SchemaIssue[] },
): AskFirstEnd {
  const tool = parts.registry.get(call.name) as Tool; // It was asked what it takes.
  const why = clean(`The changed arguments do not fit: ${issueText(issues)}`, maxWhyCharacters);
  const { callId, name } = call;
  const renewed = renew(live, { call, tool, why });
  return { callId, name, type: 'ask-first', wallMs: parts.clock.wallMs(), call: renewed };
}

const maxWhyCharacters = 1000;

interface Judged {
  readonly call: ReadyCall;
  readonly tool: Tool;
  readonly permission: 'allow' | 'ask';
  readonly why: string;
}

/** Why a person must be asked before it starts. A call that is asked about starts only after a yes, so one of those has it. */
function whyAsked(
  { nodes }: AgentParts,
  { provenance }: LiveRun,
  { call, tool, permission, why }: Judged,
): string | undefined {
  const isApproved = call.permission === 'ask';
  if (isForeign(provenance, call)) {
    // A node is a run of its own, whose calls are judged one by one.
    if (provenance?.type === 'imported' && nodes?.has(call.name) !== true) return foreignWhy;
    return isApproved || permission === 'ask' ? why : undefined;
  }
  if (!isApproved) return permission === 'ask' ? why : undefined;
  return call.hash === callHash({ ...call, level: levelOf(tool) }) ? undefined : changedWhy;
}

const changedWhy = 'The approved call is not exactly this one';

function renew(
  { provenance }: LiveRun,
  { call, tool, why }: { readonly call: ReadyCall; readonly tool: Tool; readonly why: string },
): ReadyCall {
  const { callId, name, isRepaired, replies } = call;
  // What a person had made of the arguments went with their yes.
  const { input } = call.asked ?? call;
  const warning = callWarning(name, input);
  return {
    callId,
    name,
    type: 'ready',
    input,
    effect: tool.effect,
    permission: 'ask',
    why,
    hash: callHash({ name, input, level: levelOf(tool) }),
    ...(warning === undefined ? {} : { warning }),
    ...(isRepaired === undefined ? {} : { isRepaired }),
    ...(replies === undefined ? {} : { replies }),
    ...(tool.repeats === undefined ? {} : { repeats: tool.repeats }),
    ...(tool.onError === undefined ? {} : { onError: tool.onError }),
    ...(provenance === undefined ? {} : { provenance }),
  };
}

function refusedEnd(refused: ReturnType<typeof refuseDenied>): ToolEnd {
  return (refused as Extract<typeof refused, { type: 'refused' }>).end; // Both give nothing else.
}
