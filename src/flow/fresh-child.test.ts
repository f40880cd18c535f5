import { describe, expect, it } from 'vitest';
import type { RecordedCall } from '../agent/conducted.ts';
import type { RunOutcome } from '../agent/run-outcome.ts';
import { defineTool } from '../model/define-tool.ts';
import type { ToolEffect } from '../model/tool.ts';
import type { AgentParts } from '../runtime/agent-parts.ts';
import { createToolRegistry } from '../runtime/tool-call/tool-registry.ts';
import { lastChildId, nextLifeOf, whyNotAfresh } from './fresh-child.ts';

type Stopped = Extract<RunOutcome, { type: 'stopped' }>;

function partsWith(effect: ToolEffect): AgentParts {
  const tool = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object' },
    effect,
    execute: () => '',
  });
  return { registry: createToolRegistry([tool]) } as unknown as AgentParts; // All that is looked at.
}

function stopped(calls: readonly string[], toolCalls = calls.length): Stopped {
  const content = calls.map((name) => ({ type: 'tool-call', callId: name, name, argumentsText: '{}' }));
  const messages = [{ role: 'assistant', content }];
  // All that is looked at.
  return {
    type: 'stopped',
    runId: 'r/a',
    reason: 'max-turns',
    messages,
    usage: { toolCalls },
  } as unknown as Stopped;
}

describe('whyNotAfresh()', () => {
  it.each([
    {
      what: 'it has called a tool that must not happen twice',
      effect: 'once',
      outcome: stopped(['pay']),
      words: /"pay"/,
    },
    {
      what: 'what it has called cannot be seen any more',
      effect: 'once',
      outcome: stopped([], 3),
      words: /may have called/,
    },
  ] as const)('says why not where $what', ({ effect, outcome, words }) => {
    expect(whyNotAfresh(partsWith(effect), outcome)).toMatch(words);
  });

  it('says why not where agents below it have worked', () => {
    const parts: AgentParts = { ...partsWith('read'), nodes: new Map() };
    expect(whyNotAfresh(parts, stopped([]))).toMatch(/child agents/);
  });

  it.each([
    { what: 'it has called only what may happen twice', effect: 'idempotent', outcome: stopped(['pay']) },
    { what: 'it has called nothing', effect: 'once', outcome: stopped([]) },
    { what: 'nothing that it could have called matters', effect: 'read', outcome: stopped([], 9) },
  ] as const)('has nothing against it where $what', ({ effect, outcome }) => {
    expect(whyNotAfresh(partsWith(effect), outcome)).toBeUndefined();
  });
});

it.each([
  ['r/a', 'r/a~2'],
  ['r/a~2', 'r/a~3'],
  ['r/a~9', 'r/a~10'],
  ['r/a~x', 'r/a~x~2'],
])('nextLifeOf(%s) is %s', (runId, next) => {
  expect(nextLifeOf(runId)).toBe(next);
});

it('lastChildId() is that of the latest call that was a run', () => {
  const call = (childId: string | undefined): RecordedCall =>
    ({
      callId: 'c',
      name: 'a',
      input: null,
      record: { status: 'failed', resumes: 0, childId },
    }) as unknown as RecordedCall; // Enough for it.
  expect(lastChildId([call('r/a'), call('r/a~2'), call(undefined)])).toBe('r/a~2');
  expect(lastChildId([])).toBeUndefined();
});
