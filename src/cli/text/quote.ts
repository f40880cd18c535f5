const maxQuoteLength = 60;

/** What someone typed, as it is repeated to them: quoted and bounded. */
export function quote(typed: string): string {
  const short = typed.length > maxQuoteLength ? `${typed.slice(0, maxQuoteLength)}…` : typed;
  return `"${short}"`;
}
