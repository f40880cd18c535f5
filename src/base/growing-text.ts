/**
 * A text that grows by very many small pieces. An engine keeps each piece of a sum until somebody reads it, which takes up to forty times
 * what the text does: so the pieces are put together now and then.
 */
export interface GrowingText {
  readonly add: (piece: string) => void;
  /** Keeps the first characters only. */
  readonly cut: (keep: number) => void;
  readonly read: () => string;
}

const chunkCharacters = 4096;

/** Begins empty. */
export function createGrowingText(): GrowingText {
  let chunks: string[] = [];
  let tail = '';
  return {
    add: (piece) => {
      tail += piece;
      if (tail.length < chunkCharacters) return;
      chunks.push(flat(tail));
      tail = '';
    },
    cut: (keep) => {
      tail = (chunks.join('') + tail).slice(0, keep);
      chunks = [];
    },
    read: () => chunks.join('') + tail,
  };
}

/** The same text in one piece: to read a character of a sum puts it together. */
export function flat(text: string): string {
  text.charCodeAt(0);
  return text;
}
