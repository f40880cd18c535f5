import type { ErrorContext } from '../../agent/report/error-context.ts';
import type { RunExplanation } from '../../agent/report/error-report.ts';
import { systemClock } from '../../base/system.ts';
import { classifyFailure } from '../../errors/classify-failure.ts';
import { askExplanation } from '../../runtime/run/ask-explanation.ts';
import type { Given } from '../specs/command-spec.ts';
import type { ChosenModel } from '../config/settings.ts';
import type { CliIo } from '../start/io.ts';
import type { AgentSeam } from './agent-seam.ts';

/** What came of asking a model to say it in plain words. */
export type Explained =
  /** It was not requested. */
  | { readonly type: 'not-asked' }
  /** There is only the embedded model, which plays a part and knows nothing. */
  | { readonly type: 'no-model' }
  /** The run itself had it explained when it ended. */
  | ({ readonly type: 'recorded' } & RunExplanation)
  | ({ readonly type: 'explained' } & RunExplanation)
  | { readonly type: 'failed'; readonly code: string; readonly model?: string }
  /** It said something that does not stand in the record. */
  | { readonly type: 'refused'; readonly model: string; readonly problem: string };

/** Asks the first model that is one, once. Never rejects: the report stands without it. */
export async function askForExplanation(
  context: ErrorContext,
  { seam, given, io }: { readonly seam: AgentSeam; readonly given: Given; readonly io: CliIo },
): Promise<Explained> {
  try {
    const { models } = await seam.loadSettings(given.flags, io);
    const chosen = models.find(({ name }) => !isEmbedded(name));
    return chosen === undefined ? { type: 'no-model' } : await ask(chosen, context);
  } catch (error) {
    // A configuration that is wrong, or a model that cannot take the request: the person is informed of it.
    return { type: 'failed', code: classifyFailure(error, 'model').code };
  }
}

/** It only plays a part, and knows nothing. */
function isEmbedded(name: string): boolean {
  return name.startsWith('simulated:');
}

async function ask({ name, model }: ChosenModel, context: ErrorContext): Promise<Explained> {
  const { signal } = new AbortController();
  const asked = await askExplanation(model, context, { clock: systemClock, signal });
  switch (asked.type) {
    case 'explained':
      return { type: 'explained', ...asked.explanation, model: name };
    case 'refused':
      return { type: 'refused', model: name, problem: asked.problem };
    default:
      return { type: 'failed', model: name, code: asked.failure.code };
  }
}
