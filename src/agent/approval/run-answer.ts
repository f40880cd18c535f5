import { isRecord } from '../../base/json.ts';
import type { Json } from '../../base/json.ts';
import { adviseName } from '../../base/nearest.ts';
import { parseToolArguments } from '../../model/tool-arguments.ts';
import { readVerification } from './approval.ts';
import { isSameJson, readFields } from './person-answer.ts';
import type { PersonRequest } from '../run-outcome.ts';
import { copyStrictJson } from '../report/strict-json.ts';

// What a program hands in as the answer of a person. A slip of the program is refused before anything is on record, and the question
// stays open: it is neither a yes nor a no.

/** Names the call that is meant, so that a late answer cannot meet another question. `{ ...request, … }` names it too. */
export interface AnsweredCall {
  readonly id?: string;
  readonly hash?: string;
  readonly tool?: string;
}

/** The answer to a request of the type `approval`. */
export type ApprovalAnswer =
  | boolean
  | (AnsweredCall & {
      readonly approved: true;
      /** Other arguments for the call than the model gave: it runs with these. */
      readonly input?: Json | object;
      readonly reason?: string;
    })
  | (AnsweredCall & { readonly approved: false; readonly reason?: string })
  /** No person can be asked: denied, and the model learns why. */
  | { readonly type: 'absent' };

/** The answer to a request of the type `in-doubt`. */
export type InDoubtAnswer =
  | 'happened'
  | 'did-not-happen'
  | 'unknown'
  | (AnsweredCall & { readonly happened: boolean; readonly result?: Json | object })
  | (AnsweredCall & {
      readonly type: 'happened' | 'did-not-happen' | 'unknown';
      readonly result?: Json | object;
    });

/** The answer to a request of the type `question`: a text, or that there will be none. */
export type QuestionAnswer =
  string | { readonly answer: string } | false | { readonly approved: false; readonly reason?: string };

/** What `agent.resume(runId, { answer })` and `onApproval` take, by the type of the request: an `ApprovalAnswer`, `InDoubtAnswer` or `QuestionAnswer`. */
export type RunAnswer = ApprovalAnswer | Exclude<InDoubtAnswer, string> | QuestionAnswer;

/** The field under which a changed input is on record. `input` names the call that was asked about. */
export const changedField = 'changedInput';

/** What an answer comes to: nothing wrong with it, and the changed input where it has one; or what is wrong. */
export type AnswerCheck =
  | { readonly type: 'fine'; readonly changed?: Readonly<Record<string, Json>> }
  | { readonly type: 'misuse'; readonly problem: string };

/** Checks the form of an answer against its request. Where that is not known, it must fit one of the kinds. Never throws. */
export function checkAnswer(request: PersonRequest | undefined, answer: unknown): AnswerCheck {
  if (request?.type === 'mend') return fine;
  if (request !== undefined) return checkers[request.type](answer, request);
  const checks = Object.values(checkers).map((check) => check(answer, undefined));
  return checks.find(({ type }) => type === 'fine') ?? checks[0] ?? fine;
}

const fine: AnswerCheck = { type: 'fine' };

type Kind = Exclude<PersonRequest['type'], 'mend'>;

const checkers: Readonly<Record<Kind, (answer: unknown, request: PersonRequest | undefined) => AnswerCheck>> =
  { approval: checkApproval, 'in-doubt': checkInDoubt, question: checkQuestion };

/** Of a request: `{ ...request, approved: true }` still says what it was an answer to. */
const requestFields = [
  'type',
  'id',
  'tool',
  'input',
  'hash',
  'why',
  'expiresAt',
  'isRepaired',
  'warning',
  'provenance',
  'question',
] as const;

function checkApproval(answer: unknown, request: PersonRequest | undefined): AnswerCheck {
  if (typeof answer === 'boolean') return fine;
  const read = readKnown(
    answer,
    ['approved', 'input', 'reason'],
    'true, false or { approved: true | false }',
  );
  if ('problem' in read) return misuse(read.problem);
  const { fields } = read;
  if (fields.get('type') === 'absent') {
    return fields.size === 1 ? fine : misuse('{ type: "absent" } must be the only answer');
  }
  const unfit = wrongType(fields, 'approval') ?? wrongReason(fields);
  if (unfit !== undefined) return misuse(unfit);
  const approved = fields.get('approved');
  if (typeof approved !== 'boolean')
    return misuse(`"approved" must be true or false, got ${shown(approved)}`);
  if (!approved || !fields.has('input')) return fine;
  return checkChanged(fields.get('input'), request);
}

/** Arguments that a person wrote are held to what holds for those of a model. */
function checkChanged(input: unknown, request: PersonRequest | undefined): AnswerCheck {
  const plain = copyStrictJson(input);
  const text = plain === undefined ? undefined : JSON.stringify(plain);
  if (text === undefined || text.length > maxInputCharacters)
    return misuse('"input" must be plain JSON of reasonable size: finite numbers, texts, lists and objects');
  if (request?.type === 'approval' && isSameJson(plain, request.input)) return fine;
  const read = parseToolArguments(text);
  if (read.type !== 'parsed')
    return misuse(`"input": ${read.type === 'empty' ? 'the arguments are empty' : read.reason}`);
  return { type: 'fine', changed: read.value };
}

const maxInputCharacters = 1_000_000;

function isHappening(answer: unknown): boolean {
  return typeof answer === 'string' && (answer === 'unknown' || readVerification(answer).type !== 'unknown');
}

function checkInDoubt(answer: unknown): AnswerCheck {
  if (isHappening(answer)) return fine;
  const forms = '{ happened: true | false } or one of "happened", "did-not-happen", "unknown"';
  const read = readKnown(answer, ['happened', 'result', 'reason'], forms);
  if ('problem' in read) return misuse(read.problem);
  const { fields } = read;
  const type = fields.get('type');
  const isNamed = isHappening(type);
  const unfit = isNamed ? undefined : wrongType(fields, 'in-doubt');
  if (unfit !== undefined) return misuse(unfit);
  const happened = fields.get('happened');
  if (happened === undefined && isNamed) return fine;
  if (typeof happened !== 'boolean')
    return misuse(`"happened" must be true or false, got ${shown(happened)}`);
  return isNamed && readVerification(type).type !== (happened ? 'happened' : 'did-not-happen')
    ? misuse(`"happened" says ${String(happened)} and "type" says ${shown(type)}`)
    : fine;
}

function checkQuestion(answer: unknown, request: PersonRequest | undefined): AnswerCheck {
  if (answer === false) return fine;
  const forms = 'a text, { answer: "…" } or { approved: false }';
  if (typeof answer === 'string')
    return answer.trim() === '' ? misuse(`it is empty, ${forms} expected`) : fine;
  const read = readKnown(answer, ['answer', 'approved', 'reason'], forms);
  if ('problem' in read) return misuse(read.problem);
  const { fields } = read;
  const unfit = wrongType(fields, 'question') ?? wrongReason(fields) ?? wrongQuestion(fields, request);
  if (unfit !== undefined) return misuse(unfit);
  const text = fields.get('answer');
  if (text === undefined)
    return fields.get('approved') === false ? fine : misuse(`it has no "answer", ${forms} expected`);
  if (fields.has('approved')) return misuse('it has both "answer" and "approved"');
  return typeof text === 'string' && text.trim() !== ''
    ? fine
    : misuse(`"answer" must be a text, got ${shown(text)}`);
}

type Fields = ReadonlyMap<string, unknown>;

/** The fields of an answer, each of them known, or what is wrong. */
function readKnown(
  answer: unknown,
  own: readonly string[],
  forms: string,
): { readonly fields: Fields } | { readonly problem: string } {
  if (!isRecord(answer)) return { problem: `it must be ${forms}, got ${shown(answer)}` };
  const names = namesOf(answer);
  const fields = names === undefined ? undefined : readFields(answer, names);
  if (names === undefined || fields === undefined)
    return { problem: 'it cannot be read: pass a plain object without getters' };
  const known = [...own, ...requestFields];
  const unknown = names.find((name) => !known.includes(name));
  // The near name among its own fields: a part of the request that is spread is not misspelt.
  if (unknown !== undefined)
    return { problem: `there is no "${unknown.slice(0, 100)}" in it: ${adviseName(unknown, own)}` };
  return { fields };
}

/** A proxy may throw where its names are read. */
function namesOf(answer: object): readonly string[] | undefined {
  try {
    return Reflect.ownKeys(answer).map(String);
  } catch {
    return undefined;
  }
}

function wrongType(fields: Fields, expected: Kind): string | undefined {
  const type = fields.get('type');
  return type === undefined || type === expected
    ? undefined
    : `"type" must be "${expected}" or be left out, got ${shown(type)}`;
}

/** An answer that names a question is given to no other. */
function wrongQuestion(fields: Fields, request: PersonRequest | undefined): string | undefined {
  if (request?.type !== 'question') return undefined;
  const differs = (['id', 'question'] as const).find(
    (name) => fields.has(name) && fields.get(name) !== request[name],
  );
  return differs === undefined
    ? undefined
    : `its "${differs}" is that of another question; "${request.id}" is open`;
}

function wrongReason(fields: Fields): string | undefined {
  const reason = fields.get('reason');
  return reason === undefined || typeof reason === 'string'
    ? undefined
    : `"reason" must be a text, got ${shown(reason)}`;
}

function misuse(problem: string): AnswerCheck {
  return { type: 'misuse', problem };
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 100));
  if (value === null || typeof value !== 'object') return String(value);
  return Array.isArray(value) ? 'a list' : 'an object';
}
