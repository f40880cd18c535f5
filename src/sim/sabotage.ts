import type { Model } from '../model/model.ts';
import type { Store } from '../model/store.ts';
import type { Tool } from '../model/tool.ts';
import type { Agent } from '../runtime/create-agent.ts';

/** Broken parts in the place of sound ones: to show that a simulation would notice. */
export interface Sabotage {
  /** `life` counts the processes from 1. `die` ends the process. */
  readonly store?: (store: Store, about: SabotagedProcess) => Store;
  readonly model?: (model: Model, about: SabotagedProcess) => Model;
  readonly tool?: (tool: Tool, about: SabotagedProcess) => Tool;
  readonly agent?: (agent: Agent, about: SabotagedProcess) => Agent;
}

export interface SabotagedProcess {
  readonly life: number;
  readonly isDead: () => boolean;
}
