import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { tool } from '../../src/index.ts';
import type { Tool } from '../../src/index.ts';
import { chaosProtocols } from '../../src/chaos/index.ts';
import type { ChaosProtocol, ChaosTurn } from '../../src/chaos/index.ts';
import { endsOf, expectedEnds } from './survival-stage.ts';
import type { Reached, Row } from './survival-stage.ts';

// What models do with tools, and tools with a run: over real sockets, in every protocol and through every way in. What counts is
// what really reached the code of a tool.

const done = 'All is done.';
const finished = { type: 'completed', text: done } as const;

const input = z.object({ query: z.string() });

function search(reached: Reached, more: Partial<Parameters<typeof tool<typeof input>>[0]> = {}): Tool {
  return tool({
    name: 'search',
    description: 'Searches.',
    input,
    effect: 'read',
    execute: (given: { readonly query: string }) => {
      reached('search', given);
      return `Found ${given.query}.`;
    },
    ...more,
  } as Parameters<typeof tool<typeof input>>[0]); // Its parts fit together; the compiler wants the whole union.
}

/** Its results fill the context. */
function wordy(reached: Reached): Tool {
  return search(reached, {
    execute: ({ query }: { readonly query: string }) => {
      reached('search', query);
      return query.repeat(5000);
    },
  });
}

function calling(...queries: readonly string[]): ChaosTurn {
  return { toolCalls: queries.map((query) => ({ name: 'search', arguments: { query } })) };
}

const whales = ['search {"query":"whales"}'];

function badArguments(kind: string, recovery: string): Row {
  return {
    id: `M03 arguments that are wrong (${kind}): the tool is not reached with them`,
    script: [calling('whales'), done],
    faults: { script: [{ name: 'bad-tool-arguments', kind }] },
    tools: (reached) => [search(reached, { effect: 'once' })],
    delivered: { 'bad-tool-arguments': 1 },
    expected: { ...finished, requests: 3, recoveries: [recovery], reached: whales },
  };
}

/** A person would be shown one of two values, and the tool be given the other. Gemini's arguments come as JSON, not as a text of JSON. */
function duplicateKey(protocol: ChaosProtocol): Row {
  const recovery = protocol === 'gemini' ? 'TOOL_CALL_INVALID by retry' : 'VALIDATION_ERROR by tell-model';
  return { ...badArguments('duplicate', recovery), id: 'M05 the same key twice: the call is refused' };
}

const rows: readonly Row[] = [
  {
    id: 'nothing: a call and an answer',
    script: [calling('whales'), done],
    tools: (reached) => [search(reached)],
    delivered: {},
    expected: { ...finished, requests: 2, recoveries: [], reached: whales },
  },
  // What is no JSON is asked for again; what is JSON and does not fit is told to the model.
  ...['not-json', 'trailing', 'list'].map((kind) => badArguments(kind, 'TOOL_CALL_INVALID by retry')),
  ...['types', 'empty', 'proto'].map((kind) => badArguments(kind, 'VALIDATION_ERROR by tell-model')),
  {
    id: 'M03 truncated arguments: the tool is not reached with them',
    script: [calling('whales'), done],
    faults: { script: ['truncated-tool-arguments'] },
    tools: (reached) => [search(reached)],
    delivered: { 'truncated-tool-arguments': 1 },
    expected: { ...finished, requests: 3, recoveries: ['TOOL_CALL_INVALID by retry'], reached: whales },
  },
  {
    id: 'P31 a conversation that is too long: shortened, and the run goes on',
    script: [...['a', 'b', 'c', 'd', 'e'].map((query) => calling(query)), done],
    faults: { script: [null, null, null, null, null, 'context-length'] },
    tools: (reached) => [wordy(reached)],
    delivered: { 'context-length': 1 },
    expected: {
      ...finished,
      requests: 7,
      recoveries: ['CONTEXT_LENGTH_EXCEEDED by compact'],
      reached: ['a', 'b', 'c', 'd', 'e'].map((query) => `search "${query}"`),
    },
  },
  {
    id: 'P31 too long twice in a row: shortened twice, and the run goes on',
    script: [...['a', 'b', 'c', 'd', 'e'].map((query) => calling(query)), done],
    faults: { script: [null, null, null, null, null, 'context-length', 'context-length'] },
    tools: (reached) => [wordy(reached)],
    delivered: { 'context-length': 2 },
    expected: {
      ...finished,
      requests: 8,
      recoveries: ['CONTEXT_LENGTH_EXCEEDED by compact', 'CONTEXT_LENGTH_EXCEEDED by compact'],
      reached: ['a', 'b', 'c', 'd', 'e'].map((query) => `search "${query}"`),
    },
  },
  {
    id: 'P31 too long for ever: failed once nothing is left to cut',
    script: [...['a', 'b', 'c', 'd', 'e'].map((query) => calling(query)), done],
    faults: ({ sequence }) => (sequence > 5 ? 'context-length' : null),
    tools: (reached) => [wordy(reached)],
    // Six times shorter, and twice as it is, for by the limit that the provider states it would fit.
    delivered: { 'context-length': 9 },
    expected: {
      type: 'failed',
      code: 'CONTEXT_LENGTH_EXCEEDED',
      requests: 14,
      recoveries: [],
      reached: ['a', 'b', 'c', 'd', 'e'].map((query) => `search "${query}"`),
    },
  },
  {
    id: 'M13 cut off inside a call: the call is not run',
    script: [calling('whales'), done],
    faults: { script: ['cut-off-tool-call'] },
    tools: (reached) => [search(reached)],
    delivered: { 'cut-off-tool-call': 1 },
    expected: { ...finished, requests: 3, recoveries: ['OUTPUT_TRUNCATED by nudge'], reached: whales },
  },
  {
    id: 'a stream that breaks inside a call: the call is run once, whole',
    script: [calling('whales'), done],
    faults: { script: ['reset-mid-stream'] },
    tools: (reached) => [search(reached)],
    delivered: { 'reset-mid-stream': 1 },
    expected: { ...finished, requests: 3, recoveries: ['STREAM_INTERRUPTED by retry'], reached: whales },
  },
  {
    id: 'an overload after a call: what has run is not run again',
    script: [calling('whales'), done],
    faults: { script: [null, 'overloaded', 'overloaded'] },
    tools: (reached) => [search(reached, { effect: 'once' })],
    delivered: { overloaded: 2 },
    expected: {
      ...finished,
      requests: 4,
      recoveries: ['OVERLOADED by retry', 'OVERLOADED by retry'],
      reached: whales,
    },
  },
  {
    id: 'M01 an unknown tool: told to the model with the names that there are',
    script: [calling('whales'), done],
    faults: { script: ['unknown-tool'] },
    tools: (reached) => [search(reached)],
    delivered: { 'unknown-tool': 1 },
    expected: { ...finished, requests: 3, recoveries: ['TOOL_NOT_FOUND by tell-model'], reached: whales },
  },
  {
    id: 'M01 a tool whose name no provider would take: told to the model, and the conversation stays one that is taken',
    script: [calling('whales'), done],
    faults: { script: [{ name: 'unknown-tool', tool: 'a tool, with: words 🥊' }] },
    tools: (reached) => [search(reached)],
    delivered: { 'unknown-tool': 1 },
    expected: { ...finished, requests: 3, recoveries: ['TOOL_NOT_FOUND by tell-model'], reached: whales },
  },
  {
    id: 'one id in every answer, as some servers count: each call has its result',
    script: [
      { toolCalls: [{ name: 'search', arguments: { query: 'whales' }, callId: 'call_0' }] },
      { toolCalls: [{ name: 'search', arguments: { query: 'sharks' }, callId: 'call_0' }] },
      done,
    ],
    tools: (reached) => [search(reached)],
    delivered: {},
    expected: {
      ...finished,
      requests: 3,
      recoveries: [],
      reached: [...whales, 'search {"query":"sharks"}'],
    },
  },
  {
    id: 'M01 unknown tools for ever: stopped within ten calls',
    script: [calling('whales')],
    faults: { script: ['unknown-tool'], repeat: true },
    tools: (reached) => [search(reached)],
    delivered: { 'unknown-tool': 7 },
    expected: {
      type: 'stopped',
      reason: 'loop',
      code: 'ENDLESS_LOOP',
      requests: 7,
      recoveries: [],
      reached: [],
    },
  },
  {
    id: 'M08 the same call without end: stopped within ten calls',
    script: [done],
    faults: { script: ['tool-loop'], repeat: true },
    tools: (reached) => [search(reached)],
    delivered: { 'tool-loop': 7 },
    expected: {
      type: 'stopped',
      reason: 'loop',
      code: 'ENDLESS_LOOP',
      requests: 7,
      recoveries: [],
      reached: Array.from({ length: 5 }, () => 'search {"query":"the same question as before"}'),
    },
  },
  {
    id: 'one of two calls side by side fails: the other result stands, in order',
    script: [calling('bad', 'good'), done],
    tools: (reached) => [
      search(reached, {
        execute: ({ query }: { readonly query: string }) => {
          reached('search', query);
          if (query === 'bad') throw new Error('The index is broken');
          return `Found ${query}.`;
        },
      }),
    ],
    delivered: {},
    expected: {
      ...finished,
      requests: 2,
      recoveries: ['TOOL_EXECUTION_ERROR by tell-model'],
      reached: ['search "bad"', 'search "good"'],
    },
  },
];

describe.each(chaosProtocols)('a run with tools over %s survives', (protocol) => {
  it.each([...rows, duplicateKey(protocol)].map((row) => [row.id, row] as const))('%s', async (_id, row) => {
    expect(await endsOf(row, protocol)).toEqual(expectedEnds(row));
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
