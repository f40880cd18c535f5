/** The one workflow type: whatever program there is, it is this workflow that runs it. */
export const workflowType = 'rerailRun';
/** The one activity type: the effect is named in its input. */
export const activityType = 'rerailEffect';
/** Brings a message of ours to a run. */
export const signalName = 'rerailSignal';
/** Asks for the end of a run, with the reason that Temporal's own cancellation cannot carry. */
export const cancelName = 'rerailCancel';
/** Asks what a run is doing. */
export const statusName = 'rerailStatus';
/** Asks what is on record of a run, part by part. */
export const journalName = 'rerailJournal';
/** The type of the failure that a broken program leaves behind. */
export const brokenType = 'RerailBroken';

/** The task queue of an agent: `/` between agents is kept, for Temporal takes any text. */
export function queueOf(prefix: string, agent: string): string {
  return `${prefix}:${agent}`;
}

/** The workflow id of a run. */
export function workflowIdOf(agent: string, runId: string): string {
  return `rerail:${agent}:${runId}`;
}
