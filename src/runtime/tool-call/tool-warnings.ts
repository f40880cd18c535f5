import type { RunEvent } from '../../agent/run-event.ts';
import { createFailure } from '../../errors/failure.ts';
import { ownerNamed, warnProcess } from '../../model/stray-errors.ts';
import type { CodeOwner } from '../../model/stray-errors.ts';
import type { AgentParts } from '../agent-parts.ts';
import { publish } from '../run/live-run.ts';
import type { LiveRun } from '../run/live-run.ts';
import type { Suspect } from './process-watch.ts';
import type { Working } from './tool-work.ts';

/** A tool whose timer throws at every tick must not fill the log. */
const maxWarningsPerCall = 5;

/** Errors that a call leaves to the process are reported with the run, and reported to the model where there is a later turn. */
export function ownerOfCall({ strayErrors }: AgentParts, live: LiveRun, working: Working): CodeOwner {
  const { call, input } = working;
  const { name, callId } = call;
  return ownerNamed(`Tool "${name}"`, {
    strayErrors,
    details: { origin: 'tool', context: { tool: name, callId } },
    report: (failure) => {
      if (!warn(live, working, { warning: 'stray-error', failure })) return;
      const id = `${live.runId}:${input.turn}:${callId}:stray:${working.warnings}`;
      working.onBackground(live, { id, text: failure.message });
    },
  });
}

/** Reports what of the process changed while the call ran. */
export function suspectOf(live: LiveRun, working: Working): Suspect {
  const { name, callId } = working.call;
  return {
    tool: name,
    onChanged: (changes, tools) => {
      const ran = tools.map((tool) => `"${tool}"`).join(', ');
      const who = tools.length === 1 ? `Tool ${ran} changed` : `One of the tools ${ran} changed`;
      const failure = createFailure('TOOL_EXECUTION_ERROR', {
        origin: 'tool',
        phase: 'execute',
        message: `${who} the process that it shares with other tools: ${changes.join('; ')}`,
        hint: 'The change stays. Run the tool with "isolate", or pass what it needs as arguments.',
        context: { tool: name, callId, tools: [...tools], changes: [...changes] },
      });
      warn(live, working, { warning: 'process-changed', failure });
    },
  };
}

/** Whether it was reported: the first few of a call are. Where nothing listens, Node's own warnings say it. */
function warn(
  live: LiveRun,
  working: Working,
  { warning, failure }: Pick<Extract<RunEvent, { type: 'tool-warning' }>, 'warning' | 'failure'>,
): boolean {
  working.warnings += 1;
  if (working.warnings > maxWarningsPerCall) return false;
  const { callId, name } = working.call;
  const { turn } = working.input;
  if (live.watchers.size === 0) warnProcess(failure);
  else publish(live, { type: 'tool-warning', turn, callId, name, warning, failure });
  return true;
}
