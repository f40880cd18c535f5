import { markOf } from './redact-marks.ts';

/** Longer than any key: between a BEGIN and an END further apart there is other text. */
const maxBlockCharacters = 32_768;

/** Replaces private keys in PEM form, whole or cut off at either side, with line breaks as they are or written `\n`. */
export function redactPrivateKeys(text: string): string {
  if (!text.includes('PRIVATE KEY')) return text;
  const markers = [...text.matchAll(pemMarker)];
  const pieces: string[] = [];
  let done = 0;
  for (const [position, marker] of markers.entries()) {
    if (marker.index < done) continue;
    const start =
      marker[1] === 'BEGIN' ? marker.index : startOfTail(text, { from: marker.index, floor: done });
    pieces.push(text.slice(done, start), markOf('private key'));
    done = endOfBlock(text, marker, markers[position + 1]);
  }
  return pieces.join('') + text.slice(done);
}

const pemMarker = /-{4,5} ?(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}/g;

function endOfBlock(text: string, marker: RegExpExecArray, next: RegExpExecArray | undefined): number {
  const end = marker.index + marker[0].length;
  if (marker[1] === 'END') return end;
  const isClosed = next?.[1] === 'END' && next.index - end <= maxBlockCharacters;
  return isClosed ? next.index + next[0].length : endOfBody(text, end);
}

const lineBreak = /(?:[\r\n]|\\{1,4}[rn]|%0[AaDd])[ \t"'+,]{0,40}/y;
const encodedRun = /[A-Za-z0-9+/=]+/y;
const encodedRunAfterSpace = /[ \t]{1,8}[A-Za-z0-9+/=]{40,}/y;
const blockHeader = /(?:Proc-Type|DEK-Info|Version|Comment): [^\r\n\\]{0,200}/y;

/** Where no END follows, the block goes on as long as there are line breaks and runs of base64. */
function endOfBody(text: string, start: number): number {
  const parts = [lineBreak, blockHeader, encodedRun, encodedRunAfterSpace];
  let end = start;
  // Each round consumes at least one character.
  for (let part = partAt(text, parts, end); part > end; part = partAt(text, parts, end)) end = part;
  return end;
}

function partAt(text: string, parts: readonly RegExp[], at: number): number {
  for (const part of parts) {
    part.lastIndex = at;
    if (part.test(text)) return part.lastIndex;
  }
  return at;
}

/** The tail of a block whose beginning was cut off: back over base64 and line breaks, not beyond `floor`. */
function startOfTail(
  text: string,
  { from, floor }: { readonly from: number; readonly floor: number },
): number {
  let start = from;
  while (start > floor && /[A-Za-z0-9+/=\r\n\\]/.test(text.charAt(start - 1))) start -= 1;
  return start;
}
