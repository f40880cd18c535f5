/** What the agent's desk and its program are called in Restate: `/` between agents becomes `.`, which no name of ours has. */
export function namesOf(agent: string): Names {
  const base = `rerail.${agent.replaceAll('/', '.')}`;
  return { desk: `${base}.run`, program: `${base}.program`, path: `/${base}` };
}

/** The names under which Restate knows an agent. */
export interface Names {
  /** The object that keeps what is known of a run. */
  readonly desk: string;
  /** The service that runs a generation. */
  readonly program: string;
  readonly path: string;
}
