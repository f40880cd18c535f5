import { printable, visible } from '../../base/printable.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import { createModelRegistry } from '../../providers/registry.ts';
import type { Given } from '../specs/command-spec.ts';
import type { Settings } from '../config/settings.ts';
import type { CliIo } from '../start/io.ts';
import { shownPlace } from '../start/store-place.ts';
import { typedSettings } from '../start/typed-settings.ts';
import type { AgentSeam } from './agent-seam.ts';
import { flagText } from './given-text.ts';
import { shellWord } from './run-words.ts';
import type { TakenRun } from './take-run.ts';

/** Which command it is that cannot be done here. */
export interface PlacedCommand {
  readonly verb: string;
  readonly flags: Given['flags'];
  readonly io: Pick<CliIo, 'command'>;
}

/**
 * What is wrong where a run belongs to another folder, before anything is shown or done: where it belongs, where it was found, and the
 * whole command to type. Nothing where it belongs here.
 */
export async function misplaced(
  seam: Pick<AgentSeam, 'runBelongsHere'>,
  { reading, settings }: TakenRun,
  { verb, flags, io }: PlacedCommand,
): Promise<RerailError | undefined> {
  const { row } = reading;
  const place = await seam.runBelongsHere(row, settings);
  if (place.type === 'here') return undefined;
  const { code, message, context } = place.error.failure;
  const { other } = context;
  if (code !== 'PATH_OUTSIDE_WORKSPACE' || typeof other !== 'string') return place.error;
  const words = ['call', 'input', 'answer', 'reason', 'result'].flatMap((name) => {
    const value = flagText(flags, name);
    return value === undefined ? [] : [` --${name} ${shellWord(value)}`];
  });
  const failure = createFailure(code, {
    message: `${message}; looked in the store "${visible(shownPlace(settings.storeFile))}"`,
    hint: `Type: ${io.command} ${verb} ${shellWord(row.runId)}${words.join('')}${typedSettings({ ...flags, workspace: other })}`,
    context,
  });
  return RerailError.from(failure, { cause: place.error });
}

/**
 * What is wrong where a run of a real model would be continued by the embedded one, which is the model only because no key is set. One that
 * was chosen by name may continue it.
 */
export function missingModel(
  { reading, settings, storeFlag }: TakenRun,
  { verb, io }: PlacedCommand,
): RerailError | undefined {
  const [name] = reading.models;
  if (!isStandIn(settings) || name === undefined || name.startsWith('simulated:')) return undefined;
  const variable = keyVariableOf(name);
  const { runId } = reading.row;
  const why = variable === undefined ? 'which is not available here' : `and ${variable} is not set`;
  const failure = createFailure('PROVIDER_NOT_CONFIGURED', {
    message: `The run "${printable(runId)}" used ${printable(name)}, ${why}: the embedded model would only play a part in it. Nothing was done`,
    hint: `${variable === undefined ? 'Make it available' : `Set ${variable}`}, or name another model: ${io.command} ${verb} ${shellWord(runId)}${storeFlag} --model <provider>:<model>`,
    context: { runId, model: name },
  });
  return RerailError.from(failure);
}

/** Whether the embedded model was not chosen, and is there only because no key is. */
export function isStandIn({ origins }: Settings): boolean {
  return origins.some(({ path, from }) => path === 'model' && from === 'default');
}

/** A record may name a provider that is not known here. */
function keyVariableOf(name: string): string | undefined {
  const registry = createModelRegistry();
  const provider = name.slice(0, Math.max(0, name.indexOf(':')));
  return registry.list().includes(provider) ? registry.describe(name).keyVariables[0] : undefined;
}
