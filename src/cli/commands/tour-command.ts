import type { CommandRun } from '../specs/command-spec.ts';
import { createScreen } from '../text/layout.ts';
import { renderTour } from '../demo/tour.ts';

/** `rerail tour`. */
export const runTour: CommandRun = (_given, io) => {
  io.stdout.write(renderTour(createScreen(io), io.command));
  return Promise.resolve(0);
};
