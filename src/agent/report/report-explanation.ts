import type { RunExplanation } from './error-report.ts';
import type { Block } from './report-document.ts';

/** What a model has to say about a failed run, to be put under the report. */
export function describeExplanation({ summary, claims, nextSteps, model }: RunExplanation): readonly Block[] {
  const steps = nextSteps.map(({ text, command }) => (command === undefined ? text : `${text}: ${command}`));
  return [
    { type: 'heading', text: `The same in the words of ${model}` },
    { type: 'paragraph', text: summary },
    { type: 'list', items: claims.map(({ text }) => text) },
    ...(steps.length === 0
      ? []
      : [
          { type: 'paragraph' as const, text: 'It proposes:' },
          { type: 'list' as const, items: steps },
        ]),
    {
      type: 'paragraph',
      text: 'A model wrote this. Its numbers, codes and names were checked against the record; the report above is complete without it.',
    },
  ];
}
