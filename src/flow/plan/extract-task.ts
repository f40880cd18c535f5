import { isRecord } from '../../base/json.ts';
import type { PlanNode } from './plan-types.ts';
import { aboutData, joinParts, showConversation, showReasons } from './show-about.ts';

/** Says what the conversation asks for, as one text that stands by itself. */
export const extractTask: PlanNode<{ readonly task: string }> = {
  name: 'extract_task',
  ask: (about) => ({
    instructions: joinParts(
      'Say what the person wants done now, as one task that can be understood without the conversation. Keep every name, number, date and condition that matters. Add nothing.',
      aboutData,
    ),
    prompt: joinParts(showConversation(about), showReasons(about)),
    form: {
      type: 'object',
      properties: { task: { type: 'string', description: 'The task, in the words of the person.' } },
      required: ['task'],
      additionalProperties: false,
    },
  }),
  read: (answer) => {
    const task = isRecord(answer) ? answer['task'] : undefined;
    if (typeof task !== 'string' || task.trim() === '')
      return { problem: '"task" must be a text that says what to do' };
    return { task: task.trim() };
  },
};
