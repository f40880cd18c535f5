import type { Model } from '../model/model.ts';
import { conformanceRules } from './model-conformance-rules.ts';

/**
 * What the other side of a model does in one case. The text of an answer is free, but comes in two pieces or more; calls are
 * of the tool `lookup_order`, whose one argument is the text `id`.
 *
 * - `text`: a whole answer in text;
 * - `tool-call`: a call with the id `17`; `parallel-tool-calls`: two in one answer, with the ids `17` and `18`;
 * - `empty`: neither text nor call, properly ended; `length`: some text, ended by the limit of output tokens;
 * - `missing-terminal`: some text, and then the stream ends without its closing event;
 * - `server-error`: the failure that an overloaded or broken server gives (status 500);
 * - `silent`: never answers; `slow`: a piece of text, and then nothing for a long time.
 */
export type Scenario =
  | 'text'
  | 'tool-call'
  | 'parallel-tool-calls'
  | 'empty'
  | 'length'
  | 'missing-terminal'
  | 'server-error'
  | 'silent'
  | 'slow';

/** A model with the other side it talks to. */
export interface HarnessedModel {
  readonly model: Model;
  /** How many requests the other side has seen. */
  readonly requests: () => number;
  readonly close: () => Promise<void>;
}

/** How the suite gets a model whose other side plays a scenario. */
export interface ModelHarness {
  readonly createModel: (scenario: Scenario) => Promise<HarnessedModel>;
  /** Scenarios that the other side cannot be made to play: their cases are left out. */
  readonly unsupported?: readonly Scenario[];
}

/** One promise of the port, and how to see whether it is kept. */
export interface ConformanceCase {
  readonly name: string;
  /** Throws an error with a sentence where the promise is broken. */
  readonly run: () => Promise<void>;
}

/**
 * The promises that every model keeps, as cases for any test runner.
 *
 * @example for (const { name, run } of modelConformance(harness)) it(name, run);
 */
export function modelConformance(harness: ModelHarness): readonly ConformanceCase[] {
  const { unsupported = [] } = harness;
  return conformanceRules.flatMap(({ name, scenarios: wanted, check }) =>
    wanted
      .filter((scenario) => !unsupported.includes(scenario))
      .map((scenario) => ({
        name: wanted.length === 1 ? name : `${name} (${scenario})`,
        run: async () => {
          const subject = await harness.createModel(scenario);
          try {
            await check(subject);
          } finally {
            await subject.close();
          }
        },
      })),
  );
}
