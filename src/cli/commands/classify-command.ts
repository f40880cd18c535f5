import { classifyProviderFailure } from '../../errors/classify-provider-failure.ts';
import { failureTraits } from '../../errors/codes.ts';
import type { Failure } from '../../errors/failure.ts';
import { observationOf, readClassifyFlags } from '../classify/classify-flags.ts';
import type { ClassifyFlags } from '../classify/classify-flags.ts';
import type { CommandRun } from '../specs/command-spec.ts';
import type { CliIo } from '../start/io.ts';
import { createScreen } from '../text/layout.ts';
import { combine, isEmpty, toProviderInput } from '../classify/observation.ts';
import type { Observation } from '../classify/observation.ts';
import { parseResponse } from '../classify/parse-response.ts';
import { readInput } from '../classify/read-input.ts';
import type { InputSource } from '../classify/read-input.ts';
import { reportJson, reportText } from '../classify/report.ts';
import { usageError } from '../text/usage-error.ts';

/** `rerail classify`: says what one failed model call means. Returns the exit code. */
export const runClassify: CommandRun = async ({ args, flags: typed }, io) => {
  const [file] = args as readonly [string | undefined]; // As the spec has it.
  const flags = readClassifyFlags(typed);
  const given = observationOf(flags);
  const source = chooseSource({ file, flags }, io);
  const observation = combine(given, parseResponse(await readInput(source, io)));
  if (isEmpty(observation)) throw nothingGiven(source);
  const failure = classify(observation, flags.now ?? io.now());
  io.stdout.write(flags.json === true ? reportJson(failure) : reportText(failure, createScreen(io)));
  return flags.exitCode === true ? failureTraits[failure.code].exitCode : 0;
};

interface ClassifyRequest {
  /** The positional argument. */
  readonly file: string | undefined;
  readonly flags: ClassifyFlags;
}

function classify(observation: Observation, now: number): Failure {
  return classifyProviderFailure(toProviderInput(observation, now));
}

/** A file or `-` where one is named; else a pipe, unless the flags already hold the text that a pipe would bring. */
function chooseSource({ file, flags }: ClassifyRequest, io: CliIo): InputSource {
  if (file !== undefined && flags.file !== undefined) {
    throw usageError({
      message: 'Two inputs were given, one by --file and one without',
      hint: 'Type only one: rerail classify response.txt',
    });
  }
  const path = file ?? flags.file;
  if (path !== undefined) return path === '-' ? { type: 'stdin' } : { type: 'file', path };
  const hasText = flags.body !== undefined || flags.message !== undefined;
  return hasText || io.isTerminal.stdin ? { type: 'none' } : { type: 'stdin' };
}

function nothingGiven(source: InputSource): Error {
  const hint = 'Type: curl -is … | rerail classify, or: rerail classify --status 429 --body "…"';
  if (source.type === 'none') return usageError({ message: 'There is nothing to classify', hint });
  const name = source.type === 'stdin' ? 'Standard input' : 'The file';
  return usageError({ message: `${name} is empty, so there is nothing to classify`, hint });
}
