import type { CliIo } from './io.ts';

/** Whether a person can be asked: both ends are a terminal. */
export function canConfirm({ isTerminal }: Pick<CliIo, 'isTerminal'>): boolean {
  return isTerminal.stdin && isTerminal.stdout;
}

/** Asks a question that only a plain yes answers with yes. Ask `canConfirm` first. */
export async function confirm(io: Pick<CliIo, 'stdout' | 'stdin'>, question: string): Promise<boolean> {
  io.stdout.write(`${question} [y/N] `);
  return /^y(?:es)?$/i.test((await readLine(io)).trim());
}

const maxAnswerBytes = 1000;

async function readLine({ stdin }: Pick<CliIo, 'stdin'>): Promise<string> {
  let text = '';
  for await (const chunk of stdin()) {
    text += Buffer.from(chunk).toString('utf8');
    if (text.includes('\n') || text.length > maxAnswerBytes) break;
  }
  return text.split('\n', 1)[0] ?? '';
}
