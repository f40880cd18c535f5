import { createAgent } from 'rerail';
import type { OwnStrategy, TokenCounter } from 'rerail';
import { scriptedModel } from 'rerail/testing';

// What was decided stays; everything else may go, and a line of ours stands in its place.
const keepDecisions: OwnStrategy = ({ messages }) => ({
  keep: messages.flatMap((message, place) => (JSON.stringify(message).includes('DECISION') ? [place] : [])),
  summary: 'The rest was small talk.',
});

// Your tokenizer, such as (text) => encoding.encode(text).length.
const tokenCounter: TokenCounter = (text) => text.split(' ').length;

const model = scriptedModel(['On Friday, as decided.']);
const agent = createAgent({
  model,
  context: {
    maxTokens: 400,
    reserveTokens: 50,
    keepLastTurns: 1,
    tokenCounter,
    strategy: [keepDecisions, 'window'],
  },
});

const chatter = 'and so on '.repeat(60);
const outcome = await agent.run(
  [
    { role: 'user', content: 'When do we ship?' },
    { role: 'assistant', content: `Let me think ${chatter}` },
    { role: 'user', content: `DECISION: we ship on Friday` },
    { role: 'assistant', content: `Noted ${chatter}` },
    { role: 'user', content: 'When was it again?' },
  ],
  {
    onEvent: (event) => {
      if (event.type === 'history-compacted') console.log(event.strategy); // own
    },
  },
);
if (outcome.type === 'completed') console.log(outcome.text);
const sent = model.calls[0]?.request.messages ?? [];
console.log(JSON.stringify(sent).includes('DECISION')); // true
