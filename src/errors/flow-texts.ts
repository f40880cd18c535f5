// Table: what failures of flows and plans say to their three readers. The compiler asks for a row per code.

import type { FailureCode } from './codes.ts';
import type { ThreeTexts } from './three-texts.ts';

type FlowCode = Extract<
  FailureCode,
  `FLOW_${string}` | 'MAX_HANDOFFS_EXCEEDED' | 'PLAN_INVALID' | 'REPLAN_LIMIT'
>;

export const flowTexts: Readonly<Record<FlowCode, ThreeTexts>> = {
  FLOW_INVALID: {
    forDeveloper:
      'The flow as written cannot be run: its text, a name, an option, or types that do not fit. Nothing was started.',
    forPerson: {
      what: 'The agents of this program are put together wrongly: {message}.',
      next: 'Correct the flow and run again; nothing was started.',
    },
    forModel: 'The flow is not valid: {message}. Nothing in the request can change that.',
  },
  FLOW_CYCLE: {
    forDeveloper: 'The flow leads back to where it was, so it would never end. Nothing was started.',
    forPerson: {
      what: 'The agents of this program wait for each other in a circle: {message}.',
      next: 'Take one of the named steps out of the circle and run again; nothing was started.',
    },
    forModel: 'The flow leads in a circle: {message}. Nothing in the request can change that.',
  },
  MAX_HANDOFFS_EXCEEDED: {
    forDeveloper: 'The agents handed the conversation on as often as they may.',
    forPerson: {
      what: 'The agents passed the work on too often without an answer: {message}.',
      next: 'Read how far it came; say more clearly who does what, or raise the number of hand-offs.',
    },
    forModel: 'No hand-offs are left. Answer with what you have, and say what is missing.',
  },
  PLAN_INVALID: {
    forDeveloper:
      'The plan of the model cannot be carried out: an unknown capability, a value that no step provides, or too many steps.',
    forPerson: {
      what: 'The model made a plan that cannot be carried out: {message}.',
      next: 'Ask in other words, or choose another model for the planning; no step of this plan was taken.',
    },
    forModel:
      'The plan cannot be carried out: {message}. Plan again, with the listed capabilities and the values that are there.',
  },
  REPLAN_LIMIT: {
    forDeveloper: 'The plan, or the choice of capabilities, was made anew as often as it may be.',
    forPerson: {
      what: 'The work was planned anew several times and still did not succeed: {message}.',
      next: 'Read which step failed and why; mend that and resume, or ask for less. Finished steps are kept.',
    },
    forModel: 'No further plan is allowed. Answer with what you have, and say what is missing.',
  },
};
