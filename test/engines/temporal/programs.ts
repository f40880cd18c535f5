import type { DurableProgram } from '../../../src/runtime/record/durable.ts';
import { engineConformance } from '../../../src/testing/engine-conformance.ts';

// Programs that stand both in the workflow's bundle and in the worker: a sandbox takes no closures.

/** Programs by name. */
export const programs = {
  /** Waits for one signal and says what it was. */
  waits: async (durable) => {
    const signal = await durable.waitFor('go');
    return signal.type === 'signalled' ? signal.payload : 'timed out';
  },
  /** One effect; its failure is the result. */
  calls: async (durable, input) => {
    const outcome = await durable.call('effect', input);
    return outcome.type === 'failed' ? outcome.failure.code : outcome.value;
  },
  /** Gives what the effect gave, as it is. */
  returns: async (durable, input) => {
    const outcome = await durable.call('effect', input);
    return outcome.type === 'done' ? outcome.value : null;
  },
  /** One generation a signal: those that came while one ended must not be lost. */
  generations: async (durable, input) => {
    const seen = input as readonly string[]; // What it is started with.
    if (seen.length === 12) return seen;
    const signal = await durable.waitFor('go', { timeoutMs: 20_000 });
    return signal.type === 'signalled' ? durable.restart([...seen, signal.id]) : 'one was lost';
  },
  /** Says which signals were left to the second generation. */
  leftovers: async (durable, input) => {
    if (input === 'first') return (await durable.waitFor('go')).type;
    const signal = await durable.waitFor('kept', { timeoutMs: 5000 });
    return signal.type === 'signalled' ? signal.id : signal.type;
  },
  /** Goes on with a text of so many letters. */
  grows: async (durable, input) => {
    if (typeof input === 'string') return input.slice(0, 100);
    return durable.restart('x'.repeat(Number(input)));
  },
  /** Everything that can stand in a history: calls beside each other, sleeps, waits, a timeout, a next generation. */
  everything: async (durable, input) => {
    if (input === 'again') {
      await durable.call('effect', 'after the restart');
      return 'all done';
    }
    await Promise.all([durable.call('effect', 1), durable.call('effect', 2)]);
    await durable.sleep(20);
    await durable.waitFor('never', { timeoutMs: 20 });
    const signal = await durable.waitFor('go', { timeoutMs: 60_000 });
    await durable.call('effect', signal.type);
    return durable.restart('again');
  },
  /** So many calls in a row, and then a wait. */
  steps: async (durable, input) => {
    const { count, isWaiting } = input as { readonly count: number; readonly isWaiting?: boolean };
    for (let step = 0; step < count; step += 1) await durable.call('effect', step);
    if (isWaiting === true) await durable.waitFor('go');
    return count;
  },
  /** Two calls after each other, and then two beside each other. */
  pairs: async (durable) => {
    for (const step of [1, 2]) await durable.call('effect', step);
    await Promise.all([3, 4].map((step) => durable.call('effect', step)));
    return 'done';
  },
  /** So many calls, a wait, and one more. */
  rests: async (durable, input) => {
    const count = Number(input);
    for (let step = 0; step < count; step += 1) await durable.call('effect', step);
    await durable.waitFor('go');
    await durable.call('effect', count);
    return count + 1;
  },
} satisfies Readonly<Record<string, DurableProgram>>;

/** What the engine's setup tells the workflow: a case of the suite, or a program by its name. */
export type ProgramFacts = { readonly case: string } | { readonly program: keyof typeof programs };

/** The same on both sides. */
export function programOf(facts: ProgramFacts): DurableProgram {
  return 'case' in facts ? programOfCase(facts.case) : programs[facts.program];
}

/** The program of one case of the suite, which is found by letting the case make its engine. */
function programOfCase(name: string): DurableProgram {
  let found: DurableProgram | undefined;
  const cases = engineConformance(({ program }) => {
    found = program;
    return Promise.reject(new Error('The program is all that was wanted'));
  });
  cases
    .find((each) => each.name === name)
    ?.run()
    .catch(() => undefined); // It has no engine.
  if (found === undefined) throw new Error(`There is no case "${name}" that makes its engine at once`);
  return found;
}
