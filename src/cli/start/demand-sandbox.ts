import { createFailure } from '../../errors/failure.ts';
import { RerailError } from '../../errors/rerail-error.ts';
import type { Workspace } from '../../tools/workspace/workspace.ts';

/**
 * Where a least level is demanded, looks for it before a model is asked: an answer that is about to fail should not be paid for. Throws
 * `SANDBOX_SETUP_FAILED` where it is not available. What was found is used by the first command.
 */
export async function demandSandbox({ options, sandbox }: Workspace): Promise<void> {
  if (options.sandbox.min === undefined) return;
  try {
    await sandbox();
  } catch (error) {
    if (!RerailError.isInstance(error) || error.failure.code !== 'SANDBOX_SETUP_FAILED') throw error;
    const { code, message, hint = '', context } = error.failure;
    const { found } = context;
    const typed = typeof found === 'string' ? `, at the command line: --sandbox ${found}` : '';
    const failure = createFailure(code, {
      origin: 'sandbox',
      sideEffect: 'none',
      message,
      hint: `The model was not asked. ${hint.replace(/\.$/, '')}${typed}. What is missing: rerail doctor`,
      context,
    });
    throw RerailError.from(failure, { cause: error });
  }
}
