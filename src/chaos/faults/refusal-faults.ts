import { joinPieces, jsonReply, wholeReply } from '../reply.ts';
import type { Reply } from '../reply.ts';
import { bodySteps, headStep, raw, rawHead } from '../steps.ts';
import type { Step } from '../steps.ts';
import { errorKinds, plainError, wireError } from '../wire/error-bodies.ts';
import type { ErrorKind, WireError } from '../wire/error-bodies.ts';
import { providerHeaders } from '../wire/response-headers.ts';
import { numberOf, wordOf } from './fault-row.ts';
import type { FaultRow, Occasion } from './fault-row.ts';
import { retryAfterHeaders, statedWaitS } from './retry-after.ts';

const waitParameters = {
  retryAfter: 'the wait: seconds, "forty-days", "year-2099", or any text as it is (abc, -1, NaN, "1, 1")',
  form: 'how it is said: seconds (default), ms (retry-after-ms), date, twice (two headers)',
};

/** What a provider refuses with: statuses and bodies. */
export const refusalFaults = {
  status: {
    group: 'refusal',
    summary: 'Any status: errors in the body shape of the provider, the good answer under a 2xx',
    parameters: { status: 'the status, 500 by default', message: 'the text of the error', ...waitParameters },
    reply: statusReply,
    // Node writes no body under these statuses, so that they go past it.
    steps: (reply, occasion) => (isBodiless(reply.status) ? statusSteps(reply, occasion) : undefined),
  },
  'rate-limit': {
    ...refusal('rate-limit', 'Too many requests (429), with a wait of 1 s where nobody says otherwise'),
    isEveryday: true,
  },
  quota: refusal('quota', 'The quota is used up: looks like a rate limit, but waiting does not help'),
  overloaded: { ...refusal('overloaded', 'The provider is overloaded (503, 529)'), isEveryday: true },
  'server-error': { ...refusal('server-error', 'An internal error of the provider (500)'), isEveryday: true },
  auth: refusal('auth', 'The key is wrong (401; 400 at Gemini)'),
  forbidden: refusal('forbidden', 'The key is right and may not do this (403)'),
  billing: refusal('billing', 'The account cannot pay (402, or under 400)'),
  'model-not-found': refusal('model-not-found', 'There is no such model (404)'),
  'model-loading': refusal('model-loading', 'The model is still being loaded (503)'),
  'context-length': refusal('context-length', 'The prompt is too long, in the spelling of the provider'),
  'request-too-large': refusal('request-too-large', 'The request has too many bytes (413)'),
  'bad-request': refusal('bad-request', 'A field of the request is wrong (400)'),
  'content-filter': refusal('content-filter', 'The prompt was blocked by a filter (400)'),
  gateway: {
    group: 'refusal',
    summary: 'A gateway before the provider answers with an HTML page (502, 503, 504)',
    isEveryday: true,
    parameters: { status: '502 by default', ...waitParameters },
    reply: gatewayReply,
  },
  'continue-storm': {
    group: 'refusal',
    summary: 'A storm of 100 Continue before the good answer',
    parameters: { count: 'how many, 200 by default' },
    steps: stormSteps,
  },
  'error-in-200': {
    group: 'refusal',
    summary: 'An error object under status 200',
    parameters: { error: 'which refusal: overloaded by default' },
    reply: (reply, occasion) => jsonReply(bare(reply, 200), errorOf(occasion).body),
  },
  'wrong-content-type': {
    group: 'refusal',
    summary: 'A login page in HTML with status 200, as a captive portal sends it',
    reply: (reply) => htmlReply(bare(reply, 200), loginPage),
  },
  redirect: {
    group: 'refusal',
    summary: 'A redirect; the other side of it answers well',
    parameters: {
      to: 'same (default): the same origin; other: another origin of this machine',
      status: '307 by default',
      loop: 'true: the other side redirects again, without end',
    },
    reply: redirectReply,
  },
} as const satisfies Record<string, FaultRow>;

/** The error that a fault inside a good response carries: `error` names it. */
export function errorOf(occasion: Occasion): WireError {
  const { route, requestId } = occasion;
  const named = wordOf(occasion, 'error');
  const kind = errorKinds.find((known) => known === named) ?? 'overloaded';
  return wireError(route.family, kind, { model: route.model, requestId, waitS: undefined });
}

function refusal(kind: ErrorKind, summary: string): FaultRow {
  return {
    group: 'refusal',
    summary,
    parameters: { status: 'another status under the same body', ...waitParameters },
    reply: (_reply, occasion) => {
      const { route, requestId } = occasion;
      const waitS = statedWaitS(occasion, kind === 'rate-limit' ? 1 : undefined);
      const error = wireError(route.family, kind, { model: route.model, requestId, waitS });
      return refusedReply(error, occasion, kind === 'rate-limit');
    },
  };
}

function refusedReply(error: WireError, occasion: Occasion, isLimited: boolean): Reply {
  const { route, requestId, wallMs } = occasion;
  const headers = {
    ...providerHeaders(route.family, { requestId, isLimited, wallMs }),
    // Gemini says its wait in the body and sends no header for it, unless one is asked for.
    ...retryAfterHeaders(occasion, isLimited && route.family !== 'gemini' ? 1 : undefined),
  };
  // A stream that is refused as a list is a list of one error.
  const isList = route.type === 'answer' && route.framing === 'list';
  const body = isList ? [error.body] : error.body;
  return jsonReply({ status: numberOf(occasion, 'status') ?? error.status, headers }, body);
}

function statusReply(reply: Reply, occasion: Occasion): Reply {
  const status = numberOf(occasion, 'status') ?? 500;
  if (status < 400) return { ...reply, status };
  const { route, requestId } = occasion;
  const message = wordOf(occasion, 'message') ?? `Chaos: status ${status}`;
  return refusedReply(plainError(route.family, { status, message, requestId }), occasion, status === 429);
}

function isBodiless(status: number): boolean {
  return status < 200 || status === 204 || status === 304;
}

function* statusSteps(reply: Reply, { pace }: Occasion): Iterable<Step> {
  const body = joinPieces(reply.pieces);
  if (pace.latencyMs > 0) yield { type: 'wait', delayMs: pace.latencyMs };
  if (reply.status === 101) {
    yield raw('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: chaos\r\n\r\n');
  } else {
    const isInterim = reply.status < 200;
    yield rawHead({
      ...reply,
      headers: isInterim
        ? {}
        : { ...reply.headers, 'content-length': String(body.length), connection: 'close' },
    });
    if (!isInterim) yield { type: 'raw', bytes: body };
  }
  yield { type: 'delivered' };
  yield { type: 'close' };
}

function gatewayReply(reply: Reply, occasion: Occasion): Reply {
  const status = numberOf(occasion, 'status') ?? 502;
  const reason = gatewayReasons[status] ?? 'Bad Gateway';
  const headers = { server: 'nginx', ...retryAfterHeaders(occasion, undefined) };
  const page = `<html>\r\n<head><title>${status} ${reason}</title></head>\r\n<body>\r\n<center><h1>${status} ${reason}</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n`;
  return htmlReply({ ...bare(reply, status), headers }, page);
}

const gatewayReasons: Readonly<Record<number, string>> = {
  503: 'Service Temporarily Unavailable',
  504: 'Gateway Time-out',
};

function* stormSteps(reply: Reply, occasion: Occasion): Iterable<Step> {
  const count = Math.min(numberOf(occasion, 'count') ?? 200, 100_000);
  for (let sent = 0; sent < count; sent += 1) yield raw('HTTP/1.1 100 Continue\r\n\r\n');
  yield { type: 'delivered' };
  yield headStep(reply);
  yield* bodySteps(reply.pieces, 0);
  yield { type: 'finish' };
}

/** Marks where a redirected request comes from, so that it is redirected once and not for ever. */
export const redirectMark = 'rerail-redirected';

function redirectReply(reply: Reply, occasion: Occasion): Reply {
  const url = new URL(occasion.origin);
  const [pathname = '', query = ''] = occasion.path.split('?', 2);
  url.pathname = pathname;
  url.search = query;
  url.searchParams.set(redirectMark, wordOf(occasion, 'loop') === 'true' ? 'loop' : 'once');
  // Another name of the same machine is another origin to every client.
  if (wordOf(occasion, 'to') === 'other')
    url.hostname = url.hostname === 'localhost' ? '127.0.0.1' : 'localhost';
  const headers = { ...reply.headers, location: url.href };
  return wholeReply({ status: numberOf(occasion, 'status') ?? 307, headers }, '');
}

function bare(reply: Reply, status: number): Pick<Reply, 'status' | 'headers'> {
  return { status, headers: reply.headers };
}

function htmlReply(reply: Pick<Reply, 'status' | 'headers'>, page: string): Reply {
  return wholeReply(
    { ...reply, headers: { ...reply.headers, 'content-type': 'text/html; charset=utf-8' } },
    page,
  );
}

const loginPage =
  '<!DOCTYPE html>\n<html><head><title>Sign in to the network</title></head><body><form action="/login" method="post"><h1>Sign in</h1><input name="user"><input name="password" type="password"></form></body></html>\n';
