import { own } from '../report/report-words.ts';
import type { RunState } from '../state.ts';

/** Whether calls of this tool change nothing. This is unknown for a tool that the agent does not have. */
export function isReadTool({ config }: Pick<RunState, 'config'>, name: string): boolean {
  return own(config.tools, name)?.effect === 'read';
}
