import { unreachable } from '../base/assert.ts';
import { displayProvider } from './classify/provider-names.ts';
import { codeTexts } from './code-texts.ts';
import type { Origin } from './codes.ts';
import { copyFailure, readFailure } from './failure-document.ts';
import { severityOf } from './failure.ts';
import type { Failure } from './failure.ts';

/** Who reads it. */
export type Audience = 'person' | 'model' | 'developer';

/** What the failure itself does not know. */
export interface RenderOptions {
  /**
   * Whether the runtime goes on by itself; `false` once it has given up. By default as far as the failure allows it, and
   * `false` where its context counts `attempts`: that is the final failure of a call, after which nobody tries again.
   */
  readonly retrying?: boolean;
}

/**
 * One failure, three texts: for a person what happened and what to do, for the model what to change, for a developer all.
 *
 * @example
 * renderFailure(failure, 'person'); // 'Anthropic is overloaded. Rerail will try again in 12 s.'
 */
export function renderFailure(failure: Failure, audience: Audience, options: RenderOptions = {}): string {
  try {
    return render(readFailure(failure), audience, options);
  } catch {
    // Not made by `createFailure`, and something deep inside it cannot be read.
    return render(copyFailure(failure), audience, options);
  }
}

function render(failure: Failure, audience: Audience, options: RenderOptions): string {
  switch (audience) {
    case 'person':
      return forPerson(failure, options.retrying ?? (failure.retryable && !isFinal(failure)));
    case 'model':
      return fill(codeTexts[failure.code].forModel, failure);
    case 'developer':
      return forDeveloper(failure);
    default:
      return unreachable(audience);
  }
}

/** A wait as a person says it: `40 ms` is `a moment`, then seconds, minutes, hours, days; never shorter than it is. */
export function renderWait(delayMs: number): string {
  if (delayMs < 1000) return 'a moment';
  const seconds = Math.ceil(delayMs / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.ceil(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.ceil(hours / 24)} days`;
}

function forPerson(failure: Failure, retrying: boolean): string {
  const { what, next } = codeTexts[failure.code].forPerson;
  const happened = fill(what, failure).replace(/\.$/, `${numbersOf(failure)}.`);
  if (retrying) return `${happened} Rerail will try again${inWait(failure)}.`;
  const step = failure.hint ?? fill(next, failure);
  if (!failure.retryable) return `${happened} ${step}${reopening(failure)}`;
  const again = failure.retryAfterMs === undefined ? 'try again later' : `try again${inWait(failure)}`;
  // A hint names what is in the way: that comes before another try.
  return failure.hint === undefined
    ? `${happened} T${again.slice(1)}. ${step}`
    : `${happened} ${step} Then ${again}.`;
}

/** `callModel` counts the attempts into the failure that it ends with. */
function isFinal({ context }: Failure): boolean {
  return context['attempts'] !== undefined;
}

/** A plan that opens again by itself says when, though waiting for it is nobody's first choice. */
function reopening({ code, retryAfterMs }: Failure): string {
  // Providers also ask to wait seconds for a day's quota or an empty account; those waits are not honest.
  if (code !== 'QUOTA_EXCEEDED' || retryAfterMs === undefined || retryAfterMs < minHonestMs) return '';
  return ` Or wait: the provider says that it opens again in ${renderWait(retryAfterMs)}.`;
}

const minHonestMs = 600_000;

function inWait({ retryAfterMs }: Failure): string {
  return retryAfterMs === undefined ? '' : ` in ${renderWait(retryAfterMs)}`;
}

function numbersOf({ context }: Failure): string {
  const [requested, limit] = [context['requestedTokens'], context['maxTokens']];
  if (typeof requested !== 'number' || typeof limit !== 'number') return '';
  return ` (${requested.toLocaleString('en-US')} of ${limit.toLocaleString('en-US')} tokens)`;
}

function forDeveloper(failure: Failure): string {
  const facts = [
    failure.origin,
    severityOf(failure),
    failure.retryable ? 'retryable' : 'not retryable',
    ...(failure.retryAfterMs === undefined ? [] : [`asked to wait ${failure.retryAfterMs} ms`]),
    `by ${failure.classifiedBy}`,
    ...(failure.phase === undefined ? [] : [`phase ${failure.phase}`]),
    ...(failure.sideEffect === undefined ? [] : [`side effect ${failure.sideEffect}`]),
  ];
  return [
    `${failure.code} (${facts.join(', ')}): ${failure.message}`,
    `  meaning: ${codeTexts[failure.code].forDeveloper}`,
    ...(failure.hint === undefined ? [] : [`  hint: ${failure.hint}`]),
    ...(failure.provider === undefined ? [] : [`  provider: ${JSON.stringify(failure.provider)}`]),
    ...(Object.keys(failure.context).length === 0 ? [] : [`  context: ${JSON.stringify(failure.context)}`]),
    ...failure.causes.flatMap(({ name, message, code, stack = [] }) => [
      `  cause: ${name}${code === undefined ? '' : ` [${code}]`}: ${message}`,
      ...stack.map((frame) => `    ${frame}`),
    ]),
  ].join('\n');
}

/** Fills `{Provider}`, `{model}`, `{tool}`, `{subject}` and `{message}`; a capital begins a sentence. */
function fill(template: string, failure: Failure): string {
  return template.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = placeholders[name.toLowerCase()]?.(failure) ?? whole;
    // Only our own words take a capital: a name is written as its owner writes it.
    return /^[A-Z]/.test(name) && value.startsWith('the ') ? `T${value.slice(1)}` : value;
  });
}

const placeholders: Readonly<Record<string, (failure: Failure) => string>> = {
  provider: ({ provider }) => displayProvider(provider?.provider) ?? 'the model provider',
  model: ({ provider }) => provider?.model ?? 'the model',
  tool: toolName,
  subject: subjectName,
  // A sentence goes on behind it, so its own full stop is dropped.
  message: ({ message }) => message.replace(/[.\s]+$/, ''),
};

function toolName({ context }: Failure): string {
  const tool = context['tool'];
  return typeof tool === 'string' ? `the tool "${tool}"` : 'the tool';
}

/** Who or what failed, where no name is known. */
const subjects: Readonly<Record<Origin, string>> = {
  model: 'the model provider',
  embedding: 'the model provider',
  tool: 'the tool',
  agent: 'the program',
  context: 'the context',
  output: 'the answer',
  flow: 'the flow',
  hook: 'the hook',
  storage: 'the store',
  durable: 'the engine',
  mcp: 'the MCP server',
  sandbox: 'the sandbox',
  registry: 'the registry',
  config: 'the configuration',
};

function subjectName(failure: Failure): string {
  if (failure.origin === 'tool') return toolName(failure);
  return displayProvider(failure.provider?.provider) ?? subjects[failure.origin];
}
