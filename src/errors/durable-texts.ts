// Table: what failures of an engine that carries runs say to their three readers. The compiler asks for a row per code.

import type { FailureCode } from './codes.ts';
import type { ThreeTexts } from './three-texts.ts';

type DurableCode = Extract<FailureCode, 'ACTIVITY_FAILED' | 'SIGNAL_TIMEOUT' | 'HISTORY_LIMIT'>;

export const durableTexts: Readonly<Record<DurableCode, ThreeTexts>> = {
  ACTIVITY_FAILED: {
    forDeveloper:
      'The engine gave up a step, or the whole run: somebody ended it there, or no worker could carry it. What the step did outside is not known.',
    forPerson: {
      what: 'The system that carries this work has given it up: {message}.',
      next: 'Look there why it was ended, and outside whether the last act took effect; then run again.',
    },
    forModel: 'The step was ended from outside: {message}. Do not repeat it before its effect is known.',
  },
  SIGNAL_TIMEOUT: {
    forDeveloper:
      'Nobody took the message to a run in time: no worker is up, or the one that is up is busy. Send it again under the same id.',
    forPerson: {
      what: 'The answer was not taken in time: {message}.',
      next: 'See that the worker runs, then answer again; an answer that arrived twice counts once.',
    },
    forModel: 'No answer was taken in time: {message}. The same act may succeed later.',
  },
  HISTORY_LIMIT: {
    forDeveloper:
      'A value, or the journal of the run, is larger than the engine keeps. Pass large values by reference, or let the run restart more often.',
    forPerson: {
      what: 'This work has grown larger than the system that carries it can keep: {message}.',
      next: 'Ask for less at once, or have the limit raised; what was done until then stands.',
    },
    forModel: 'The result is too large to be kept: {message}. Ask for a smaller part of it.',
  },
};
