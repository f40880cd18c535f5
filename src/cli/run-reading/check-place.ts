import { visible } from '../../base/printable.ts';
import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { Given } from '../command-spec.ts';
import type { CliIo } from '../io.ts';
import { shownPlace } from '../store-place.ts';
import { typedSettings } from '../typed-settings.ts';
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
