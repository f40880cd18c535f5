import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chaosProtocols, startChaosServer } from '../../src/chaos/index.ts';
import type { ChaosServer } from '../../src/chaos/index.ts';
import { callModel, createGates } from '../../src/model/index.ts';
import type { CallOutcome } from '../../src/model/index.ts';
import { providerModel } from './provider-models.ts';

// The outage of outage.test.ts once more over real sockets, where the server counts. Pauses are short; the rules are the same.

let server: ChaosServer;
beforeAll(async () => {
  server = await startChaosServer({ model: { script: ['fine'], repeat: true } });
});
afterAll(() => server.close());

describe.each(chaosProtocols)('a total outage at %s', (protocol) => {
  it('sends at most 1.2 requests per call, one probe at a time, and all recover when it ends', async () => {
    server.reset();
    const outageRequests = 30;
    const callers = 20;
    const wanted = 100;
    server.setFaults((request) => (request.sequence <= outageRequests ? 'overloaded' : null));
    const breaker = { minAnswers: 10, failureShare: 0.9, window: 20, openMs: 20, maxOpenMs: 100 };
    const gates = createGates({ policy: { breaker } });
    const model = providerModel(protocol, { baseURL: server.baseURL(protocol) });
    const retry = {
      maxAttempts: Infinity,
      baseDelayMs: 5,
      maxDelayMs: 20,
      minDelayMs: 1,
      deadlineMs: 50_000,
    };
    const outcomes: CallOutcome[] = [];
    let probes = 0;
    let started = 0;
    const caller = async (): Promise<void> => {
      while (started < wanted) {
        started += 1;
        outcomes.push(
          await callModel(
            model,
            { messages: [{ role: 'user', content: 'Hello' }] },
            {
              gates,
              policy: { retry },
              onEvent: (event) => {
                if (event.type === 'attempt-started' && event.isProbe) probes += 1;
              },
            },
          ),
        );
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    expect(outcomes.filter(({ type }) => type === 'success')).toHaveLength(wanted);
    const { requests } = server.counters();
    expect(requests).toBeLessThanOrEqual(wanted * 1.2 + outageRequests);
    // All twenty find out together; from then on single probes ask until the outage is over.
    expect(requests).toBe(wanted + outageRequests);
    expect(probes).toBeGreaterThan(0);
    const counted = outcomes.reduce((sum, { report }) => sum + report.ledger.requests, 0);
    expect(counted).toBe(requests);
  });
});
