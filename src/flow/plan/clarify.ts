import { isRecord } from '../../base/json.ts';
import { printable } from '../../base/printable.ts';
import { boundText } from '../../base/text.ts';
import type { PlanAbout, PlanNode } from './plan-types.ts';

/** Asks the person instead of a model: the question is `about.because`, and the answer is plain text. */
export const clarify: PlanNode<{ readonly answer: string }> = {
  name: 'clarify',
  ask: ({ because }) => ({
    instructions: 'Answer in your own words.',
    prompt: because ?? 'What exactly should be done?',
  }),
  read: (answer) => {
    const text = isRecord(answer) ? answer['answer'] : answer;
    if (typeof text !== 'string' || text.trim() === '') return { problem: 'the answer is empty' };
    return { answer: boundText(text.trim(), maxAnswerCharacters) };
  },
};

const maxAnswerCharacters = 4000;
const maxListed = 20;

/** The question where no capability fits: what there is, and that the person may say it differently. */
export function askWithoutCapability({ capabilities }: Pick<PlanAbout, 'capabilities'>, why: string): string {
  const listed = capabilities
    .slice(0, maxListed)
    .map(({ name, description }) => `- ${name}: ${boundText(printable(description), 200)}`);
  const left = capabilities.length - listed.length;
  const more = left > 0 ? [`- and ${left} more`] : [];
  const because = boundText(printable(why), 500).replace(/[.\s]+$/u, '');
  return [
    `Nothing that can be done here fits the task (${because}). This can be done:`,
    ...listed,
    ...more,
    'What should be done?',
  ].join('\n');
}
