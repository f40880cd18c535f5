import { defined } from '../../../base/defined.ts';
import { isRecord } from '../../../base/json.ts';
import { parseExactly } from '../../../model/check/exact-json.ts';
import type { FinishReason } from '../../../model/finish.ts';
import { nestsTooDeeply } from '../../../model/check/json-depth.ts';
import type { StreamPart } from '../../../model/stream-part.ts';
import type { DecodeResult, StreamDecoder, StreamEnding } from '../../protocol.ts';
import { parseEventData, wireText } from '../decode-json.ts';
import { createGeminiParts, readPart } from './gemini-parts.ts';
import type { GeminiParts } from './gemini-parts.ts';
import { geminiUsage } from './gemini-usage.ts';
import { readMarker } from '../marker.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One answer while it arrives. */
interface Reading {
  readonly parts: GeminiParts;
  hasStarted: boolean;
  /** `finished` was said, and nothing can be added. */
  isClosed: boolean;
  /** Why it ended, as far as that was said; parts and counts may follow. */
  end: { readonly type: 'finish' | 'block'; readonly raw: string } | undefined;
  /** More of the answer came after the reason. */
  goesOn: boolean;
  /** Something of the answer came, with or without a reason. */
  hasContent: boolean;
  /** The reason came with the first piece of the answer. */
  isEarly: boolean;
}

/**
 * Reads a stream of Gemini's answers. The protocol has no last event: an answer is whole when it said why it ended, so
 * `finished` comes from `end()`, or with the mark that some gateways put behind it.
 */
export function createGeminiDecoder(): StreamDecoder {
  const reading = createReading();
  return {
    event: ({ name, data }) => {
      if (reading.isClosed) return { type: 'parts', parts: [] };
      const marker = readMarker(data);
      if (marker !== undefined) return { type: 'parts', parts: marker === 'done' ? endParts(reading) : [] };
      // Gateways write errors of their own as they like; the classifier reads words too.
      if (name === 'error') return problem({ type: 'provider-error' }, data, []);
      const parsed = parseEventData(data);
      if (parsed.type === 'object') return readAnswers(reading, [parsed.value], data);
      const list = data.trimStart().startsWith('[') ? parseList(data) : undefined;
      return list === undefined ? { ...parsed, parts: [] } : readAnswers(reading, list, data);
    },
    end: () => ({ type: 'parts', parts: endParts(reading) }),
    ending: () => endingOf(reading),
  };
}

/** Reads an answer that came in one piece: one object, or the list that the stream would have been. */
export function decodeGeminiBody(body: unknown): DecodeResult {
  const reading = createReading();
  const answers: readonly unknown[] = Array.isArray(body) ? body : [body];
  const result = readAnswers(reading, answers, body);
  if (result.type === 'problem') return result;
  const isAnswer = answers.some(
    (answer) =>
      isRecord(answer) && (answer['candidates'] !== undefined || isRecord(answer['promptFeedback'])),
  );
  if (!isAnswer) return problem(malformedReason('The body holds no candidates'), body, result.parts);
  return { type: 'parts', parts: [...result.parts, ...endParts(reading)] };
}

function createReading(): Reading {
  return {
    parts: createGeminiParts(),
    hasStarted: false,
    isClosed: false,
    end: undefined,
    goesOn: false,
    hasContent: false,
    isEarly: false,
  };
}

/** Older models give the reason "STOP" with every event; newer ones only with the last, which may be the only one. */
function endingOf({ end, goesOn, isEarly }: Reading): StreamEnding {
  if (end === undefined || goesOn) return 'open';
  return isEarly && end.raw === 'STOP' ? 'likely' : 'said';
}

/** A list is not what the protocol promises for an event, but errors come in one. */
function parseList(data: string): readonly unknown[] | undefined {
  if (nestsTooDeeply(data)) return undefined;
  try {
    const value = parseExactly(data);
    return Array.isArray(value) ? value : undefined;
  } catch {
    // Not JSON: the caller has that problem already.
    return undefined;
  }
}

type Wrong = { readonly type: 'malformed'; readonly reason: string } | { readonly type: 'provider-error' };

function malformedReason(reason: string): Wrong {
  return { type: 'malformed', reason };
}

/** `source` is what came over the wire, as text or parsed. */
function readAnswers(reading: Reading, answers: readonly unknown[], source: unknown): DecodeResult {
  const output: StreamPart[] = [];
  for (const answer of answers) {
    const wrong = readAnswer(reading, answer, output);
    if (wrong !== undefined) return problem(wrong, source, output);
  }
  return { type: 'parts', parts: output };
}

function problem(wrong: Wrong, source: unknown, parts: readonly StreamPart[]): DecodeResult {
  const data = typeof source === 'string' ? source : wireText(source);
  if (wrong.type === 'provider-error') {
    return { type: 'problem', problem: { type: 'provider-error', body: data }, parts };
  }
  return { type: 'problem', problem: { ...wrong, data }, parts };
}

function readAnswer(reading: Reading, answer: unknown, output: StreamPart[]): Wrong | undefined {
  if (!isRecord(answer)) return malformedReason('An answer is not a JSON object');
  const { error, candidates, promptFeedback, usageMetadata } = answer;
  if (isRecord(error) || isWord(error)) return { type: 'provider-error' };
  if (!reading.hasStarted) start(reading, answer, output);
  const list = candidates ?? [];
  if (!Array.isArray(list)) return malformedReason('"candidates" is not a list');
  const reason = readCandidates(reading, list, output);
  if (reason !== undefined) return malformedReason(reason);
  if (list.length === 0 && isRecord(promptFeedback) && isWord(promptFeedback['blockReason'])) {
    setEnd(reading, { type: 'block', raw: promptFeedback['blockReason'] });
  }
  if (isRecord(usageMetadata)) {
    const usage = geminiUsage(usageMetadata);
    if (Object.keys(usage).length > 0) output.push({ type: 'usage', usage });
  }
  return undefined;
}

function start(reading: Reading, { responseId, modelVersion }: Fields, output: StreamPart[]): void {
  reading.hasStarted = true;
  if (isWord(responseId)) reading.parts.responseId = responseId;
  output.push({
    type: 'started',
    ...defined({
      responseId: isWord(responseId) ? responseId : undefined,
      servedBy: isWord(modelVersion) ? modelVersion : undefined,
    }),
  });
}

/** A later reason does not take back that the answer was cut, blocked or broken. */
function setEnd(reading: Reading, end: NonNullable<Reading['end']>): void {
  const known = reading.end;
  const isFinal = known !== undefined && (known.type === 'block' || isTroubled(known.raw));
  if (!isFinal) reading.end = end;
}

function isTroubled(raw: string): boolean {
  const reason = finishReasons.get(raw);
  return reason !== undefined && reason !== 'stop';
}

/** Of several candidates only the first is the answer. */
function readCandidates(
  reading: Reading,
  candidates: readonly unknown[],
  output: StreamPart[],
): string | undefined {
  for (const candidate of candidates) {
    if (!isRecord(candidate)) return 'A candidate is not a JSON object';
    if ((candidate['index'] ?? 0) !== 0) continue;
    // Older models give a reason with every event: there, a call behind one is none too late.
    const isLate = reading.end !== undefined && !isWord(candidate['finishReason']);
    const isOver = reading.end !== undefined;
    const before = output.length;
    if (isWord(candidate['finishReason']))
      setEnd(reading, { type: 'finish', raw: candidate['finishReason'] });
    const content = candidate['content'];
    const parts = isRecord(content) ? content['parts'] : undefined;
    if (parts === undefined || parts === null) continue;
    if (!Array.isArray(parts)) return '"parts" is not a list';
    for (const part of parts as readonly unknown[]) {
      if (!isRecord(part)) return 'A part is not a JSON object';
      if (isLate && isRecord(part['functionCall'])) return 'A function call came after the finishReason';
      const reason = readPart(reading.parts, part, output);
      if (reason !== undefined) return reason;
    }
    if (output.length === before) continue;
    if (isOver) reading.goesOn = true;
    else if (reading.end !== undefined) reading.isEarly = !reading.hasContent;
    reading.hasContent = true;
  }
  return undefined;
}

function endParts(reading: Reading): readonly StreamPart[] {
  const { end, parts, isClosed } = reading;
  if (end === undefined || isClosed) return [];
  reading.isClosed = true;
  const { raw, type } = end;
  if (type === 'block') return [{ type: 'finished', finish: { reason: 'filtered', raw } }];
  const known = finishReasons.get(raw) ?? 'other';
  const reason = known === 'stop' && parts.hasCalls ? 'tool-calls' : known;
  return [{ type: 'finished', finish: { reason, raw } }];
}

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'filtered'],
  ['RECITATION', 'filtered'],
  ['BLOCKLIST', 'filtered'],
  ['PROHIBITED_CONTENT', 'filtered'],
  ['SPII', 'filtered'],
  // Vertex only.
  ['MODEL_ARMOR', 'filtered'],
  ['LANGUAGE', 'filtered'],
  ['IMAGE_SAFETY', 'filtered'],
  ['IMAGE_PROHIBITED_CONTENT', 'filtered'],
  ['IMAGE_RECITATION', 'filtered'],
  ['MALFORMED_FUNCTION_CALL', 'malformed-call'],
  ['UNEXPECTED_TOOL_CALL', 'malformed-call'],
  ['MISSING_THOUGHT_SIGNATURE', 'malformed-call'],
  ['TOO_MANY_TOOL_CALLS', 'interrupted'],
  ['OTHER', 'interrupted'],
  ['MALFORMED_RESPONSE', 'interrupted'],
]);

function isWord(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
