export type {
  CreateEngine,
  Durable,
  DurableCallOptions,
  DurableProgram,
  Effect,
  EffectContext,
  EffectEnd,
  Engine,
  EngineSetup,
  Outcome,
  RunStatus,
  Signalled,
  SignalMessage,
  Started,
  StartOptions,
} from '../runtime/record/durable.ts';
export {
  cancelledError,
  controlTypeOf,
  isCancelled,
  programChangedError,
  restartError,
} from '../runtime/record/durable-errors.ts';
export type { ControlType, ProgramChange } from '../runtime/record/durable-errors.ts';
export type { JournalEntry, RunSnapshot } from '../runtime/record/journal.ts';
export { createMemoryEngine } from '../runtime/record/memory-engine.ts';
export type { MemoryEngine } from '../runtime/record/memory-engine.ts';
export type { MemoryEngineLimits, MemoryEngineOptions } from '../runtime/record/memory-options.ts';
export type { BeginningRun, Recorder } from '../runtime/record/recorder.ts';
