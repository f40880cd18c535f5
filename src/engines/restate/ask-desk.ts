import type { Host } from './generation.ts';
import { askRestate } from './ingress.ts';

/** What the desk of a run is asked for. */
export interface DeskRequest {
  readonly handler: string;
  readonly body?: unknown;
  readonly deed: string;
}

/** Asks the desk of a run, and waits for what it says. */
export function askDesk({ options, names }: Host, runId: string, request: DeskRequest): Promise<unknown> {
  const { handler, ...rest } = request;
  return askRestate(options, {
    base: options.ingressUrl,
    path: [names.desk, runId, handler],
    method: 'POST',
    ...rest,
  });
}
