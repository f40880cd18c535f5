import type { Durable, DurableProgram } from '../../runtime/record/durable.ts';
import { outside } from './carried-run.ts';
import type { AgentHost, CarriedRun } from './carried-run.ts';
import { asPlain } from './order.ts';
import type { Notice } from './order.ts';

/** The event of a workflow that says what others may know of its run. */
const noticeKey = 'rerail';

/** What the tables hold of what others may know of a run. */
export async function readNotice({ dbos }: AgentHost, workflowId: string): Promise<Notice> {
  const text = await outside(() => dbos.getEvent(workflowId, noticeKey, 0));
  return typeof text === 'string' ? (JSON.parse(text) as Notice) : {}; // What `write` wrote.
}

/** The program with verbs that also say what it waits for, and what it has come to. */
export function withNotices(host: () => AgentHost): DurableProgram {
  return (durable, input) => {
    const { setup, runs } = host();
    const run = runs.get(durable.runId);
    return setup.program(run === undefined ? durable : telling(host(), run, durable), input);
  };
}

function telling(host: AgentHost, run: CarriedRun, durable: Durable): Durable {
  return {
    ...durable,
    call: (effect, input, options) => {
      // Of a run that was resumed, others may still think that it waits.
      const isStale = run.told.waiting !== undefined && run.waits.length === 0;
      if (isStale && durable.isReplaying?.() !== true) noteSoon(host, run);
      return durable.call(effect, input, options);
    },
    announce: async (value) => {
      run.announced = asPlain(value);
      // It was reported when this was new.
      if (durable.isReplaying?.() !== true) await noteChange(host, run);
    },
    waitFor: (signal, options) => {
      let isWaiting = false;
      const onWaiting = (): void => {
        isWaiting = true;
        run.waits.push(signal);
        noteSoon(host, run);
        options?.onWaiting?.();
      };
      const over = (): void => {
        if (!isWaiting) return;
        run.waits.splice(run.waits.indexOf(signal), 1);
        noteSoon(host, run);
      };
      const waited = durable.waitFor(signal, { ...options, onWaiting });
      waited.then(over, over);
      return waited;
    },
  };
}

/** Writes what has changed, after whatever is being written. */
function noteChange(host: AgentHost, run: CarriedRun): Promise<void> {
  const next = run.noting.then(() => write(host, run));
  // Reported to the caller; the next one writes again.
  run.noting = next.catch(() => undefined);
  return next;
}

function noteSoon(host: AgentHost, run: CarriedRun): void {
  // It is only a notice: what is wrong with the workflow is found by its next step.
  noteChange(host, run).catch(() => undefined);
}

async function write({ dbos }: AgentHost, run: CarriedRun): Promise<void> {
  const { announced } = run;
  const [waiting] = run.waits;
  const notice: Notice = {
    ...(waiting === undefined ? {} : { waiting }),
    ...(announced === undefined ? {} : { announced }),
  };
  const text = JSON.stringify(notice);
  if (run.isLeaving || text === JSON.stringify(run.told)) return;
  await run.inWorkflow(() => dbos.setEvent(noticeKey, text));
  run.told = notice;
}
