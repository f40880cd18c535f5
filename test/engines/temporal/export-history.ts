import { requireIn } from './find-temporal.ts';
import type { History } from './server/start-server.ts';

interface ProtoUtils {
  readonly historyToJSON: (history: unknown) => string;
}

/** A history as `temporal workflow show --output json` writes it. */
export function exportHistory(folder: string, history: History): unknown {
  const { historyToJSON } = requireIn(folder)('@temporalio/common/lib/proto-utils') as ProtoUtils;
  return JSON.parse(historyToJSON(history));
}
