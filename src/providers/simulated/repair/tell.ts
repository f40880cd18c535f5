import { boundText } from '../../../base/text.ts';
import type { EditKind } from './edit-table.ts';
import type { Hypothesis } from './hypotheses.ts';
import type { FailingTest, TestReport } from './test-report.ts';

const reasons = {
  boundary: 'the boundary is off by one',
  comparison: 'the comparison is the wrong one',
  arithmetic: 'the operator is the wrong one',
  constant: 'the constant is wrong',
  logic: 'the conditions are joined wrongly',
  negation: 'the condition is the wrong way round',
  variable: 'the wrong variable is used',
  property: 'the wrong property is read',
  method: 'the wrong method is called',
  await: 'a promise is used before it is settled',
  return: 'the result is not given back',
  text: 'the text is wrong',
  order: 'the operands are the wrong way round',
} as const satisfies Record<EditKind, string>;

const maxQuote = 200;
const maxTests = 5;

/** What one test says, in a sentence without a full stop. */
function tellFailure({ name, actual, expected, message }: FailingTest): string {
  const quoted = `"${boundText(name, maxQuote)}"`;
  if (actual !== undefined && expected !== undefined)
    return `${quoted} expects ${boundText(expected, maxQuote) || 'nothing'} and gets ${boundText(actual, maxQuote) || 'nothing'}`;
  return `${quoted} says: ${boundText(message, maxQuote)}`;
}

export function tellFailures({ failing }: TestReport): string {
  const shown = failing.slice(0, maxTests).map(tellFailure);
  const more = failing.length > maxTests ? [`and ${failing.length - maxTests} more`] : [];
  return [...shown, ...more].join('; ');
}

/** What is supposed, before it is tried. */
export function tellGuess({ path, line, functionName, kind, before, after }: Hypothesis): string {
  return `I suppose that ${reasons[kind]} in ${functionName}, ${path}:${line}: \`${before}\` should be \`${after}\`.`;
}

/** What was mended, with file and line. */
export function tellMended(changes: readonly LineChange[], { first, last }: Runs): string {
  const count = last.passedCount === undefined ? '' : ` (${last.passedCount} of ${last.passedCount})`;
  const lines = changes.map(
    ({ path, line, before, after }) => `${path}:${line}\n\n\`\`\`diff\n- ${before}\n+ ${after}\n\`\`\``,
  );
  return [
    `The tests pass now${count}. Before: ${tellFailures(first)}.`,
    `What I changed:\n\n${lines.join('\n\n')}`,
  ].join('\n\n');
}

interface Runs {
  readonly first: TestReport;
  readonly last: TestReport;
}

/** A line that differs. */
export interface LineChange {
  readonly path: string;
  readonly line: number;
  readonly before: string;
  readonly after: string;
}

/** The lines that differ between two contents of a file. Both have the same number of lines, or it is one block. */
export function lineChanges(path: string, from: string, to: string): readonly LineChange[] {
  const [old, fresh] = [from.split('\n'), to.split('\n')];
  return fresh.flatMap((line, place) => {
    const before = old[place] ?? '';
    return before === line ? [] : [{ path, line: place + 1, before: before.trim(), after: line.trim() }];
  });
}
