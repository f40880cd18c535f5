import { systemClock } from '../../../src/base/system.ts';
import { dbos } from '../../../src/engines/dbos/index.ts';
import { isCancelled } from '../../../src/engines/index.ts';
import { readGiven, say } from '../../kill/say.ts';
import { loadDbos } from './find-dbos.ts';

// A process that carries one run, which others signal and cancel from outside.

const { databaseUrl, packages, runId } = readGiven() as Readonly<Record<string, string>>; // Of our own test.
const create = dbos({
  databaseUrl: databaseUrl ?? '',
  executorId: 'carrier',
  logLevel: 'error',
  ...loadDbos(packages ?? ''),
});
const engine = await create({
  name: 'carried',
  version: '1',
  clock: systemClock,
  program: async (durable) => {
    say({ kind: 'taken-up' });
    await durable.announce?.({ seq: 1 });
    const first = await durable.waitFor('go');
    try {
      await durable.call('long', null);
      return 'not cancelled';
    } catch (error) {
      return [
        first.type === 'signalled' ? first.payload : null,
        isCancelled(error) ? 'cancelled' : String(error),
      ];
    }
  },
  effects: {
    long: (_, { signal }) => {
      say({ kind: 'at-work' });
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          say({ kind: 'aborted' });
          // Deaf to it: the grace has to end the call.
          void reject;
        });
      });
    },
  },
});
await engine.start(null, { runId: runId ?? '', version: '1' });
say({ kind: 'ready' });
