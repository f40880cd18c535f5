import { printable } from '../../base/printable.ts';
import { configError } from '../../errors/config-error.ts';
import type { RerailError } from '../../errors/rerail-error.ts';

/** One thing that is wrong with a configuration. */
export interface ConfigProblem {
  /** `rerail.config.json:4`, `environment RERAIL_MODEL`, `flag --model`. */
  readonly place: string;
  /** What was expected and found, without a full stop. */
  readonly text: string;
}

const maxProblems = 100;

/** All that is wrong, at once: a `CONFIG_ERROR` whose context has every problem as a line of its own. */
export function problemsError(problems: readonly ConfigProblem[], hint?: string): RerailError {
  const lines = problems.slice(0, maxProblems).map(({ place, text }) => printable(`${place}: ${text}`));
  const count = problems.length === 1 ? '' : `${problems.length} problems. `;
  return configError(`${count}${lines.join('; ')}`, {
    hint: hint ?? 'Nothing was started.',
    context: { problems: lines },
  });
}
