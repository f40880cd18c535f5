import type { CommandRun } from './command-spec.ts';
import { createScreen } from './layout.ts';
import { renderTour } from './tour.ts';

/** `rerail tour`. */
export const runTour: CommandRun = (_given, io) => {
  io.stdout.write(renderTour(createScreen(io), io.command));
  return Promise.resolve(0);
};
