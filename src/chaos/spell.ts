import type { Piece } from './reply.ts';
import type { WireEvent } from './wire/wire-answer.ts';

/** How events are spelled on the wire. Every spelling means the same to a reader that follows the standard. */
export interface Spelling {
  /** `mixed` takes turns. */
  readonly lineEnd: '\n' | '\r\n' | '\r' | 'mixed';
  readonly hasBom: boolean;
  /** A comment before every event, and fields that mean nothing to anybody. */
  readonly hasComments: boolean;
  /** JSON spread over several `data` lines. */
  readonly isMultiline: boolean;
  /** The blank line that ends the last event. */
  readonly hasFinalBlankLine: boolean;
}

export const plainSpelling: Spelling = {
  lineEnd: '\n',
  hasBom: false,
  hasComments: false,
  isMultiline: false,
  hasFinalBlankLine: true,
};

/** Events as server-sent events, one piece each. */
export function spellEvents(events: readonly WireEvent[], spelling: Spelling): readonly Piece[] {
  return events.map((event, index) => {
    const bom = spelling.hasBom && index === 0 ? '\uFEFF' : '';
    const isLast = index === events.length - 1;
    const lines = [...linesOf(event, spelling), ...(isLast && !spelling.hasFinalBlankLine ? [] : [''])];
    const text = lines.map((line, place) => line + lineEnd(spelling.lineEnd, index + place)).join('');
    return piece(bom + text, event);
  });
}

/** Events as one JSON list, as Gemini streams to those who do not ask for SSE. */
export function spellList(events: readonly WireEvent[]): readonly Piece[] {
  return events.map((event, index) => {
    const [before, after] = [index === 0 ? '[' : ',\r\n', index === events.length - 1 ? ']' : ''];
    return piece(`${before}${event.data}${after}`, event);
  });
}

/** Bodies that are no events. */
export function spellWhole(events: readonly WireEvent[], spelling: Spelling): readonly Piece[] {
  return events.map((event, index) =>
    piece((spelling.hasBom && index === 0 ? '\uFEFF' : '') + event.data, event),
  );
}

function piece(text: string, { role, isFault }: WireEvent): Piece {
  return { bytes: Buffer.from(text), role, isFault: isFault === true };
}

function linesOf({ name, data }: WireEvent, spelling: Spelling): readonly string[] {
  return [
    ...(spelling.hasComments ? [': chaos', ':', 'retry: 3000', 'id: 7', 'nonsense'] : []),
    ...(name === undefined ? [] : [`event: ${name}`]),
    ...(spelling.isMultiline ? spread(data) : [data]).map((line) => `data: ${line}`),
  ];
}

/** Line breaks between the tokens of JSON mean nothing, so that the joined lines are the same JSON. */
function spread(data: string): readonly string[] {
  try {
    return JSON.stringify(JSON.parse(data), null, 1).split('\n');
  } catch {
    return [data]; // `[DONE]` is not JSON.
  }
}

function lineEnd(kind: Spelling['lineEnd'], place: number): string {
  if (kind !== 'mixed') return kind;
  // In this order a lone CR is never followed by a lone LF, which would be one line end instead of two.
  return ['\n', '\r', '\r\n'][place % 3] ?? '\n';
}
