// A flow, a team and a plan have runs of their own below them: `<run>/<node>`, of the agent `<agent>/<node>`. Code that keeps runs
// knows by these names which belong together: a run goes with those below it.

/** The run that this one may stand below: nothing where its names say that there is none. */
export function parentIdOf({ runId, agent }: NamedRun): string | undefined {
  const end = runId.lastIndexOf('/');
  return end > 0 && agent.includes('/') ? runId.slice(0, end) : undefined;
}

export interface NamedRun {
  readonly runId: string;
  /** The agent's name. */
  readonly agent: string;
}

/** Whether a run is below another one, at whatever depth. */
export function isBelow({ runId, agent }: NamedRun, above: string): boolean {
  return runId.startsWith(`${above}/`) && agent.includes('/');
}
