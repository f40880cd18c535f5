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
} from '../runtime/durable.ts';
export {
  cancelledError,
  controlTypeOf,
  isCancelled,
  programChangedError,
  restartError,
} from '../runtime/durable-errors.ts';
export type { ControlType, ProgramChange } from '../runtime/durable-errors.ts';
export type { JournalEntry, RunSnapshot } from '../runtime/journal.ts';
export { createMemoryEngine } from '../runtime/memory-engine.ts';
export type { MemoryEngine } from '../runtime/memory-engine.ts';
export type { MemoryEngineLimits, MemoryEngineOptions } from '../runtime/memory-options.ts';
export type { BeginningRun, Recorder } from '../runtime/recorder.ts';
