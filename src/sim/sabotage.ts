import type { Clock } from '../base/clock.ts';
import type { Model } from '../model/model.ts';
import type { Store } from '../model/store/store.ts';
import type { Tool } from '../model/tool.ts';
import type { Agent } from '../runtime/create-agent.ts';

/** Broken parts in the place of sound ones: to show that a simulation would notice. */
export interface Sabotage {
  readonly store?: (store: Store, about: SabotagedProcess) => Store;
  readonly model?: (model: Model, about: SabotagedProcess) => Model;
  readonly tool?: (tool: Tool, about: SabotagedProcess) => Tool;
  readonly agent?: (agent: Agent, about: SabotagedProcess) => Agent;
}

/** The process that the part belongs to. */
export interface SabotagedProcess {
  /** Processes are counted from 1. */
  readonly life: number;
  readonly clock: Clock;
  readonly isDead: () => boolean;
}
