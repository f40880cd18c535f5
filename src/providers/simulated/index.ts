export { simulated } from './simulated.ts';
export type { PlannedTurn, SimulatedOptions } from './simulated.ts';
export type { MindCall } from './mind-answer.ts';
