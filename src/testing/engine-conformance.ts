import type { Clock } from '../base/clock.ts';
import type { DurableProgram, Effect, Engine, SignalMessage } from '../runtime/record/durable.ts';
import { cancelRules } from './engine-conformance-cancel.ts';
import { callRules } from './engine-conformance-calls.ts';
import { deafRules } from './engine-conformance-deaf.ts';
import { replayRules } from './engine-conformance-replay.ts';
import { createStage } from './engine-conformance-scene.ts';
import type { EngineRule } from './engine-conformance-scene.ts';
import { signalRules } from './engine-conformance-signals.ts';
import { volumeRules } from './engine-conformance-volume.ts';
import type { ConformanceCase } from './model-conformance.ts';

/** What an engine is made of in one case. */
export interface EngineSetup {
  readonly program: DurableProgram;
  readonly effects: Readonly<Record<string, Effect>>;
  /** Moved by the suite. An engine with timers of its own leaves it alone, and the case takes real time. */
  readonly clock: Clock;
}

/** An engine as the suite sees it. */
export interface EngineUnderTest {
  readonly engine: Engine;
  /** The engine measures time with the clock that it was given. */
  readonly usesClock?: boolean;
  /** Ends this engine as a crash does, without a word to its runs, and opens another one over what it has kept. */
  readonly reopen?: (reopening: Reopening) => Promise<EngineUnderTest>;
  /** What the journal of a run takes up. */
  readonly journalBytes?: (runId: string) => Promise<number>;
  readonly close: () => Promise<void>;
}

/** What happens while no engine is there. */
export interface Reopening {
  /** The code has changed meanwhile. */
  readonly program?: DurableProgram;
  /** These were sent meanwhile, by whatever way the backend has; without one, before anything else. */
  readonly signals?: readonly SentSignal[];
}

/** A signal with where it goes. */
export interface SentSignal {
  readonly runId: string;
  readonly name: string;
  readonly message: SignalMessage;
}

/** How the suite gets an engine. */
export type CreateEngine = (setup: EngineSetup) => Promise<EngineUnderTest>;

/** What a backend may lack; the cases that need it are left out. */
export type EngineFeature = 'reopen' | 'journal-bytes';

/**
 * The promises that every engine of the durable port keeps, as cases for any test runner.
 *
 * @example for (const { name, run } of engineConformance(createEngine)) it(name, run);
 */
export function engineConformance(
  createEngine: CreateEngine,
  { unsupported = [] }: { readonly unsupported?: readonly EngineFeature[] } = {},
): readonly ConformanceCase[] {
  return rules
    .filter(({ needs }) => needs === undefined || !unsupported.includes(needs))
    .map(({ name, check }) => ({
      name,
      run: async () => {
        const stage = createStage(createEngine);
        try {
          await check(stage);
        } finally {
          await stage.close();
        }
      },
    }));
}

const rules: readonly EngineRule[] = [
  ...callRules,
  ...replayRules,
  ...signalRules,
  ...cancelRules,
  ...deafRules,
  ...volumeRules,
];
