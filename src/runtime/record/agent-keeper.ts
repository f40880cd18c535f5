import { lazy } from '../../base/lazy.ts';
import { createFailure } from '../../errors/failure.ts';
import { factsOfAgent } from '../run/agent-facts.ts';
import type { AgentParts } from '../agent-parts.ts';
import { endRun, letGoOutcome } from '../run/held-runs.ts';
import type { HeldRuns } from '../run/held-runs.ts';
import { publish } from '../run/live-run.ts';
import { createRunKeeper } from './run-keeper.ts';
import type { RunKeeper } from './run-keeper.ts';
import { rowOfStart } from './stored-rows.ts';

/** What keeps the runs of an agent that has a store. */
export function createAgentKeeper(parts: AgentParts, heldOf: () => HeldRuns): RunKeeper | undefined {
  const { store, clock, name, newId, leaseMs } = parts;
  if (store === undefined) return undefined;
  const facts = lazy(() => factsOfAgent(parts));
  return createRunKeeper({
    store,
    agent: name,
    owner: { id: newId(), leaseMs },
    facts: (runId) => {
      const own = heldOf().runs.get(runId)?.parts;
      return own === undefined ? facts() : factsOfAgent(own);
    },
    clock,
    describeStart: rowOfStart,
    sessionOf: (runId) => heldOf().runs.get(runId)?.sessionId,
    onLost: (runId) => {
      const held = heldOf();
      const live = held.runs.get(runId);
      held.engine.letGo(runId);
      if (live !== undefined) endRun(held, live, letGoOutcome(held, live, takenOver(runId)));
    },
    onSignal: (runId, { name: signal, id, payload }) => {
      const held = heldOf();
      if (signal !== 'cancel') return held.engine.receive(runId, { name: signal, id, payload });
      held.wishEnd(runId, typeof payload === 'string' ? payload : 'cancellation was requested');
    },
    onUnsaved: (runId, failure) => {
      const live = heldOf().runs.get(runId);
      if (live === undefined) return;
      live.unsaved = failure;
      publish(
        live,
        failure === undefined ? { type: 'storage-restored' } : { type: 'storage-failed', failure },
      );
    },
  });
}

function takenOver(runId: string): ReturnType<typeof createFailure> {
  return createFailure('STORAGE_LOCKED', {
    origin: 'storage',
    message: `Another process has taken the run "${runId}" over: this one was silent for longer than its lease`,
    hint: 'Nothing needs to be done: the run continues there. Raise "leaseMs" if this process is often busy for so long.',
    retryable: false,
    context: { runId, leaseLost: true },
  });
}
