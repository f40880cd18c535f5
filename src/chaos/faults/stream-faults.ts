import { joinPieces } from '../reply.ts';
import type { Reply } from '../reply.ts';
import { headStep } from '../steps.ts';
import type { Step } from '../steps.ts';
import type { WireEvent } from '../wire/wire-answer.ts';
import { isStream, numberOf, wordOf } from './fault-row.ts';
import type { FaultRow, Occasion } from './fault-row.ts';
import { errorOf } from './refusal-faults.ts';

const after = { after: 'how many events of content come before; half of them by default' };

/** What is wrong with the events of a stream. Where an answer is one piece of JSON, that piece is the one event. */
export const streamFaults = {
  crlf: {
    group: 'stream',
    summary: 'A good stream with other line ends',
    parameters: { end: 'crlf (default), cr, mixed' },
    needs: 'stream',
    spelling: (occasion) => ({ lineEnd: lineEnds[wordOf(occasion, 'end') ?? 'crlf'] ?? '\r\n' }),
  },
  bom: {
    group: 'stream',
    summary: 'A good answer with a byte order mark before it',
    spelling: () => ({ hasBom: true }),
  },
  comments: {
    group: 'stream',
    summary: 'A good stream with comments, ids, retry fields and unknown fields in it',
    needs: 'stream',
    spelling: () => ({ hasComments: true }),
  },
  'multiline-data': {
    group: 'stream',
    summary: 'A good stream whose JSON is spread over several data lines',
    needs: 'stream',
    spelling: () => ({ isMultiline: true }),
  },
  'missing-final-blank-line': {
    group: 'stream',
    summary: 'A stream whose last event lacks the blank line that ends it',
    needs: 'stream',
    spelling: () => ({ hasFinalBlankLine: false }),
  },
  'duplicate-event': {
    group: 'stream',
    summary: 'One event of content comes twice',
    needs: 'stream',
    parameters: after,
    events: (events, occasion) => {
      const at = middleOf(events, occasion);
      return [...events.slice(0, at + 1), ...marked(events.slice(at, at + 1)), ...events.slice(at + 1)];
    },
  },
  'out-of-order': {
    group: 'stream',
    summary: 'Two neighbouring events of content are swapped',
    needs: 'stream',
    parameters: after,
    events: (events, occasion) => {
      const at = Math.min(middleOf(events, occasion), events.length - 2);
      const swapped = marked(events.slice(at, at + 2).toReversed());
      return [...events.slice(0, at), ...swapped, ...events.slice(at + 2)];
    },
  },
  'missing-terminal': {
    group: 'stream',
    summary: 'Everything but the announcement of the end, and then a proper end of the response',
    parameters: { which: 'all (default), or last: only the very last event' },
    isEveryday: true,
    events: withoutTerminal,
  },
  'error-in-stream': {
    group: 'stream',
    summary: 'An error event of the provider in the middle of the stream',
    parameters: { ...after, error: 'which refusal: overloaded by default' },
    isEveryday: true,
    events: (events, occasion) => {
      if (!isStream(occasion.route)) return [fault({ data: JSON.stringify(errorOf(occasion).body) })];
      return [...events.slice(0, middleOf(events, occasion) + 1), errorEvent(occasion)];
    },
  },
  'invalid-json-event': {
    group: 'stream',
    summary: 'One event is not JSON; the stream goes on',
    parameters: after,
    events: (events, occasion) => {
      const at = middleOf(events, occasion);
      return events.map((event, index) => {
        return index === at ? fault({ ...event, data: `${event.data.slice(0, -2)}, oops` }) : event;
      });
    },
  },
  'giant-event': {
    group: 'stream',
    summary: 'An event of 64 MB without a line break',
    parameters: { megabytes: 'its size, 64 by default' },
    steps: giantSteps,
  },
  'endless-keepalive': {
    group: 'stream',
    summary: 'Signs of life for ever, and no content',
    parameters: { everyMs: 'the wait between them, 100 by default' },
    steps: keepaliveSteps,
  },
} as const satisfies Record<string, FaultRow>;

const lineEnds: Readonly<Record<string, '\r\n' | '\r' | 'mixed'>> = {
  crlf: '\r\n',
  cr: '\r',
  mixed: 'mixed',
};

/** The index of an event of content: that after so many, else the middle one; any event where there is no content. */
function middleOf(events: readonly WireEvent[], occasion: Occasion): number {
  const content = events.flatMap(({ role }, index) => (role === 'content' ? [index] : []));
  const wanted = numberOf(occasion, 'after') ?? Math.floor((content.length - 1) / 2);
  return content[Math.min(wanted, content.length - 1)] ?? Math.max(0, events.length - 1);
}

function marked(events: readonly WireEvent[]): readonly WireEvent[] {
  return events.map((event, index) => (index === events.length - 1 ? { ...event, isFault: true } : event));
}

function fault(event: Pick<WireEvent, 'data' | 'name'>): WireEvent {
  return { ...event, role: 'note', isFault: true };
}

/** Under a proper end of the response. A single piece of JSON loses its second half. */
function withoutTerminal(events: readonly WireEvent[], occasion: Occasion): readonly WireEvent[] {
  const { route } = occasion;
  if (route.type !== 'answer' || route.framing === 'json') {
    return events.map((event) => fault({ data: event.data.slice(0, Math.floor(event.data.length / 2)) }));
  }
  if (wordOf(occasion, 'which') === 'last') return marked(events.slice(0, -1));
  const kept = events.filter(({ role }) => role !== 'terminal');
  return marked(kept);
}

/** Each provider has its own event for it. Gemini and OpenAI chat send the body of the error as data. */
function errorEvent(occasion: Occasion): WireEvent {
  const { body } = errorOf(occasion);
  const { route } = occasion;
  if (route.type !== 'answer') return fault({ data: JSON.stringify(body) });
  if (route.protocol === 'anthropic') return fault({ name: 'error', data: JSON.stringify(body) });
  if (route.protocol !== 'openai-responses') return fault({ data: JSON.stringify(body) });
  const { error } = body as { readonly error: { readonly message: string; readonly code: string | null } };
  const fields = {
    type: 'error',
    code: error.code,
    message: error.message,
    param: null,
    sequence_number: 99,
  };
  return fault({ name: 'error', data: JSON.stringify(fields) });
}

const chunkBytes = 64 * 1024;
const megabyte = 1024 * 1024;
const maxGiantMegabytes = 4096;

function* giantSteps(reply: Reply, occasion: Occasion): Iterable<Step> {
  const isEvents = isStream(occasion.route);
  const chunks = (Math.min(numberOf(occasion, 'megabytes') ?? 64, maxGiantMegabytes) * megabyte) / chunkBytes;
  const bytes = Buffer.alloc(chunkBytes, 'x');
  // By then nobody can take it for an ordinary event.
  const deliveredAt = Math.min(Math.ceil(chunks), megabyte / chunkBytes) - 1;
  yield headStep({ ...reply, isStream: true });
  yield { type: 'body', bytes: Buffer.from(`${isEvents ? 'data: ' : ''}{"giant":"`) };
  for (let sent = 0; sent < chunks; sent += 1) {
    yield { type: 'body', bytes };
    if (sent === deliveredAt) yield { type: 'delivered' };
  }
  yield { type: 'body', bytes: Buffer.from(`"}${isEvents ? '\n\n' : ''}`) };
  if (isEvents) yield { type: 'body', bytes: joinPieces(reply.pieces) };
  yield { type: 'finish' };
}

function* keepaliveSteps(reply: Reply, occasion: Occasion): Iterable<Step> {
  const delayMs = Math.max(1, numberOf(occasion, 'everyMs') ?? 100);
  const sign = Buffer.from(keepalive(occasion));
  yield headStep({ ...reply, isStream: true });
  yield { type: 'body', bytes: sign };
  yield { type: 'delivered' };
  // Ends when the other side has had enough, or when the server is closed: every step looks at that.
  while (true) {
    yield { type: 'wait', delayMs };
    yield { type: 'body', bytes: sign };
  }
}

/** White space before JSON means nothing, so that some gateways send it to keep a connection alive. */
function keepalive({ route }: Occasion): string {
  if (!isStream(route)) return ' ';
  return route.family === 'anthropic' ? 'event: ping\ndata: {"type": "ping"}\n\n' : ': keep-alive\n\n';
}
