import type { SandboxChoice } from '../../tools/workspace/workspace.ts';
import type { SandboxConfig } from './define-config.ts';
import type { GivenValue } from './given-value.ts';

/** What is asked of the sandbox; where it is switched off, by whom and where, for the label. */
export function toSandboxChoice(given: GivenValue | undefined): SandboxChoice {
  if (given === undefined) return {};
  const { min, off } = given.value as SandboxConfig; // Checked by the table.
  if (min !== undefined) return { min };
  if (off === undefined || off === false) return {};
  const who = given.from.replace(/^(?:flag|environment) /, '');
  return { off: off === true ? who : `${who}: ${off}` };
}
