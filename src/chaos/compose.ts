import { unreachable } from '../base/assert.ts';
import type { Random } from '../base/clock.ts';
import { isRecord } from '../base/json.ts';
import { estimateTokens } from '../providers/simulated/estimate-tokens.ts';
import { toWireAnswer } from './answering.ts';
import type { Answering, AnswerFacts } from './answering.ts';
import { parametersOf } from './fault-spec.ts';
import type { FaultSpec } from './fault-spec.ts';
import { obstacleTo } from './faults/fault-row.ts';
import type { FaultRow, Occasion } from './faults/fault-row.ts';
import { faultRow } from './faults/fault-table.ts';
import { jsonReply } from './reply.ts';
import type { Reply } from './reply.ts';
import type { Route } from './route.ts';
import { plainSpelling, spellEvents, spellList, spellWhole } from './spell.ts';
import { ordinarySteps } from './steps.ts';
import type { Pace, Step } from './steps.ts';
import { complaintAbout } from './wire/check-body.ts';
import { embeddingsBody } from './wire/embeddings.ts';
import { wireEncoders } from './wire/encoders.ts';
import { plainError } from './wire/error-bodies.ts';
import { modelsBody } from './wire/model-lists.ts';
import { readMindRequest } from './wire/read-mind-request.ts';
import { providerHeaders } from './wire/response-headers.ts';
import type { WireAnswer, WireEvent } from './wire/wire-answer.ts';

/** One request, as far as an answer to it needs. */
export interface Asked {
  readonly route: Route;
  readonly body: unknown;
  readonly path: string;
  readonly origin: string;
  readonly sequence: number;
  readonly requestId: string;
  readonly random: Random;
  readonly wallMs: number;
  readonly pace: Pace;
  readonly chunkCharacters: number;
  /** What is wrong with the request itself, where something is. */
  readonly complaint: string | undefined;
}

/** What is done to the connection. */
export interface Composed {
  readonly steps: Iterable<Step>;
  /** Why the fault cannot happen here. */
  readonly obstacle: string | undefined;
  /** The whole of a good answer of the model: the next request gets the next turn. */
  readonly isTurn: boolean;
}

/** From the request and its fault to steps: answer, events, spelling, reply, steps, each bent where the fault says so. */
export function compose(asked: Asked, fault: FaultSpec | undefined, answering: Answering): Composed {
  const { route, body, pace } = asked;
  const conversation =
    route.type === 'answer' && isRecord(body) ? readMindRequest(route.protocol, body) : undefined;
  const occasion: Occasion = {
    ...asked,
    parameters: fault === undefined ? {} : parametersOf(fault),
    toolNames: (conversation?.tools ?? []).map(({ name }) => name),
  };
  const row: FaultRow | undefined = fault === undefined ? undefined : faultRow(fault.name);
  const obstacle = row === undefined ? undefined : obstacleTo(row, occasion);
  const bend = obstacle === undefined ? row : undefined;
  const complaint =
    asked.complaint ??
    (route.type === 'answer' ? complaintAbout(route.protocol, body, conversation) : undefined);
  const answer =
    conversation === undefined || complaint !== undefined
      ? undefined
      : bentAnswer(toWireAnswer(answering.next(conversation), answerFacts(asked)), { bend, occasion });
  const plain = plainReply({ ...asked, complaint }, answer, { bend, occasion });
  const reply = bend?.reply?.(plain, occasion) ?? plain;
  const steps =
    bend?.steps?.(reply, occasion) ?? ordinarySteps(reply, { pace, hasFault: bend !== undefined });
  return { steps, obstacle, isTurn: answer !== undefined && bend === undefined };
}

interface Bending {
  readonly bend: FaultRow | undefined;
  readonly occasion: Occasion;
}

function bentAnswer(answer: WireAnswer, { bend, occasion }: Bending): WireAnswer {
  return bend?.answer?.(answer, occasion) ?? answer;
}

function answerFacts(asked: Asked): AnswerFacts {
  const { route, body } = asked;
  const options = isRecord(body) && isRecord(body['stream_options']) ? body['stream_options'] : {};
  return {
    ...asked,
    protocol: route.type === 'answer' ? route.protocol : 'openai-chat',
    model: route.model,
    wantsStreamUsage: options['include_usage'] === true,
  };
}

/** The reply without the fault's own reply: for an answer its events, for everything else one piece of JSON. */
function plainReply(asked: Asked, answer: WireAnswer | undefined, { bend, occasion }: Bending): Reply {
  const { route, requestId, wallMs } = asked;
  const headers = providerHeaders(route.family, { requestId, isLimited: false, wallMs });
  const bent = (events: readonly WireEvent[]): readonly WireEvent[] =>
    bend?.events?.(events, occasion) ?? events;
  const spelling = { ...plainSpelling, ...bend?.spelling?.(occasion) };
  if (answer === undefined || route.type !== 'answer' || route.framing === 'json') {
    const { status, body } = wholeBody(asked, answer);
    const json = jsonReply({ status, headers }, body);
    const pieces = spellWhole(bent([{ data: JSON.stringify(body), role: 'terminal' }]), spelling);
    return { ...json, pieces };
  }
  const events = bent(wireEncoders[route.protocol].events(answer));
  const isSse = route.framing === 'sse';
  return {
    status: 200,
    headers: {
      'content-type': isSse ? 'text/event-stream; charset=utf-8' : 'application/json; charset=utf-8',
      'cache-control': 'no-cache',
      ...headers,
    },
    isStream: true,
    pieces: isSse ? spellEvents(events, spelling) : spellList(events),
  };
}

function wholeBody(
  asked: Asked,
  answer: WireAnswer | undefined,
): { readonly status: number; readonly body: unknown } {
  const { route, complaint, requestId } = asked;
  if (complaint !== undefined)
    return plainError(route.family, { status: 400, message: complaint, requestId });
  switch (route.type) {
    case 'embeddings':
      return { status: 200, body: embeddingsBody(route, asked.body) };
    case 'models':
      return { status: 200, body: modelsBody(route.family, route.model) };
    case 'tokens':
      return { status: 200, body: tokensBody(asked) };
    case 'answer':
      if (answer !== undefined) return { status: 200, body: wireEncoders[route.protocol].json(answer) };
      return plainError(route.family, { status: 400, message: 'The body must be a JSON object', requestId });
    case 'unknown': {
      const message = `Unknown request URL: ${asked.path}. The chaos server knows chat/completions, responses, messages, models/…:generateContent, embeddings and models.`;
      return plainError(route.family, { status: 404, message, requestId });
    }
    default:
      return unreachable(route);
  }
}

function tokensBody({ route, body }: Asked): object {
  const count = estimateTokens(JSON.stringify(body ?? '').length);
  return route.family === 'gemini' ? { totalTokens: count } : { input_tokens: count };
}
