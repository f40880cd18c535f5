/** The most parts that one answer may have, whoever sends them. */
export const maxAnswerParts = 2_000_000;
/** The most characters of text, reasoning and arguments that one answer may have. */
export const maxAnswerCharacters = 32 * 1024 * 1024;
