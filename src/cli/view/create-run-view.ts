import { systemClock } from '../../base/system.ts';
import { createKeyboard } from '../editor/keyboard.ts';
import type { CliIo } from '../start/io.ts';
import { createLiveScreen } from './live-screen.ts';
import { createLiveView } from './live-view.ts';
import { createPlainView } from './plain-view.ts';
import type { RunView } from './run-view.ts';
import type { RunViewOptions } from './view-options.ts';

/**
 * Shows runs to a person: on a terminal live, else in plain lines, one for each thing that happened.
 *
 * @example
 * const view = createRunView(io, { resumeCommand: (runId) => `${io.command} resume ${runId}` });
 * const outcome = await agent.run(input, { onEvent: view.hear });
 * view.close();
 */
export function createRunView(io: CliIo, options: RunViewOptions = {}): RunView {
  const clock = options.clock ?? systemClock;
  const { terminal } = io;
  if (terminal === undefined) return createPlainView(io, options, clock);
  if (options.stage !== undefined)
    return createLiveView(io, options, { stage: options.stage, release: () => undefined, clock });
  const screen = createLiveScreen(terminal, clock);
  const keyboard = createKeyboard(terminal, clock);
  return createLiveView(io, options, { stage: { screen, keyboard }, release: screen.close, clock });
}
