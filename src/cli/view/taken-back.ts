import { safeQuote } from './safe-text.ts';

/** Text that has scrolled away cannot be removed; it can be struck. */
export function takenBackText(gone: string): string {
  const [line = ''] = gone.trimStart().split('\n', 1);
  // As it was shown: without the marks of Markdown.
  const from = safeQuote(line.replaceAll(/^[#>\-*+ ]+|[*_`]+/g, ''), 40);
  return `the text above from “${from}” on was taken back: the stream broke`;
}
