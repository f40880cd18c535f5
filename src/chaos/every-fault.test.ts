import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, until } from '../../test/chaos/bare-client.ts';
import { question } from '../../test/chaos/bodies.ts';
import { faultNames, faultRow } from './faults/fault-table.ts';
import type { FaultName } from './faults/fault-table.ts';
import { startChaosServer } from './server.ts';
import type { ChaosServer } from './server.ts';
import { chaosProtocols } from './wire/wire-answer.ts';

// Every fault, on every protocol, streamed and whole: it is delivered and recorded, or the record says why not. What a
// client sees of each is in faults.test.ts.

let server: ChaosServer;
beforeAll(async () => {
  server = await startChaosServer({ model: () => 'It is sunny in Oslo today, and warm for the season.' });
});
afterAll(() => server.close());

/** So that the sweep stays short. */
const milder: Partial<Record<FaultName, string>> = {
  'giant-event': ';megabytes=2',
  'gzip-bomb': ';megabytes=1',
  'slow-drip': ';bytes=200;everyMs=1',
  'endless-keepalive': ';everyMs=2',
  'continue-storm': ';count=20',
};

const cases = chaosProtocols.flatMap((protocol) =>
  [true, false].flatMap((isStream) => faultNames.map((name) => ({ protocol, isStream, name }))),
);

describe('every fault on every protocol', () => {
  it.each(cases)(
    '$name is delivered on $protocol (stream: $isStream)',
    async ({ protocol, isStream, name }) => {
      const { path, body } = question(protocol, { isStream });
      const before = server.counters();
      const headers = { 'x-rerail-fault': `${name}${milder[name] ?? ''}` };
      const asked = ask(server.url + path, { body, headers });
      const latest = () => server.requests.at(-1);
      await until(() => server.counters().requests > before.requests);
      await until(() => latest()?.faultDelivered !== undefined || asked.seen().isOver);
      const needs = faultRow(name).needs;
      const isImpossible = needs === 'tls' || (needs === 'stream' && !isStream);
      expect(latest()?.faultAsked?.name).toBe(name);
      expect(latest()?.faultDelivered).toBe(isImpossible ? undefined : name);
      expect(latest()?.undeliveredBecause === undefined).toBe(!isImpossible);
      asked.leave();
      await until(() => server.counters().inFlight === 0);
      expect(latest()?.ended).not.toBe('open');
      const delivered = (counters: typeof before): number => counters.faultsByName[name] ?? 0;
      expect(delivered(server.counters())).toBe(delivered(before) + (isImpossible ? 0 : 1));
    },
  );
});
