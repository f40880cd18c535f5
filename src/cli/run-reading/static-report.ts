import { knownText } from '../../agent/report/build-report.ts';
import { printable } from '../../base/printable.ts';
import { nodeLine } from './node-words.ts';
import { eventsText, readingWords } from './run-words.ts';
import type { RunReading } from './run-reading.ts';
import { whyAnswers } from './why-answers.ts';

/** What is known of a run without a model: for a person, and for the developer who must fix it. */
export interface StaticReport {
  readonly person: string;
  readonly developer: string;
}

/** The report that the run itself made when it failed or was stopped; of any other, what is known of how it stands. */
export function staticReport(reading: RunReading, nowMs: number): StaticReport {
  const { outcome, row } = reading;
  if (outcome !== undefined && 'report' in outcome) {
    const { report } = outcome;
    const nodes = nodesText(reading);
    return { person: `${knownText(report)}${nodes}`, developer: `${report.developer.text}${nodes}` };
  }
  const answers = whyAnswers(reading, { nowMs });
  const title = `Run ${row.runId} of agent "${row.agent}": ${readingWords(reading).text}`;
  const lines = (topics: readonly string[]): readonly string[] =>
    answers
      .filter(({ topic }) => topics.includes(topic))
      .flatMap(({ points }) => points)
      .map(({ text, seqs }) => `  - ${text}${seqs.length === 0 ? '' : ` [${eventsText(seqs)}]`}`);
  return {
    person: [title, '', ...lines(['origin', 'stopped', 'waiting'])].join('\n'),
    developer: [title, '', ...lines(['origin', 'stopped', 'waiting', 'retried', 'model'])].join('\n'),
  };
}

/** What became of the runs below it. */
function nodesText({ nodes, isConducted }: RunReading): string {
  if (nodes.length === 0) return '';
  const lines = nodes.slice(0, maxNodes).map((node) => `  - ${printable(node.name)}: ${nodeLine(node).text}`);
  const title = isConducted ? 'What became of its nodes' : 'Jobs given to others';
  return `\n\n${[title, ...lines].join('\n')}`;
}

const maxNodes = 100;
