import type { ArgumentSpec, OptionSpec } from '../specs/command-spec.ts';

/** What several commands about runs have in common. Data only: it is loaded with every help. */
export const runArgument: ArgumentSpec = {
  usage: '<run>',
  text: 'The id of the run, or the first letters of it',
};

/** Which call an answer is for. */
export const callOption: OptionSpec = {
  flags: '--call <hash>',
  text: 'The call that you mean: its hash as why and show print it, or the first 8 or more characters of it',
};

/** To write an answer down without resuming the run. */
export const recordOption: OptionSpec = {
  flags: '--no-resume',
  text: 'Only record the answer; the next process that resumes the run reads it',
};

/** Exit codes of every command that names a run. */
export const findExitCodes = [
  { code: 2, means: 'the id fits several runs, or what was typed makes no sense for this run' },
  { code: 30, means: 'there is no such run, its record is damaged, or the store cannot be read' },
  { code: 31, means: 'another process runs the run, or holds the store' },
] as const;

/** Exit codes of every command that changes a run. */
export const changeExitCodes = [
  ...findExitCodes,
  { code: 24, means: 'the run belongs to another workspace' },
] as const;

/** Exit codes of every command that resumes a run: by its outcome. */
export const goOnExitCodes = [
  ...changeExitCodes,
  { code: 21, means: 'the run was stopped by a limit' },
  { code: 22, means: 'the run was stopped by a rule or a person' },
  { code: 23, means: 'the run waits: for an answer, for a fix by a person, or for its time' },
  { code: 129, means: 'the terminal was closed, and the run can be resumed' },
  { code: 130, means: 'the run was cancelled' },
] as const;
