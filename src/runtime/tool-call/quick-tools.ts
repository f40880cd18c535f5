import type { ReadyCall } from '../../agent/state.ts';
import type { Tool } from '../../model/tool.ts';
import type { AgentParts } from '../agent-parts.ts';

// A tool that only reads, and was quick before, begins while the answer that asks for it is still to be written: both are then on
// record by one write. A crash in that instant asks the model again. What was slow, or was never tried in this process, waits.

const quick = new WeakSet<Tool>();

/** About as long as a write takes. */
const maxQuickMs = 1;

/** Whether this call may begin before the answer that asks for it is on record. What other agents do is kept under this run. */
export function mayBegin({ registry, nodes }: AgentParts, { name, effect }: ReadyCall): boolean {
  if (effect !== 'read' || nodes?.has(name) === true) return false;
  const tool = registry.get(name);
  return tool !== undefined && quick.has(tool);
}

/** Remembers how long the last call took. */
export function noteTook(tool: Tool | undefined, tookMs: number): void {
  if (tool === undefined) return;
  if (tookMs <= maxQuickMs) quick.add(tool);
  else quick.delete(tool);
}
