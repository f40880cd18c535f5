export { engineConformance } from './engine-conformance.ts';
export type {
  CreateEngine,
  EngineFeature,
  EngineSetup,
  EngineUnderTest,
  Reopening,
  SentSignal,
} from './engine-conformance.ts';
export { memoryStore } from './memory-store.ts';
export type {
  MemoryStore,
  MemoryStoreOptions,
  StoreDamage,
  StoreFaults,
  StoreOperation,
  StoreVerb,
} from './memory-store.ts';
export { modelConformance } from './model-conformance.ts';
export type { ConformanceCase, HarnessedModel, ModelHarness, Scenario } from './model-conformance.ts';
export { scriptedModel } from './scripted-model.ts';
export type {
  RecordedCall,
  ScriptedAnswer,
  ScriptedBreak,
  ScriptedCall,
  ScriptedFailure,
  ScriptedModel,
  ScriptedModelOptions,
  ScriptEntry,
  ScriptStep,
} from './scripted-model.ts';
export { seededRandom } from './seeded-random.ts';
export { simulatedClock } from './simulated-clock.ts';
export type { RunOptions, SimulatedClock } from './simulated-clock.ts';
export { storeConformance } from './store-conformance.ts';
export type { MakeStore, StoreFeature, StoreUnderTest } from './store-conformance.ts';
