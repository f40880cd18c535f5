/** A text that grows by small pieces. */
export interface TextBuilder {
  readonly append: (piece: string) => void;
  readonly read: () => string;
}

const segmentCharacters = 4096;

/**
 * Puts a text together in memory that grows with the text and not with the number of its pieces: the engine keeps every piece
 * of a concatenation until somebody looks into the whole.
 */
export function createTextBuilder(first = ''): TextBuilder {
  const segments: string[] = [];
  let tail = first;
  return {
    append: (piece) => {
      tail += piece;
      if (tail.length < segmentCharacters) return;
      // To look at a character makes one flat string of the pieces.
      tail.charCodeAt(0);
      segments.push(tail);
      tail = '';
    },
    read: () => (segments.length === 0 ? tail : segments.join('') + tail),
  };
}
