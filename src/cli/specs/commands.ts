import { approveSpec } from './approve-spec.ts';
import { cancelSpec } from './cancel-spec.ts';
import { chaosFaultsSpec, chaosServeSpec } from './chaos-spec.ts';
import { chatSpec } from './chat-spec.ts';
import { classifySpec } from './classify-spec.ts';
import { configSpec } from './config-spec.ts';
import { demoSpec } from './demo-spec.ts';
import { doctorSpec } from './doctor-spec.ts';
import { explainSpec } from './explain-spec.ts';
import { exportSpec } from './export-spec.ts';
import { importSpec } from './import-spec.ts';
import { initSpec } from './init-spec.ts';
import { rejectSpec } from './reject-spec.ts';
import { settleSpec } from './settle-spec.ts';
import { replaySpec } from './replay-spec.ts';
import { resumeSpec } from './resume-spec.ts';
import { runSpec } from './run-spec.ts';
import { runsSpec } from './runs-spec.ts';
import { showSpec } from './show-spec.ts';
import { storeAcceptSpec, storeSalvageSpec } from './store-spec.ts';
import { tourSpec } from './tour-spec.ts';
import { trustSpec } from './trust-spec.ts';
import { whySpec } from './why-spec.ts';
import type { CommandSpec } from './command-spec.ts';

/** Every command, in the order in which help lists them. */
export const commands: readonly CommandSpec[] = [
  demoSpec,
  chatSpec,
  runSpec,
  runsSpec,
  showSpec,
  whySpec,
  explainSpec,
  resumeSpec,
  approveSpec,
  rejectSpec,
  settleSpec,
  cancelSpec,
  exportSpec,
  importSpec,
  replaySpec,
  initSpec,
  configSpec,
  trustSpec,
  doctorSpec,
  storeSalvageSpec,
  storeAcceptSpec,
  tourSpec,
  classifySpec,
  chaosServeSpec,
  chaosFaultsSpec,
];
