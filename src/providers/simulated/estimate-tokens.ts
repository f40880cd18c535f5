/** What a token is taken for where nobody can count, as in English prose. */
export const charactersPerToken = 4;

/** Tokens for so many characters; never none, for no provider counts a request or an answer as 0. */
export function estimateTokens(characters: number): number {
  return Math.max(1, Math.ceil(characters / charactersPerToken));
}
