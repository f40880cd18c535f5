/** The text of one turn as it comes in: lines that are complete go out, the rest waits. */
export interface AnswerText {
  /** Gives the lines that became complete by it. */
  readonly add: (text: string) => readonly string[];
  /** Takes back all but the first `keep` characters. Gives the text that had gone out already and no longer stands. */
  readonly retract: (keep: number) => string | undefined;
  /** Nothing more comes: what was incomplete is complete. */
  readonly finish: () => readonly string[];
  /** What is not complete yet. */
  readonly tail: () => string;
  /** What has gone out and stands. */
  readonly given: () => string;
}

// A line that does not end is given out in pieces.
const maxTailCharacters = 4000;

export function createAnswerText(): AnswerText {
  const held: Held = { given: [], givenLength: 0, tail: '' };
  return {
    add: (text) => {
      held.tail += text;
      return takeLines(held);
    },
    retract: (keep) => retract(held, keep),
    finish: () => (held.tail === '' ? [] : [give(held, held.tail.length)]),
    tail: () => held.tail,
    given: () => held.given.join(''),
  };
}

interface Held {
  /** With their line breaks. */
  given: string[];
  givenLength: number;
  tail: string;
}

function takeLines(held: Held): readonly string[] {
  const lines: string[] = [];
  let end = held.tail.indexOf('\n');
  while (end >= 0) {
    // Bounded: each round takes a line break.
    lines.push(give(held, end + 1));
    end = held.tail.indexOf('\n');
  }
  while (held.tail.length > maxTailCharacters) {
    // Bounded: each round takes a piece.
    const space = held.tail.lastIndexOf(' ', maxTailCharacters);
    lines.push(give(held, space > 0 ? space + 1 : safeCut(held.tail)));
  }
  return lines;
}

/** Not between the two halves of a character. */
function safeCut(text: string): number {
  const unit = text.charCodeAt(maxTailCharacters - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? maxTailCharacters - 1 : maxTailCharacters;
}

function give(held: Held, length: number): string {
  const line = held.tail.slice(0, length);
  held.tail = held.tail.slice(length);
  held.given.push(line);
  held.givenLength += length;
  return line.replace(/\r?\n$/, '');
}

function retract(held: Held, keep: number): string | undefined {
  const kept = Math.max(0, keep);
  if (kept >= held.givenLength) {
    held.tail = held.tail.slice(0, kept - held.givenLength);
    return undefined;
  }
  const whole = held.given.join('');
  // From the beginning of the line: half a line would be hard to read on.
  const start = kept === 0 ? 0 : whole.lastIndexOf('\n', kept - 1) + 1;
  held.given = start === 0 ? [] : [whole.slice(0, start)];
  held.givenLength = start;
  held.tail = whole.slice(start, kept);
  return whole.slice(start);
}
