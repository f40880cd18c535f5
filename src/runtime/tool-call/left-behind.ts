import { canonicalJson } from '../../base/canonical-json.ts';
import type { Tool } from '../../model/tool.ts';
import type { ToolRun } from './tool-run.ts';

/**
 * The calls of one agent whose wait has ended and whose code still runs: they ignore cancellation, and another one beside them
 * would do the same work again. What another process left behind is settled by its intent.
 */
export interface LeftBehind {
  /** Notes a call that still runs. The returned function notes its end. */
  readonly note: (run: ToolRun) => () => void;
  /** Calls of this tool that still run. */
  readonly count: (tool: Tool) => number;
  /**
   * The earlier call that still runs and that this one would repeat or disturb: one of this run with the same arguments, or one that
   * holds the same resource, of this run or of the same tool in another run.
   */
  readonly find: (run: ToolRun) => StillRunning | undefined;
}

export type StillRunning = 'same-call' | 'same-resource';

/** Beyond that the oldest are forgotten: each is a promise that may never settle. */
const maxCalls = 1000;

/** Nothing is left behind yet. */
export function createLeftBehind(): LeftBehind {
  const calls = new Map<ToolRun, string>();
  return {
    note: (run) => {
      calls.set(run, canonicalJson(run.input));
      const [oldest] = calls.keys();
      if (calls.size > maxCalls && oldest !== undefined) calls.delete(oldest);
      return () => void calls.delete(run);
    },
    count: (tool) => [...calls.keys()].filter((call) => call.tool === tool).length,
    find: (run) => {
      if (calls.size === 0) return undefined;
      const input = canonicalJson(run.input);
      for (const [call, callInput] of calls) {
        const isSameTool = call.tool === run.tool;
        const isSameRun = call.runId === run.runId;
        if (isSameTool && isSameRun && callInput === input) return 'same-call';
        const isSameResource = run.resource !== undefined && call.resource === run.resource;
        if (isSameResource && (isSameRun || isSameTool)) return 'same-resource';
      }
      return undefined;
    },
  };
}

/**
 * Why a call must not start. A `once` call is made a second time only because a person decided so, who was asked while it still ran:
 * that decision stands.
 */
export function findInTheWay(run: ToolRun, leftBehind: LeftBehind): StillRunning | undefined {
  return run.tool.effect === 'once' && run.attempt > 1 ? undefined : leftBehind.find(run);
}
