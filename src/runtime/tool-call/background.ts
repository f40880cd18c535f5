import { noteMessage } from '../../agent/notes.ts';
import type { Json } from '../../base/json.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { renderFailure } from '../../errors/render-failure.ts';
import { withList } from '../../model/compaction-notes.ts';
import { effectsIn, withoutTags, writeEffects } from '../../model/effects.ts';
import { textOf } from '../../model/message.ts';
import type { Message } from '../../model/message.ts';
import type { ToolEffect } from '../../model/tool.ts';
import type { Engine } from '../record/durable.ts';
import { encodeResult } from '../tool-result/encode-result.ts';
import { publish } from '../run/live-run.ts';
import type { LiveRun } from '../run/live-run.ts';
import type { RunKeeper } from '../record/run-keeper.ts';

/** What became of work that continued after its call had ended, as the model reads it. */
export interface BackgroundReport {
  readonly id: string;
  readonly text: string;
}

interface Work {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  /** Of the tool: what it did may be no more than looking. */
  readonly effect: ToolEffect;
}

const maxCharacters = 8000;

/** Reports once how the work ended; never rejects. */
export function watchBackground(
  work: Promise<unknown>,
  of: Work,
  report: (end: BackgroundReport) => void,
): void {
  const { id, name, label } = of;
  const whose = `Work in the background of "${name}" (${label})`;
  const tell = (how: string, end: Ending): void =>
    report({ id, text: `${withoutTags(`${whose} ${how}: ${end.content}`)}${effectOf(of, end)}` });
  void work.then(
    (value) => tell('is done', { content: show(value) }),
    (error: unknown) => {
      const content = renderFailure(classifyFailure(error, 'tool'), 'model');
      tell('failed', { content, isError: true });
    },
  );
}

interface Ending {
  readonly content: string;
  readonly isError?: true;
}

/** The note is cut with all others, so what was done is in it as a list, which is handed on. */
function effectOf({ name, label, effect }: Work, end: Ending): string {
  const call = { callId: '', name };
  const messages: readonly Message[] = [
    {
      role: 'assistant',
      content: [{ type: 'tool-call', ...call, argumentsText: JSON.stringify({ background: label }) }],
    },
    { role: 'tool', content: [{ type: 'tool-result', ...call, ...end }] },
  ];
  return withList('', writeEffects(effectsIn(messages, () => effect === 'read')));
}

/** Informs the model at its next turn. Where more waits than a run can hold, listeners are informed instead. */
export function tellBackground(
  engine: Pick<Engine, 'signal'>,
  live: LiveRun,
  { id, text }: BackgroundReport,
): void {
  if (live.ended !== undefined && live.ended.type !== 'suspended') return;
  const payload = noteMessage(text) as unknown as Json; // A message is JSON.
  engine.signal(live.runId, 'message', { id, payload }).catch((error: unknown) => {
    publish(live, { type: 'failure', turn: live.state?.turn ?? 0, failure: classifyFailure(error, 'agent') });
  });
}

/** The same for an agent with a store: a report on a call that is not on record would be about nothing. */
export function tellWhenKept(
  { engine, keeper }: { readonly engine: Pick<Engine, 'signal'>; readonly keeper: RunKeeper | undefined },
  live: LiveRun,
  report: BackgroundReport,
): void {
  const behind = keeper?.pending(live.runId);
  if (behind === undefined) return tellBackground(engine, live, report);
  void behind.then(
    () => tellBackground(engine, live, report),
    () => undefined, // The run is released: the process that continues it makes the call again.
  );
}

function show(value: unknown): string {
  const encoded = encodeResult(value, { maxCharacters });
  if ('failure' in encoded) return renderFailure(encoded.failure, 'model');
  return typeof encoded.content === 'string' ? encoded.content : textOf(encoded.content);
}
