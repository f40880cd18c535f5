import { configError } from '../../errors/config-error.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { readSchema } from '../../model/schema/schema.ts';
import type { Schema } from '../../model/tool.ts';
import { addLedgers, emptyLedger } from '../../resilience/ledger.ts';
import type { Ledger } from '../../resilience/ledger.ts';
import { reaskMessage } from '../../agent/turn/output.ts';
import type { OutputCheck } from '../../agent/turn/output.ts';
import { describeOutput } from '../../model/output-schema.ts';
import type { Message } from '../../model/message.ts';
import type { AgentParts } from '../agent-parts.ts';
import { checkOutput } from '../check-output.ts';
import type { LiveRun } from '../run/live-run.ts';
import { sideCall } from './side-call.ts';
import type { Assisted } from '../tool-call/tool-run.ts';

interface Wish {
  readonly prompt: string;
  readonly schema: Schema | undefined;
  readonly signal: AbortSignal;
  /** Receives what each call used up, also of one that failed. */
  readonly onSpent: (ledger: Ledger) => void;
}

const maxPromptCharacters = 200_000;
const maxRounds = 2;

/**
 * A tool asks the agent's model for help: one bounded call on the run's budget, and one more where the form of the answer was
 * wrong. Rejects with a `RerailError`; what it used up is part of the tool's end, and so of the journal.
 */
export async function assist(
  parts: AgentParts,
  live: LiveRun,
  { prompt, schema, signal, onSpent }: Wish,
): Promise<Assisted> {
  if (typeof prompt !== 'string' || prompt.trim() === '' || prompt.length > maxPromptCharacters)
    throw configError(`assist() needs a prompt of 1 to ${maxPromptCharacters} characters`);
  const form = schema === undefined ? undefined : readSchema(schema, 'the answer that assist() asks for');
  const instructions: Message | undefined = form && { role: 'system', content: describeOutput(form.json) };
  let messages: readonly Message[] = [
    ...(instructions === undefined ? [] : [instructions]),
    { role: 'user', content: prompt },
  ];
  let charge = emptyLedger;
  for (let round = 1; ; round += 1) {
    // At most maxRounds: the form is asked for again once.
    const ended = await sideCall(parts, live, {
      who: 'A tool',
      models: parts.sideModels,
      messages,
      signal,
      spent: charge,
    });
    onSpent(ended.ledger);
    if (ended.type === 'failure') throw RerailError.from(ended.failure);
    const { text } = ended;
    charge = addLedgers(charge, ended.ledger);
    if (form === undefined) return { value: text, charge };
    const check = await checkOutput(text, form);
    if (check.type === 'valid') return { value: check.value, charge };
    if (round === maxRounds) throw badForm(check);
    messages = [
      ...messages,
      { role: 'assistant', content: text },
      { role: 'user', content: reaskMessage(check.problem) },
    ];
  }
}

function badForm({ problem, causes = [] }: Extract<OutputCheck, { type: 'invalid' }>): RerailError {
  const message = `The model helped a tool with an answer of the wrong form: ${problem}`;
  return RerailError.from(createFailure('OUTPUT_PARSE_ERROR', { origin: 'output', message, causes }));
}
