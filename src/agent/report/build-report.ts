import type { ErrorReport, ReportTexts, RunExplanation } from './error-report.ts';
import { renderMarkdown, renderText } from './report-document.ts';
import type { Block, DocumentBounds } from './report-document.ts';
import { describeForDeveloper } from './report-developer.ts';
import { describeExplanation } from './report-explanation.ts';
import type { ReportFacts } from './report-facts.ts';
import { describeForPerson } from './report-person.ts';

export const personBounds: DocumentBounds = { maxLength: 4000, maxTextLength: 500 };
/** Of what follows the report: all of an explanation has room in it. */
const explanationBounds: DocumentBounds = { maxLength: 6000, maxTextLength: 800 };
export const developerBounds: DocumentBounds = { maxLength: 40_000, maxTextLength: 6000 };

/**
 * Says why a run failed or was stopped, complete and without a model: for a person and for a developer, as text and as
 * Markdown. Never throws, whatever the facts hold, for an error in the error path would hide the first one. What a model has to
 * say about it follows, and changes nothing in what stands before it.
 */
export function buildReport(facts: ReportFacts, explanation?: RunExplanation): ErrorReport {
  const person = write(describeForPerson, facts, personBounds);
  const developer = write(describeForDeveloper, facts, developerBounds);
  if (explanation === undefined) return { person, developer };
  const { text, markdown } = write(describeExplanation, explanation, explanationBounds);
  return {
    person: { text: `${person.text}\n\n${text}`, markdown: `${person.markdown}\n\n${markdown}` },
    developer,
    explanation,
  };
}

/** What the report says to a person without the words of a model. */
export function knownText({ person, explanation }: ErrorReport): string {
  if (explanation === undefined) return person.text;
  const { text } = write(describeExplanation, explanation, explanationBounds);
  return person.text.endsWith(text) ? person.text.slice(0, -text.length).trimEnd() : person.text;
}

function write<Facts>(
  describe: (facts: Facts) => readonly Block[],
  facts: Facts,
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
  'The work could not be finished, and the facts about it could not be recorded. Look at the events of the run.';
