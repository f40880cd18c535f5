export type { MindRequest } from '../providers/simulated/mind.ts';
export type { ChaosCall, ChaosModel, ChaosTurn } from './answering.ts';
export type { CertificateKind } from './certificate.ts';
export { chaos } from './chaos-model.ts';
export type {
  ChaosModelOptions,
  ChaoticModel,
  DeliveredModelFault,
  ModelFault,
  ModelFaultSchedule,
} from './chaos-model.ts';
export type { ChaosCounters } from './counting.ts';
export { startDeafServer } from './deaf-server.ts';
export type { DeafServer } from './deaf-server.ts';
export type { FaultSpec } from './fault-spec.ts';
export { faultNames } from './faults/fault-table.ts';
export type { FaultName } from './faults/fault-table.ts';
export type { ChaosServerOptions } from './options.ts';
export type { Ending, RecordedRequest } from './records.ts';
export type { FaultEntry, FaultSchedule, RequestInfo } from './schedule.ts';
export { startChaosServer } from './server.ts';
export type { ChaosServer } from './server.ts';
export { chaosProtocols } from './wire/wire-answer.ts';
export type { ChaosProtocol } from './wire/wire-answer.ts';
