import type { Remembered, Reply, ToolQuestion } from '../../agent/tools/tool-call.ts';
import { createAborter, onAbort } from '../../base/abort.ts';
import type { Aborter } from '../../base/abort.ts';
import { describeThrown, readProperty } from '../../errors/classify/safe-read.ts';
import { clean } from '../../errors/failure.ts';
import { runOwned } from '../../model/stray-errors.ts';
import type { Schema, ToolContext } from '../../model/tool.ts';
import { addLedgers } from '../../resilience/ledger.ts';
import type { Ledger } from '../../resilience/ledger.ts';
import type { ToolRun, ToolRunOptions } from './tool-run.ts';
import { markedError } from './tool-markers.ts';
import { checkOptions } from '../../model/check/check-options.ts';
import { failNames } from '../../model/tool.ts';

/** One call while it lasts. */
export interface ToolCall {
  readonly run: ToolRun;
  readonly options: ToolRunOptions;
  readonly startedMs: number;
  /** The tool's own code has been reached. */
  hasBegun: boolean;
  /** The call is over, with the reason that its signal gets. */
  interruption: { readonly reason: unknown } | undefined;
  /** Made when the tool first asks for its signal: most never do, and it is the dearest part of a call. */
  controller: Aborter | undefined;
  charge: Ledger | undefined;
  /** By name; made when the tool first remembers something. */
  remembered: Map<string, Remembered> | undefined;
  /** The question that ends this attempt, where no person has answered it yet. */
  asked: ToolQuestion | undefined;
  /** The replies that the tool was given back in this attempt; made with the first. */
  heard: Set<Reply> | undefined;
  /** It has left work in the background, which a second call would begin again. */
  hasBackground: boolean;
}

export function beginCall(run: ToolRun, options: ToolRunOptions): ToolCall {
  return {
    run,
    options,
    startedMs: options.clock.monotonicMs(),
    hasBegun: false,
    interruption: undefined,
    controller: undefined,
    charge: undefined,
    remembered: undefined,
    asked: undefined,
    heard: undefined,
    hasBackground: false,
  };
}

/** Ends the call for the tool: its signal aborts, and its later reports are ignored. */
export function interruptCall(call: ToolCall, reason: unknown): void {
  call.interruption = { reason };
  // Who listens is called here and now, and is the tool's code.
  if (call.controller !== undefined) runOwned(call.options.owner, () => call.controller?.abort(reason));
}

/** What the tool is given besides its input. */
export function createToolContext(call: ToolCall): ToolContext {
  const { runId, callId, attempt } = call.run;
  const context: Pick<ToolContext, Given> & Owned = {
    runId,
    callId,
    attempt,
    // Code without types may hand in more than a hint.
    retry: (hint, ...more: readonly unknown[]) => {
      if (more[0] !== undefined) checkOptions({ of: 'retry()', rules: [] }, more[0]);
      throw markedError({ type: 'retry', hint: textOf(hint) });
    },
    fail: (message, details = {}) => {
      checkOptions({ of: 'fail()', rules: failNames }, details);
      throw markedError({ type: 'fail', message: textOf(message), details });
    },
    progress: (message, details) => reportProgress(call, { message, details }),
    // The type of the value follows from the schema, which the compiler cannot see through `unknown`.
    assist: ((prompt: string, schema?: Schema) => assist(call, prompt, schema)) as ToolContext['assist'],
    ask: (question) => askPerson(call, question),
    background: (label, work) => runInBackground(call, { label, work }),
    remember: (name, text) => remember(call, { name, text }),
    recall: (name) => call.remembered?.get(name)?.text ?? call.run.recall?.(name),
    [ownerOf]: call,
  };
  Object.defineProperty(context, 'idempotencyKey', onDemand.idempotencyKey);
  Object.defineProperty(context, 'signal', onDemand.signal);
  return context as unknown as ToolContext; // The two that were missing have just been added.
}

type Given = Exclude<keyof ToolContext, keyof typeof onDemand>;

const ownerOf = Symbol('call');

interface Owned {
  readonly [ownerOf]: ToolCall;
}

/**
 * What few tools ask for and what costs something, made when it is asked for. Shared by all calls: a getter written in a literal
 * is a function of its own each time, which engines keep beyond the reach of the quick collection of garbage, and with it
 * all that it can see.
 */
const onDemand = {
  idempotencyKey: {
    enumerable: true,
    configurable: true,
    get(this: Owned) {
      const { idempotencyKey } = this[ownerOf].run;
      return typeof idempotencyKey === 'string' ? idempotencyKey : idempotencyKey();
    },
  },
  signal: {
    enumerable: true,
    configurable: true,
    get(this: Owned) {
      return signalOf(this[ownerOf]);
    },
  },
} as const;

function signalOf(call: ToolCall): AbortSignal {
  if (call.controller === undefined) {
    call.controller = createAborter();
    if (call.interruption !== undefined) call.controller.abort(call.interruption.reason);
  }
  return call.controller.signal();
}

/** A tool without types may say anything. */
function textOf(said: unknown): string {
  return typeof said === 'string' ? said : describeThrown(said);
}

const maxProgressLength = 500;

function reportProgress(
  call: ToolCall,
  { message, details }: { readonly message: unknown; readonly details: unknown },
): void {
  if (call.interruption !== undefined) return;
  const done = readProperty(details, 'done');
  const total = readProperty(details, 'total');
  call.options.onProgress({
    message: clean(textOf(message), maxProgressLength),
    ...(Number.isFinite(done) ? { done: done as number } : {}), // `isFinite` lets only numbers through.
    ...(Number.isFinite(total) ? { total: total as number } : {}),
  });
}

function assist(call: ToolCall, prompt: string, schema: Schema | undefined): Promise<unknown> {
  const answer = askModel(call, prompt, schema);
  // A tool that does not wait for it must not end the process when it fails; one that does still sees it.
  answer.catch(() => undefined);
  return answer;
}

async function askModel(call: ToolCall, prompt: string, schema: Schema | undefined): Promise<unknown> {
  const { value, charge } = await call.options.assist(prompt, schema, signalOf(call));
  call.charge = call.charge === undefined ? charge : addLedgers(call.charge, charge);
  return value;
}

function askPerson(call: ToolCall, question: unknown): Promise<string> {
  const reply = replyTo(call, question);
  // A tool that does not wait for it must not end the process; its call ends with the question all the same.
  reply.catch(() => undefined);
  return reply;
}

const maxQuestionLength = 4000;
/** More questions than any person answers for one call. */
const maxQuestions = 50;

/** Runs at once up to its end, so that what was asked is known before the tool continues. */
async function replyTo(call: ToolCall, asked: unknown): Promise<string> {
  if (call.interruption !== undefined) throw call.interruption.reason;
  const question = readQuestion(asked);
  const { replies } = call.run;
  if (replies === undefined) throw new TypeError('A person can be asked by "execute", and not by "verify"');
  // The same question again is a new one: each reply is given back once.
  const reply = replies.find((one) => one.question === question && call.heard?.has(one) !== true);
  if (reply !== undefined) {
    (call.heard ??= new Set()).add(reply);
    return reply.text;
  }
  if (replies.length >= maxQuestions)
    throw new TypeError(`A call of a tool can ask a person at most ${maxQuestions} questions`);
  if (call.hasBackground)
    throw new TypeError('Ask before you start work in the background: it would be started again');
  call.asked ??= { question };
  throw markedError({ type: 'ask', question });
}

/** The text of a question. Throws where there is none. */
export function readQuestion(asked: unknown): string {
  const question = typeof asked === 'string' ? clean(asked.trim(), maxQuestionLength) : '';
  if (question === '') throw new TypeError('A question to a person must be a text that is not empty');
  return question;
}

function runInBackground(
  call: ToolCall,
  { label, work }: { readonly label: unknown; readonly work: unknown },
): void {
  const promise = Promise.resolve(work);
  call.hasBackground = true;
  // The call may be over long before; the run's cancel request still has to reach the work.
  const stopListening = onAbort(call.options.signal, () =>
    interruptCall(call, call.options.signal.reason as unknown),
  );
  // How it ends is for the code that took it over; here only that it ended counts.
  promise.then(stopListening, stopListening);
  call.options.onBackground(textOf(label), promise);
}

const maxRememberedLength = 1000;
/** More than a run keeps in all would only be forgotten. */
const maxRememberedNames = 500;

function remember(call: ToolCall, { name, text }: Remembered): void {
  const isShort = [name, text].every(
    (each: unknown) => typeof each === 'string' && each.length <= maxRememberedLength,
  );
  if (!isShort)
    throw new TypeError(
      `A tool can remember a text of at most ${maxRememberedLength} characters, under a name of as many at most`,
    );
  const remembered = (call.remembered ??= new Map<string, Remembered>());
  if (!remembered.has(name) && remembered.size >= maxRememberedNames)
    throw new TypeError(`A call can remember at most ${maxRememberedNames} texts`);
  remembered.set(name, { name, text });
}
