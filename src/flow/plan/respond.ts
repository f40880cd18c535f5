import { isRecord } from '../../base/json.ts';
import type { PlanNode } from './plan-types.ts';
import { aboutData, joinParts, showFailures, showReasons, showTask, showValues } from './show-about.ts';

/** Answers the person with what the steps have found out. */
export const respond: PlanNode<{ readonly text: string }> = {
  name: 'respond',
  ask: (about) => ({
    instructions: joinParts(
      'Answer the task for the person who gave it. Use only the values of the finished steps: never invent a fact, a number or a result. Where something failed or is missing, say so plainly. No word about steps, keys or capabilities.',
      aboutData,
    ),
    prompt: joinParts(
      showTask(about),
      showValues(about.progress),
      showFailures(about.progress),
      showReasons(about),
    ),
  }),
  read: (answer) => {
    const text = isRecord(answer) ? answer['text'] : answer;
    return typeof text === 'string' && text.trim() !== '' ? { text } : { problem: 'the answer is empty' };
  },
};
