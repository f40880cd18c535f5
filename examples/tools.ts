import { startChaosServer } from 'rerail/chaos';
import { callModel, parseToolArguments } from 'rerail/model';
import type { Message, ToolCallPart, ToolDefinition, ToolResultPart } from 'rerail/model';
import { openai } from 'rerail/providers/openai';

// Stands in for the provider, and breaks on purpose: a call whose arguments stop in the middle, then a good one, then an
// overload, then a good answer.
const provider = await startChaosServer({
  faults: { script: ['truncated-tool-arguments', null, 'overloaded', null] },
});
const model = openai('gpt-5.2', { baseURL: provider.baseURL('openai-responses'), apiKey: 'any' });

const tools: readonly ToolDefinition[] = [
  {
    name: 'get_weather',
    description: 'The weather in a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
];
const messages: Message[] = [{ role: 'user', content: 'What is the weather in Oslo?' }];

for (let turn = 1; turn <= 5; turn += 1) {
  const outcome = await callModel(
    model,
    { messages, tools },
    { policy: { retry: { baseDelayMs: 20 } } }, // as the default, but in a hurry
  );
  if (outcome.type === 'failure') {
    console.log(outcome.failure.code, outcome.failure.message);
    break;
  }
  for (const { failure, recovery } of outcome.report.recoveries) console.log(failure.code, '→', recovery);
  // TOOL_CALL_INVALID → retry
  // OVERLOADED → retry
  const { content, toolCalls, text } = outcome.result;
  if (toolCalls.length === 0) {
    console.log(text); // The tool get_weather answered: 4 degrees and snow in Oslo
    break;
  }
  messages.push({ role: 'assistant', content }, { role: 'tool', content: toolCalls.map(runTool) });
}

await provider.close();

function runTool({ callId, name, argumentsText }: ToolCallPart): ToolResultPart {
  const given = parseToolArguments(argumentsText); // 'parsed', 'empty' or 'invalid'; never repaired, never invented
  const city = given.type === 'parsed' ? given.value['city'] : undefined;
  if (typeof city !== 'string') {
    return { type: 'tool-result', callId, name, content: '"city" must be a text', isError: true };
  }
  return { type: 'tool-result', callId, name, content: `4 degrees and snow in ${city}` };
}
