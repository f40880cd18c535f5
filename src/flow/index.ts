export type { NodeReport } from '../agent/run-outcome.ts';
export type { AgentMap } from './child-agents.ts';
export type { ConductedOptions } from './conducted-agent.ts';
export { graph, node, parallel, sequence } from './build-flow.ts';
export { flow } from './flow.ts';
export type { Flow, FlowOptions } from './flow.ts';
export type { FlowContext, FlowEdges, FlowResult, FlowShape, NodeOptions } from './flow-types.ts';
export type { FlowFor } from './build-flow.ts';
export { handOff } from './hand-off.ts';
export type { HandOffOptions } from './hand-off.ts';
export { capability } from './plan/capability.ts';
export { plan } from './plan/plan.ts';
export type { PlanOptions } from './plan/plan.ts';
export type {
  Capability,
  CapabilityContext,
  CapabilityOptions,
  CapabilityVerdict,
  PlanLimits,
  PlanStep,
} from './plan/plan-types.ts';
export { team } from './team.ts';
export type { MemberOptions, TeamOptions } from './team.ts';
