import type { PersonRequest } from '../../agent/run-outcome.ts';
import type { Settings } from '../config/settings.ts';
import { interruptible } from '../start/interruption.ts';
import type { CliIo } from '../start/io.ts';
import type { RequestFacts } from '../view/request-facts.ts';
import type { AgentSeam } from './agent-seam.ts';

/** What a person should know before he answers, read before any agent is made. Ctrl-C meanwhile answers nothing. */
export function previewCall(
  { seam, io }: { readonly seam: AgentSeam; readonly io: CliIo },
  settings: Settings,
  request: PersonRequest,
): Promise<RequestFacts> {
  return interruptible(async (signal) => {
    const facts = await seam.requestFacts(settings, request, { signal, command: io.command });
    signal.throwIfAborted();
    return facts;
  });
}
