import type { ChangedCall, RunEvent } from '../../agent/run-event.ts';
import type {
  AskFirstEnd,
  PreparedCall,
  QuestionEnd,
  ToolEnd,
  WaitingEnd,
} from '../../agent/tools/tool-call.ts';
import { defined } from '../../base/defined.ts';
import { redactJson } from '../../base/redact.ts';
import { boundText } from '../../base/text.ts';
import { clean } from '../../errors/failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { partsOf, textOf } from '../../model/message.ts';
import type { StoredEvent } from '../../model/store/store.ts';
import type { JournalEntry } from '../../runtime/record/journal.ts';
import type { ModelEffectInput, ModelEffectValue } from '../../runtime/model-call/model-effect.ts';
import type { ReplayStep } from '../../runtime/transfer/replay-run.ts';
import { at } from '../../runtime/record/run-blobs.ts';
import { sandboxLevels } from '../../tools/sandbox/sandbox.ts';
import type { SandboxLevel } from '../../tools/sandbox/sandbox.ts';
import { isOfFlow, nodeFactsOf, nodeText, noteCalls, noteNode } from './read-nodes.ts';
import { addItem } from './reader.ts';
import type { Reader } from './reader.ts';
import { latest } from './run-reading.ts';
import type { AttemptBody, ChangeTexts, ToolBody } from './run-reading.ts';

type Call = Extract<JournalEntry, { readonly type: 'call' }>;

/** Notes an effect that was performed: an attempt at a model, a tool, a hook … */
export function addCall(reader: Reader, step: ReplayStep, call: Call): void {
  const { effect, outcome } = call;
  if (outcome.type === 'failed') return addItem(reader, { type: 'note', text: clean(step.text, maxText) });
  switch (effect) {
    case 'model':
      return addAttempt(reader, call.input, outcome.value);
    case 'conduct':
      return addDecision(reader, outcome.value);
    case 'tool':
      return addEnd(reader, at(outcome.value, ['end']) as AnyEnd, call.input); // Written by the effect.
    case 'verify': {
      const tool = [...reader.prepared.values()][Number(at(call.input, ['index']) ?? 0)]?.call.name;
      const found = String(at(outcome.value, ['found', 'type']));
      return addItem(reader, { type: 'verified', tool: tool ?? 'a tool', found });
    }
    case 'intend':
      reader.intendSeq = reader.seq;
      return undefined;
    case 'hook':
      return addHook(reader, call, outcome.value);
    case 'compact':
      // Where something was saved, the machine emits it.
      if (at(outcome.value, ['made', 'compaction']) === undefined)
        addItem(reader, { type: 'compaction', why: 'budget' });
      return undefined;
    default:
      return undefined; // The machine emits the answer to a question.
  }
}

const maxText = 500;

/** A function decided in the place of a model. */
function addDecision(reader: Reader, value: unknown): void {
  const failure = at(value, ['failure']) as Failure | undefined; // Each effect has one form of value.
  const prepared = (at(value, ['answer', 'prepared']) ?? []) as readonly PreparedCall[];
  reader.prepared.clear();
  for (const call of prepared) {
    reader.prepared.set(call.callId, { call, seq: reader.seq });
    if (call.type === 'ready' && at(call.input, ['do']) !== undefined) reader.isEachOnce = true;
  }
  noteCalls(
    reader.nodes,
    prepared.filter(({ name }) => reader.nodeNames.includes(name)),
  );
  addItem(reader, {
    type: 'conduct',
    calls: prepared.map(({ name }) => clean(name, maxText)),
    ...defined({ failure }),
  });
}

type AnyEnd = ToolEnd | WaitingEnd | QuestionEnd | AskFirstEnd;

function addEnd(reader: Reader, end: AnyEnd, input: unknown): void {
  // The machine emits what it asks.
  if (end.type === 'asks' || end.type === 'ask-first') return;
  if (end.type !== 'waiting') return addTool(reader, end, Number(at(input, ['attempt']) ?? 1));
  const known = reader.prepared.get(end.callId);
  const ready = known?.call.type === 'ready' ? known.call : undefined;
  const facts = nodeFactsOf(end, { input: ready?.input, isConducted: reader.isConducted }) ?? {};
  noteNode(reader.nodes, end, facts);
  const { runId } = facts;
  const waits = { type: 'node-waits', node: clean(end.name, maxText), reason: end.wait.reason } as const;
  addItem(reader, { ...waits, ...defined({ runId }) }, known === undefined ? [] : [known.seq]);
}

function addAttempt(reader: Reader, input: unknown, value: unknown): void {
  const { situation } = input as ModelEffectInput; // Each effect has one form of input and value.
  const { step, injected } = value as ModelEffectValue;
  const model = reader.models[situation.target] ?? 'an unknown model';
  addSwitch(reader, model, situation.target);
  const { durationMs, waitedMs, isProbe, charge } = step;
  const failure = step.type === 'failure' ? step.failure : undefined;
  const answer = step.value;
  reader.prepared.clear();
  for (const call of answer?.prepared ?? []) reader.prepared.set(call.callId, { call, seq: reader.seq });
  reader.intendSeq = undefined;
  if (injected !== undefined) addItem(reader, { type: 'injected', messages: injected.length });
  const body: AttemptBody = {
    type: 'attempt',
    attempt: situation.attempt,
    model,
    durationMs,
    gateMs: waitedMs,
    wasSent: step.type === 'success' || step.wasAdmitted,
    isProbe,
    ...defined({
      inputTokens: charge.inputTokens,
      outputTokens: charge.outputTokens,
      costUsd: charge.costUsd,
    }),
    ...defined({ failure }),
    calls: (answer?.toolCalls ?? []).map(({ name }) => clean(name, maxText)),
    text: clean(answer?.text ?? '', maxText),
  };
  addItem(reader, body);
}

function addSwitch(reader: Reader, model: string, target: number): void {
  const from = reader.lastModel;
  reader.lastModel = model;
  if (from === undefined || from === model) return;
  const decision = latest(reader.items, 'decision');
  const turn = latest(reader.items, 'turn');
  const isSameTurn = (decision?.seqs[0] ?? 0) >= (turn?.seqs[0] ?? 0);
  if (decision?.recovery === 'fall-back' && isSameTurn) {
    const why = `${decision.failure.code}; ${decision.reason}`;
    return addItem(reader, { type: 'switch', from, to: model, why }, decision.seqs);
  }
  if (target === 0) {
    const why = 'a call begins with the first model of the chain, unless that one is to be left alone';
    return addItem(reader, { type: 'switch', from, to: model, why });
  }
  const failed = reader.items.findLast(
    (item) => item.type === 'attempt' && item.failure !== undefined && item.model !== model,
  );
  const code = failed?.type === 'attempt' ? failed.failure?.code : undefined;
  const why = `the models before it are left alone for now${code === undefined ? '' : ` after ${code}`}`;
  return addItem(reader, { type: 'switch', from, to: model, why }, failed?.seqs ?? []);
}

function addHook(reader: Reader, { input }: Call, value: unknown): void {
  const verdict = String(at(value, ['type']));
  const changed = at(value, ['modifiedBy']);
  const hasChanged = Array.isArray(changed) && changed.length > 0;
  if (verdict === 'continue' && !hasChanged) return;
  const said = hasChanged ? `changed it (${changed.map(String).join(', ')})` : verdict;
  addItem(reader, { type: 'hook', point: String(at(input, ['point'])), verdict: clean(said, maxText) });
}

/** The end of a call that the machine emitted: it was not run, or a person settled it. */
export function addToolEnd(
  reader: Reader,
  { end, attempt }: Extract<RunEvent, { readonly type: 'tool-finished' }>,
  { body }: StoredEvent,
): void {
  const isNoted =
    at(body, ['effect']) === 'tool' && at(body, ['outcome', 'value', 'end', 'callId']) === end.callId;
  if (!isNoted) addTool(reader, end, attempt);
}

function addTool(reader: Reader, end: ToolEnd, attempt: number): void {
  const known = reader.prepared.get(end.callId);
  const ready = known?.call.type === 'ready' ? known.call : undefined;
  const answer = ready === undefined ? undefined : reader.answers.get(ready.hash);
  const node = nodeFactsOf(end, { input: ready?.input, isConducted: reader.isConducted });
  if (node !== undefined) noteNode(reader.nodes, end, node);
  const text = node === undefined ? textOf(partsOf(end.content)) : nodeText(end);
  const sandbox = sandboxIn(end, text);
  const body: ToolBody = {
    type: 'tool',
    callId: end.callId,
    tool: clean(end.name, maxText),
    input:
      ready === undefined || (reader.isConducted && isOfFlow(ready.input))
        ? ''
        : inputText(answer?.changed?.input ?? ready.input),
    ...(answer?.changed === undefined ? {} : { askedInput: changeTexts(answer.changed).asked }),
    ...defined({ effect: ready?.effect, permission: ready?.permission, why: ready?.why }),
    ...(answer === undefined ? {} : { answer: { verdict: answer.verdict, reason: answer.reason } }),
    attempt,
    end: end.type,
    durationMs: end.durationMs,
    text: clean(text, maxText),
    ...defined({ failure: end.failure, node, sandbox }),
  };
  const intent = ready?.effect === 'once' ? reader.intendSeq : undefined;
  const seqs = [known?.seq, intent, ...(answer?.seqs ?? [])];
  addItem(
    reader,
    body,
    seqs.filter((seq) => seq !== undefined),
  );
}

const maxInput = 2000;

/** What a person made of the arguments of a call, before and after. */
export function changeTexts({ asked, input, hash }: ChangedCall): ChangeTexts {
  return {
    asked: inputText(asked.input),
    askedHash: asked.hash,
    approved: inputText(input),
    approvedHash: hash,
  };
}

function inputText(input: Parameters<typeof redactJson>[0]): string {
  return boundText(JSON.stringify(redactJson(input)), maxInput);
}

/** Before the output of the command, which may say anything. */
const headLines = 4;

/** The shell tool says what a command ran in; whatever else a tool gives is not believed. */
function sandboxIn({ name, type }: ToolEnd, text: string): SandboxLevel | undefined {
  if (name !== 'shell' || type !== 'ok') return undefined;
  const head = text.split('\n', headLines);
  return sandboxLevels.find((level) => head.includes(`sandbox: ${level}`));
}
