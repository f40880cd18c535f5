export { replayHistory } from './replay.ts';
export type { ReplayOptions } from './replay.ts';
export { temporal } from './temporal.ts';
export type { TemporalOptions } from './options.ts';
export type { CarryLimits } from './messages.ts';
export type { WorkflowBundle } from './sdk.ts';
