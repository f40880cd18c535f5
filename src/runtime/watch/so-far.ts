import type { RunEvent } from '../../agent/run-event.ts';
import type { RunOutcome } from '../../agent/run-outcome.ts';
import { createGrowingText } from '../../base/growing-text.ts';
import type { GrowingText } from '../../base/growing-text.ts';

/** What a live run has shown of the turn that it is in: a subscriber that comes late begins with it. Changes in place. */
export interface SoFar {
  turn: Extract<RunEvent, { type: 'turn-started' }> | undefined;
  /** The turn that the text belongs to. */
  textTurn: number;
  text: GrowingText;
  /** Tools that are at work, by their call. */
  readonly open: Map<string, Extract<RunEvent, { type: 'tool-started' }>>;
  /** The same of the runs below that have not ended, by their names; made when the first one reports something. */
  below: Map<string, { readonly node: string; readonly soFar: SoFar }> | undefined;
}

/** Nothing was shown yet. */
export function createSoFar(): SoFar {
  return { turn: undefined, textTurn: 0, text: createGrowingText(), open: new Map(), below: undefined };
}

/** Takes in an event. The text is at most one answer, and the calls are those of one turn. */
export function noteEvent(soFar: SoFar, event: RunEvent): void {
  switch (event.type) {
    case 'turn-started':
      soFar.turn = event;
      soFar.open.clear();
      soFar.below = undefined;
      return startText(soFar, event.turn);
    case 'text-delta':
      if (soFar.textTurn !== event.turn) startText(soFar, event.turn);
      return soFar.text.add(event.text);
    case 'text-retracted':
      if (soFar.textTurn === event.turn) soFar.text.cut(event.keep);
      return;
    case 'tool-started':
      soFar.open.set(event.callId, event);
      return;
    case 'tool-finished':
      soFar.open.delete(event.callId);
      return;
    case 'child-event':
      return noteChildEvent(soFar, event);
    default:
      return;
  }
}

function startText(soFar: SoFar, turn: number): void {
  soFar.textTurn = turn;
  soFar.text = createGrowingText();
}

function noteChildEvent(soFar: SoFar, { node, runId, event }: ChildEvent): void {
  if (event.type === 'run-finished') return void soFar.below?.delete(runId);
  const known = soFar.below?.get(runId);
  if (known !== undefined) return noteEvent(known.soFar, event);
  if (!opening.has(event.type)) return;
  const child = { node, soFar: createSoFar() };
  (soFar.below ??= new Map()).set(runId, child);
  noteEvent(child.soFar, event);
}

type ChildEvent = Extract<RunEvent, { type: 'child-event' }>;

/** What a run reports late, after its end, opens nothing. */
const opening: ReadonlySet<RunEvent['type']> = new Set([
  'turn-started',
  'text-delta',
  'tool-started',
  'child-event',
]);

/** What a late subscriber gets, in the order in which it happened. */
export function eventsSoFar({ turn, textTurn, open, below, ...soFar }: SoFar): readonly RunEvent[] {
  const text = soFar.text.read();
  return [
    ...(turn === undefined ? [] : [turn]),
    ...(text === '' ? [] : [{ type: 'text-delta' as const, turn: textTurn, text }]),
    ...open.values(),
    ...[...(below ?? [])].flatMap(([runId, child]) =>
      eventsSoFar(child.soFar).map((event): ChildEvent => ({
        type: 'child-event',
        node: child.node,
        runId,
        event,
      })),
    ),
  ];
}

/**
 * Receives events, and ensures that the text put together from them is the answer at the end: of a run that had reported its answer
 * before, or reports it elsewhere, it comes as one piece.
 */
export function withWholeText(hear: (event: RunEvent) => void): (event: RunEvent) => void {
  let textTurn = 0;
  return (event) => {
    if (event.type === 'text-delta') textTurn = event.turn;
    const answer = event.type === 'run-finished' ? answerIn(event.outcome) : undefined;
    if (answer !== undefined && textTurn < answer.turn) hear(answer);
    hear(event);
  };
}

function answerIn(outcome: RunOutcome): Extract<RunEvent, { type: 'text-delta' }> | undefined {
  if (outcome.type !== 'completed' || outcome.text === '') return undefined;
  return { type: 'text-delta', turn: outcome.turns, text: outcome.text };
}
