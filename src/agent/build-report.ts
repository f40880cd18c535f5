import type { ErrorReport, ReportTexts } from './error-report.ts';
import { renderMarkdown, renderText } from './report-document.ts';
import type { Block, DocumentBounds } from './report-document.ts';
import { describeForDeveloper } from './report-developer.ts';
import type { ReportFacts } from './report-facts.ts';
import { describeForPerson } from './report-person.ts';

export const personBounds: DocumentBounds = { maxLength: 4000, maxTextLength: 500 };
export const developerBounds: DocumentBounds = { maxLength: 40_000, maxTextLength: 6000 };

/**
 * Says why a run failed or was stopped, complete and without a model: for a person and for a developer, as text and as
 * Markdown. Never throws, whatever the facts hold, for an error in the error path would hide the first one.
 */
export function buildReport(facts: ReportFacts): ErrorReport {
  return {
    person: write(describeForPerson, facts, personBounds),
    developer: write(describeForDeveloper, facts, developerBounds),
  };
}

function write(
  describe: (facts: ReportFacts) => readonly Block[],
  facts: ReportFacts,
  bounds: DocumentBounds,
): ReportTexts {
  try {
    const blocks = describe(facts);
    return { text: renderText(blocks, bounds), markdown: renderMarkdown(blocks, bounds) };
  } catch {
    // Not even the title could be read. What is left to say is said.
    return { text: lastWords, markdown: lastWords };
  }
}

const lastWords =
  'The work could not be finished, and what is known about it could not be written down. Look at the events of the run.';
