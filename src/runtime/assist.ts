import { configError } from '../errors/config-error.ts';
import { createFailure } from '../errors/failure.ts';
import { RerailError } from '../errors/rerail-error.ts';
import { readSchema } from '../model/schema.ts';
import type { Schema } from '../model/tool.ts';
import { addLedgers, emptyLedger } from '../resilience/ledger.ts';
import type { Ledger } from '../resilience/ledger.ts';
import { describeOutput, reaskMessage } from '../agent/output.ts';
import type { Message } from '../model/message.ts';
import type { AgentParts } from './agent-parts.ts';
import { callModel } from './call-model.ts';
import { checkOutput } from './check-output.ts';
import type { LiveRun } from './live-run.ts';
import type { Assisted } from './tool-run.ts';

interface Wish {
  readonly prompt: string;
  readonly schema: Schema | undefined;
  readonly signal: AbortSignal;
  /** Hears what each call used up, also of one that came to nothing. */
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
    const { text, ledger } = await ask(parts, live, { messages, signal, spent: charge, onSpent });
    charge = addLedgers(charge, ledger);
    if (form === undefined) return { value: text, charge };
    const check = await checkOutput(text, form);
    if (check.type === 'valid') return { value: check.value, charge };
    if (round === maxRounds) throw badForm(check.problem);
    messages = [
      ...messages,
      { role: 'assistant', content: text },
      { role: 'user', content: reaskMessage(check.problem) },
    ];
  }
}

function badForm(problem: string): RerailError {
  const message = `The model helped a tool with an answer of the wrong form: ${problem}`;
  return RerailError.from(createFailure('OUTPUT_PARSE_ERROR', { origin: 'output', message }));
}

interface Asked extends Pick<Wish, 'signal' | 'onSpent'> {
  readonly messages: readonly Message[];
  readonly spent: Ledger;
}

async function ask(
  parts: AgentParts,
  live: LiveRun,
  { messages, signal, spent, onSpent }: Asked,
): Promise<{ readonly text: string; readonly ledger: Ledger }> {
  const { limits } = parts.config;
  const used = addLedgers(live.state?.ledger ?? emptyLedger, spent);
  const left = {
    maxRequests: limits.maxRequests - used.requests,
    maxTokens: limits.maxTokens - used.inputTokens - used.outputTokens,
    maxCostUsd: limits.maxCostUsd - used.costUsd,
  };
  for (const [name, rest] of Object.entries(left)) {
    if (rest > 0) continue;
    const message = `A tool asked for help, but the run has used up limits.${name}`;
    throw RerailError.from(createFailure('BUDGET_EXCEEDED', { message, context: { limit: name } }));
  }
  const outcome = await callModel(
    parts.models,
    { messages },
    {
      policy: {
        retry: parts.retry,
        timeouts: parts.timeouts,
        fallBackOnFilter: parts.fallBackOnFilter,
        limits: left,
      },
      signal,
      gates: parts.gates,
      clock: parts.clock,
      random: parts.random,
    },
  );
  onSpent(outcome.report.ledger);
  if (outcome.type === 'failure') throw RerailError.from(outcome.failure);
  return { text: outcome.result.text, ledger: outcome.report.ledger };
}
