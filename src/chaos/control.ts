import type { IncomingMessage, ServerResponse } from 'node:http';
import { classifyFailure } from '../errors/classify-failure.ts';
import { readBody } from './read-body.ts';
import type { ChaosCounters } from './counting.ts';
import type { RecordedRequest } from './records.ts';
import type { FaultSchedule } from './schedule.ts';

const prefix = '/__chaos/';

/** What can be asked and told over HTTP, the same as by the handle. */
export interface Controlled {
  readonly counters: () => ChaosCounters;
  readonly requests: () => readonly RecordedRequest[];
  readonly setFaults: (faults: FaultSchedule | undefined) => void;
  readonly reset: () => void;
  /** Under TLS: what a client must be told to trust, as PEM. */
  readonly certificate: string | undefined;
}

export function isControl(path: string): boolean {
  return path.startsWith(prefix);
}

/** GET counters, requests and certificate, POST faults and reset. These requests are neither counted nor broken. */
export async function control(
  controlled: Controlled,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { status, body, pem } = await answer(controlled, request);
  const type = pem === undefined ? 'application/json' : 'application/x-pem-file';
  response.writeHead(status, { 'content-type': type }).end(pem ?? `${JSON.stringify(body)}\n`);
}

interface ControlAnswer {
  readonly status: number;
  readonly body?: unknown;
  /** Sent as it is, instead of a body of JSON. */
  readonly pem?: string;
}

async function answer(controlled: Controlled, request: IncomingMessage): Promise<ControlAnswer> {
  // A page in a browser must not steer it, whatever address it comes from.
  if (request.headers.origin !== undefined) return refused(403, 'Requests of web pages are not taken here');
  const name = (request.url ?? '').slice(prefix.length).split('?', 1)[0] ?? '';
  switch (`${request.method} ${name}`) {
    case 'GET counters':
      return { status: 200, body: controlled.counters() };
    case 'GET requests':
      return { status: 200, body: controlled.requests() };
    case 'GET certificate':
      return controlled.certificate === undefined
        ? refused(404, 'This server speaks plain http and has no certificate')
        : { status: 200, pem: controlled.certificate };
    case 'POST reset':
      controlled.reset();
      return { status: 200, body: { ok: true } };
    case 'POST faults':
      return setFaults(controlled, request);
    default:
      return refused(
        404,
        'There are GET counters, GET requests, GET certificate, POST faults and POST reset',
      );
  }
}

async function setFaults(controlled: Controlled, request: IncomingMessage): Promise<ControlAnswer> {
  const body = await readBody(request);
  if (body === undefined || body.complaint !== undefined) return refused(400, 'The body must be JSON');
  try {
    // Whatever is wrong with it, the schedule says so when it is made.
    controlled.setFaults((body.parsed ?? undefined) as FaultSchedule | undefined);
    return { status: 200, body: { ok: true } };
  } catch (error) {
    return refused(400, classifyFailure(error).message);
  }
}

function refused(status: number, error: string): ControlAnswer {
  return { status, body: { error } };
}
