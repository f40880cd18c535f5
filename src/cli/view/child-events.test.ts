import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../agent/run-event.ts';
import { createFailure } from '../../errors/failure.ts';
import { simulatedClock } from '../../testing/simulated-clock.ts';
import { createPlainView } from './plain-view.ts';
import { createRunFacts, noteEvent } from './run-facts.ts';

const below = (node: string, event: RunEvent): RunEvent => ({
  type: 'child-event',
  node,
  runId: `run-1/${node}`,
  event,
});

const asking = (turn: number, attempt = 1): RunEvent => ({
  type: 'attempt-started',
  turn,
  attempt,
  provider: 'openai',
  model: 'gpt-5.4',
  isProbe: false,
});

function shown(events: readonly RunEvent[]): string {
  const out: string[] = [];
  const sink = { write: (text: string) => out.push(text) };
  const io = {
    stdout: sink,
    stderr: sink,
    columns: 100,
    env: {},
    isTerminal: { stdin: false, stdout: false, stderr: false },
  };
  const view = createPlainView(io, { maxAttempts: 3 }, simulatedClock());
  for (const event of events) view.hear(event);
  view.close();
  return out.join('');
}

describe('what runs below tell', () => {
  it('is never mixed into the text of the one above', () => {
    const text = shown([
      { type: 'text-delta', turn: 1, text: 'The answer ' },
      below('read', { type: 'text-delta', turn: 1, text: 'SECRET OF THE NODE' }),
      below('read', { type: 'text-retracted', turn: 1, keep: 0 }),
      { type: 'text-delta', turn: 1, text: 'is 42.\n' },
    ]);
    expect(text).toBe('The answer is 42.\n');
  });

  it('has the name of its node before it', () => {
    const failure = createFailure('OVERLOADED', { origin: 'model', message: 'busy' });
    const text = shown([
      below('read', asking(1)),
      below('tell', asking(1)),
      below('read', { type: 'failure', turn: 1, failure }),
      below('read', {
        type: 'recovery',
        turn: 1,
        recovery: 'retry',
        reason: 'it may pass',
        delayMs: 500,
        failure,
      }),
    ]);
    expect(text).toMatch(/^read: turn 1: openai:gpt-5\.4\ntell: turn 1: openai:gpt-5\.4$/m);
    expect(text).toMatch(/^failure: read: .+\(OVERLOADED\)$/m);
    expect(text).toMatch(/^recovery: read: trying again after 500 ms: attempt 2$/m);
  });

  it('names control characters in the name of a node', () => {
    expect(shown([below('re\u001b[2Jad', asking(1))])).not.toContain('\u001b');
  });
});

describe('what runs below use up', () => {
  it('counts for the one above, and nothing is left of those that have ended', () => {
    const facts = createRunFacts();
    const used = { type: 'model-finished', turn: 1, inputTokens: 10, outputTokens: 5 } as RunEvent;
    for (const node of ['read', 'tell']) noteEvent(facts, below(node, used), 0);
    expect(facts.tokens).toBe(30);
    expect(facts.below.size).toBe(2);
    for (const node of ['read', 'tell'])
      noteEvent(facts, below(node, { type: 'run-suspended', reason: 'approval' }), 0);
    expect(facts.below.size).toBe(0);
  });
});
