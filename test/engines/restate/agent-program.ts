import { createRequire } from 'node:module';
import { createAgent, tool } from '../../../src/index.ts';
import { restate } from '../../../src/engines/restate/index.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { readGiven, say } from '../../kill/say.ts';

// One life of a process that carries the runs of an agent which pays when somebody has approved it.

/** What it is started with. */
export interface PayerGiven {
  readonly ingressUrl: string;
  readonly adminUrl: string;
  readonly port: number;
  readonly sdkPath: string;
  /** Who it is, in what it says. */
  readonly life: string;
}

const { ingressUrl, adminUrl, port, sdkPath, life } = readGiven() as PayerGiven; // Of our own test.
const agent = createAgent({
  name: 'payer',
  model: scriptedModel(({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? `Paid by the ${life} process.`
      : { text: 'I shall pay Ann. ', toolCalls: [{ name: 'pay', arguments: { to: 'Ann' } }] },
  ),
  tools: [
    tool({
      name: 'pay',
      description: 'Pays somebody.',
      input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
      permission: 'ask',
      execute: ({ to }) => {
        say({ kind: 'paid', to, life });
        return 'paid';
      },
    }),
  ],
  engine: restate({ ingressUrl, adminUrl, serve: { port }, sdk: createRequire(sdkPath)(sdkPath) }),
});
await agent.serve();
say({ kind: 'ready' });
