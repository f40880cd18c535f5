import { eventsText, statusWords } from './run-words.ts';
import type { RunReading } from './run-reading.ts';
import { whyAnswers } from './why-answers.ts';

/** What is known of a run without asking anybody: for a person, and for whoever must mend it. */
export interface StaticReport {
  readonly person: string;
  readonly developer: string;
}

/** The report that the run itself made when it failed or was stopped; of any other, what is known of how it stands. */
export function staticReport(reading: RunReading, nowMs: number): StaticReport {
  const { outcome, row } = reading;
  if (outcome !== undefined && 'report' in outcome) {
    const { person, developer } = outcome.report;
    return { person: person.text, developer: developer.text };
  }
  const answers = whyAnswers(reading, { nowMs });
  const title = `Run ${row.runId} of agent "${row.agent}": ${statusWords(row).text}`;
  const lines = (topics: readonly string[]): readonly string[] =>
    answers
      .filter(({ topic }) => topics.includes(topic))
      .flatMap(({ points }) => points)
      .map(({ text, seqs }) => `  - ${text}${seqs.length === 0 ? '' : ` [${eventsText(seqs)}]`}`);
  return {
    person: [title, '', ...lines(['stopped', 'waiting'])].join('\n'),
    developer: [title, '', ...lines(['stopped', 'waiting', 'retried', 'model'])].join('\n'),
  };
}
