import { createAgent } from 'rerail';
import { openai } from 'rerail/providers/openai';

// Started under a low limit of open files: as many runs at once as it is told to.

const [baseURL = '', count = '0'] = process.argv.slice(2);
const model = openai('gpt-4o', { apiKey: 'test-key-0123456789', baseURL, api: 'chat' });
const agent = createAgent({ name: 'greeter', model });
let shortages = 0;
const outcomes = await Promise.all(
  Array.from({ length: Number(count) }, () =>
    agent.run('Hi.', {
      onEvent: (event) => {
        if (event.type === 'failure' && event.failure.context['shortage'] !== undefined) shortages += 1;
      },
    }),
  ),
);
const completed = outcomes.filter(({ type }) => type === 'completed').length;
process.stdout.write(JSON.stringify({ completed, shortages }));
process.exit(0);
