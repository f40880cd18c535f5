import { Buffer, isUtf8 } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSseParser } from './sse.ts';
import type { SseVerdict } from './sse.ts';

interface Parsed {
  readonly events: readonly (readonly [string, string])[];
  readonly comments: number;
  readonly verdict: SseVerdict;
  readonly droppedBytes: number;
}

function parse(chunks: readonly Uint8Array[], maxEventBytes?: number): Parsed {
  const events: [string, string][] = [];
  let comments = 0;
  let verdict: SseVerdict = 'ok';
  const parser = createSseParser({
    ...(maxEventBytes === undefined ? {} : { maxEventBytes }),
    onEvent: (name, data) => events.push([name, data]),
    onComment: () => {
      comments += 1;
    },
  });
  for (const chunk of chunks) {
    verdict = parser.push(chunk);
    if (verdict !== 'ok') break;
  }
  return { events, comments, verdict, droppedBytes: parser.end().droppedBytes };
}

const parseText = (text: string, maxEventBytes?: number): Parsed => parse([Buffer.from(text)], maxEventBytes);

/** All whole lines. */
function linesOf(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, Math.max(bytes.lastIndexOf(10), bytes.lastIndexOf(13)) + 1);
}

/** The whole lines before the first one that is not UTF-8. */
function textOf(bytes: Uint8Array): Uint8Array {
  let end = 0;
  for (const [index, byte] of linesOf(bytes).entries()) {
    if (byte !== 10 && byte !== 13) continue;
    if (!isUtf8(bytes.subarray(end, index))) break;
    end = index + 1;
  }
  return bytes.subarray(0, end);
}

/** The standard's algorithm, as slow and plain as it is written: what every split must agree with. */
function reference(bytes: Uint8Array): readonly (readonly [string, string])[] {
  const text = new TextDecoder().decode(bytes);
  const lines = text.split(/\r\n|\r|\n/).slice(0, -1);
  const events: [string, string][] = [];
  let [name, data]: [string, string[]] = ['', []];
  for (const line of lines) {
    if (line === '') {
      if (data.length > 0) events.push([name || 'message', data.join('\n')]);
      [name, data] = ['', []];
      continue;
    }
    const [, field = '', value = ''] = /^([^:]*)(?::\u0020?(.*))?$/su.exec(line) ?? [];
    if (line.startsWith(':')) continue;
    if (field === 'data') data.push(value);
    if (field === 'event') name = value;
  }
  return events;
}

function split(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b);
  // Copies, so that nothing may be kept of a buffer that is not ours.
  return [0, ...at].map((start, index) => bytes.slice(start, at[index] ?? bytes.length));
}

describe('createSseParser, on what is broken', () => {
  it('drops an event without its blank line, and tells its size', () => {
    expect(parseText('data: whole\n\ndata: half\n')).toMatchObject({
      events: [['message', 'whole']],
      droppedBytes: 'data: half'.length,
    });
    expect(parseText('data: whole\n\ndata: ha')).toMatchObject({ droppedBytes: 'data: ha'.length });
    expect(parseText('data: whole\n\n').droppedBytes).toBe(0);
  });

  it('refuses a line without end at the bound and keeps nothing of it', () => {
    const parser = createSseParser({ maxEventBytes: 1024 * 1024, onEvent: () => undefined });
    const piece = Buffer.alloc(64 * 1024, 'x');
    const verdicts = Array.from({ length: 1024 }, () => parser.push(piece));
    expect(verdicts.indexOf('too-large')).toBe(16);
    expect(verdicts.slice(16).every((verdict) => verdict === 'too-large')).toBe(true);
    expect(parser.end().droppedBytes).toBe(0);
  });

  it('refuses an event of many lines at the bound', () => {
    const lines = 'data: 0123456789\n'.repeat(100);
    expect(parseText(lines, 1599).verdict).toBe('too-large');
    expect(parseText(`${lines}\n`, 1600)).toMatchObject({ verdict: 'ok' });
  });

  it('gives the events before one that is too large', () => {
    const parsed = parseText(`data: a\n\ndata: ${'b'.repeat(200)}\n\ndata: c\n\n`, 100);
    expect(parsed).toMatchObject({ events: [['message', 'a']], verdict: 'too-large' });
  });

  it('counts bytes, not characters', () => {
    expect(parseText(`data: ${'€'.repeat(31)}\n\n`, 100).verdict).toBe('ok');
    expect(parseText(`data: ${'€'.repeat(32)}\n\n`, 100).verdict).toBe('too-large');
  });

  it('does not add comments up to an event that is too large', () => {
    const parsed = parseText(`${': keep-alive\n'.repeat(1000)}data: a\n\n`, 100);
    expect(parsed).toMatchObject({ events: [['message', 'a']], comments: 1000, verdict: 'ok' });
  });

  it('does not hold on to the buffer that it was given', () => {
    const chunk = Buffer.from('data: secret');
    const events: string[] = [];
    const parser = createSseParser({ onEvent: (_name, data) => events.push(data) });
    parser.push(chunk);
    chunk.fill('x');
    parser.push(Buffer.from('\n\n'));
    expect(events).toEqual(['secret']);
  });
});

describe('createSseParser', () => {
  it.each([
    {
      name: 'LF',
      text: 'data: a\n\ndata: b\n\n',
      events: [
        ['message', 'a'],
        ['message', 'b'],
      ],
    },
    {
      name: 'CR',
      text: 'data: a\r\rdata: b\r\r',
      events: [
        ['message', 'a'],
        ['message', 'b'],
      ],
    },
    {
      name: 'CR LF',
      text: 'data: a\r\n\r\ndata: b\r\n\r\n',
      events: [
        ['message', 'a'],
        ['message', 'b'],
      ],
    },
    {
      name: 'all of them',
      text: 'data: a\r\n\ndata: b\r\r\ndata: c\n\r',
      events: [
        ['message', 'a'],
        ['message', 'b'],
        ['message', 'c'],
      ],
    },
    { name: 'a byte order mark', text: '\u{FEFF}data: a\n\n', events: [['message', 'a']] },
    {
      name: 'a mark that is not the first character',
      text: 'data: a\n\n\u{FEFF}data: b\n\n',
      events: [['message', 'a']],
    },
    { name: 'a name', text: 'event: ping\ndata: {}\n\n', events: [['ping', '{}']] },
    {
      name: 'a name for one event only',
      text: 'event: x\ndata: 1\n\ndata: 2\n\n',
      events: [
        ['x', '1'],
        ['message', '2'],
      ],
    },
    { name: 'a name without data', text: 'event: x\n\ndata: 2\n\n', events: [['message', '2']] },
    { name: 'several lines of data', text: 'data: a\ndata:\ndata:  b\n\n', events: [['message', 'a\n\n b']] },
    { name: 'no space after the colon', text: 'data:a\n\n', events: [['message', 'a']] },
    { name: 'a field without a colon', text: 'data\n\n', events: [['message', '']] },
    {
      name: 'ids, retries and unknown fields',
      text: 'id: 1\nretry: 10\nfoo: bar\ndatax: no\ndata: a\n\n',
      events: [['message', 'a']],
    },
    { name: 'comments', text: ': hello\ndata: a\n:\ndata: b\n\n', events: [['message', 'a\nb']] },
  ])('reads $name, cut at every byte', ({ text, events }) => {
    const bytes = Buffer.from(text);
    expect(parse([bytes]).events).toEqual(events);
    expect(parse([...bytes].map((byte) => Uint8Array.of(byte))).events).toEqual(events);
    for (let cut = 1; cut < bytes.length; cut += 1) {
      expect(parse([bytes.subarray(0, cut), bytes.subarray(cut)]).events).toEqual(events);
    }
  });

  it('takes a line feed for the end of a line where something stands between it and a carriage return', () => {
    expect(parse([Buffer.from('\rdata: a'), Buffer.from('\n\n')]).events).toEqual([['message', 'a']]);
  });

  it('gives a text of four-byte characters unchanged, wherever it is cut', () => {
    const bytes = Buffer.from('data: "🚂é€\u{10FFFF}"\n\n');
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(parse([bytes.subarray(0, cut), bytes.subarray(cut)]).events).toEqual([
        ['message', '"🚂é€\u{10FFFF}"'],
      ]);
    }
  });

  const pieces = fc.constantFrom(
    'data:',
    'data: ',
    'event: ',
    'event',
    'id: 7',
    'retry: 1',
    ':',
    ' ',
    '\n',
    '\r',
    '\r\n',
    '\n\n',
    '{"a":1}',
    '🚂',
    'é',
    '\u{FEFF}',
    '\0',
  );
  const streams = fc.oneof(
    fc.array(pieces, { maxLength: 60 }).map((parts) => Uint8Array.from(Buffer.from(parts.join('')))),
    fc.uint8Array({ maxLength: 200 }),
    fc
      .array(fc.constantFrom(10, 13, 58, 32, 100, 97, 116, 0xe2, 0x82, 0xac, 0xf0, 0xff), { maxLength: 200 })
      .map((bytes) => Uint8Array.from(bytes)),
  );

  it('gives the same events for any split of any stream, those of the standard', () => {
    fc.assert(
      fc.property(streams, fc.array(fc.nat(1000), { maxLength: 30 }), (bytes, cuts) => {
        const whole = parse([bytes]);
        expect(whole.events).toEqual(reference(textOf(bytes)));
        expect(whole.verdict).toBe(textOf(bytes).length === linesOf(bytes).length ? 'ok' : 'not-text');
        const cut = parse(split(bytes, cuts));
        expect({ ...cut, droppedBytes: 0 }).toEqual({ ...whole, droppedBytes: 0 });
        expect(cut.droppedBytes > 0).toBe(whole.droppedBytes > 0);
      }),
      { numRuns: 5000 },
    );
  });

  it('gives the same verdict for any split, whatever the bound', () => {
    const plain = streams.filter((bytes) => bytes[0] !== 0xef);
    fc.assert(
      fc.property(
        plain,
        fc.array(fc.nat(1000), { maxLength: 30 }),
        fc.nat(60),
        (bytes, cuts, maxEventBytes) => {
          const whole = parse([bytes], maxEventBytes);
          const cut = parse(split(bytes, cuts), maxEventBytes);
          expect({ events: cut.events, verdict: cut.verdict }).toEqual({
            events: whole.events,
            verdict: whole.verdict,
          });
        },
      ),
      { numRuns: 5000 },
    );
  });
});
