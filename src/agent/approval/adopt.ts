import type { Ledger } from '../../resilience/ledger.ts';
import { askAbout } from './ask-person.ts';
import type { Asking } from './ask-person.ts';
import { changeState } from '../change-state.ts';
import type { MachineEvent } from '../event.ts';
import type { Moved } from '../moved.ts';
import { renewQuestion } from './renew-question.ts';
import type { Calling, RunState } from '../state.ts';
import { callModel } from '../turn/turn.ts';

/**
 * An imported run continues here: with the limits and rules of this agent, its clock, and no more to spend than they allow. What tools had
 * remembered is dropped, for they rely on having written it themselves.
 */
export function adoptRun(
  given: RunState,
  { config, wallMs, provenance, work }: Extract<MachineEvent, { type: 'adopted' }>,
): Moved {
  const { children, below, ...rest } = given;
  const state: RunState = changeState(
    {
      ...rest,
      ...(children === undefined
        ? {}
        : {
            children: Object.fromEntries(
              Object.entries(children).map(([name, used]) => [name, atLeastNothing(used)]),
            ),
          }),
      ...(below === undefined ? {} : { below: atLeastNothing(below) }),
    },
    {
      config,
      wallMs,
      adopted: provenance.id,
      turn: Math.max(0, given.turn),
      toolCalls: Math.max(0, given.toolCalls),
      elapsedMs: Math.max(0, given.elapsedMs),
      ledger: atLeastNothing(given.ledger),
      remembered: [],
    },
  );
  const asking = askingIn(state);
  const renewed = asking === undefined ? undefined : renewQuestion(state, asking, provenance);
  if (asking !== undefined && renewed !== undefined)
    return askAbout(state, renewed, { index: asking.index, events: [], provenance });
  const calling = callingIn(state);
  // A call of a model begins again with the models and the time that this agent has.
  return calling === undefined ? { state, actions: [work] } : callModel(state, calling, []);
}

function askingIn({ phase }: RunState): Asking | undefined {
  const open = phase.type === 'suspended' ? phase.back : phase;
  return open.type === 'asking' ? open : undefined;
}

function callingIn({ phase }: RunState): Calling | undefined {
  if (phase.type === 'waiting') return phase.calling;
  return phase.type === 'calling-model' ? phase : undefined;
}

/** A ledger that owes the run something would be a larger budget. */
function atLeastNothing(ledger: Ledger): Ledger {
  return {
    requests: Math.max(0, ledger.requests),
    inputTokens: Math.max(0, ledger.inputTokens),
    outputTokens: Math.max(0, ledger.outputTokens),
    unknownUsage: Math.max(0, ledger.unknownUsage),
    costUsd: Math.max(0, ledger.costUsd),
    unknownCost: Math.max(0, ledger.unknownCost),
    waitedMs: Math.max(0, ledger.waitedMs),
    lostTokens: Math.max(0, ledger.lostTokens),
    ...((ledger.cacheReadTokens ?? 0) > 0 ? { cacheReadTokens: ledger.cacheReadTokens ?? 0 } : {}),
  };
}
