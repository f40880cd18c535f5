import { decidePermission, stricter } from '../../agent/approval/permission.ts';
import type { PermissionDecision, PermissionRules } from '../../agent/approval/permission.ts';
import type { Json } from '../../base/json.ts';
import { judgedInputs } from '../../model/judged-input.ts';
import type { Tool } from '../../model/tool.ts';

/** Whether a call may run now: by what its input says and by what it names, the stricter of the two. */
export function judgeCall(tool: Tool, input: Json, rules: PermissionRules): PermissionDecision {
  return judgedInputs(tool, input)
    .map((one) => decidePermission(tool, one, rules))
    .reduce(stricter);
}
