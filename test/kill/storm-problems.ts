import { callOf, plannedId } from './ledger.ts';
import type { LedgerLine } from './ledger.ts';
import type { Said } from './life.ts';
import type { Storm } from './storm.ts';

/** What was lost, what was doubled and what else went wrong, in words. Empty where all is well. */
export function findProblems({ said, ledger }: Storm): readonly string[] {
  return [
    ...said.filter(({ kind }) => kind === 'trouble').map((trouble) => `trouble: ${JSON.stringify(trouble)}`),
    ...findLost(said),
    ...findAskedAgain(said),
    ...findDoubled(ledger),
    ...findUndone(ledger, said),
  ];
}

/** What was acknowledged is found again, and is the same. */
function findLost(said: readonly Said[]): readonly string[] {
  const finals = new Map(said.filter(({ kind }) => kind === 'final').map((one) => [one['runId'], one]));
  const checked = said.find(({ kind }) => kind === 'checked');
  const problems: string[] = [];
  for (const { kind, runId, digest } of said as readonly Record<string, string>[]) {
    if (kind !== 'started' && kind !== 'outcome') continue;
    const found = finals.get(runId);
    if (found === undefined) problems.push(`lost: run ${runId} (${kind})`);
    else if (kind === 'outcome' && found['digest'] !== digest)
      problems.push(`lost: the outcome of run ${runId} is another one now`);
  }
  for (const { runId, type, status } of finals.values()) {
    if (type !== 'completed' || status !== 'completed')
      problems.push(`run ${String(runId)} is ${String(status)}`);
  }
  if (checked === undefined) return [...problems, 'nobody has checked the store'];
  const found = checked['problems'] as readonly unknown[];
  return [...problems, ...found.map((problem) => `the store says: ${JSON.stringify(problem)}`)];
}

/** Nobody is asked again what he is known to have answered. */
function findAskedAgain(said: readonly Said[]): readonly string[] {
  const answered = new Set<string>();
  const problems: string[] = [];
  for (const { kind, runId, id } of said) {
    const question = `${String(runId)} ${String(id)}`;
    if (kind === 'answered') answered.add(question);
    if (kind === 'question' && answered.has(question)) problems.push(`asked again: ${question}`);
  }
  return problems;
}

/** No effect twice, and no step again whose result somebody has seen. */
function findDoubled(ledger: readonly LedgerLine[]): readonly string[] {
  const problems: string[] = [];
  const seen = new Map<string, string>();
  const done = new Map<string, string>();
  const keys = new Map<string, string>();
  const latestStep = new Map<string, number>();
  for (const line of ledger) {
    const { runId } = line;
    if (line.kind === 'asked') {
      if (line.step <= (latestStep.get(runId) ?? -1))
        problems.push(`model step again: ${runId}/${line.step}`);
      for (const [callId, result] of Object.entries(line.results)) {
        const call = callOf({ runId, callId });
        if ((seen.get(call) ?? result) !== result) problems.push(`another result: ${call}`);
        seen.set(call, result);
      }
      continue;
    }
    const call = callOf(line);
    latestStep.set(runId, Math.max(latestStep.get(runId) ?? -1, Number.parseInt(line.callId, 10)));
    if (seen.has(call)) problems.push(`finished step again: ${line.tool} ${call}`);
    if ((keys.get(line.key) ?? call) !== call) problems.push(`one key for two calls: ${call}`);
    keys.set(line.key, call);
    if ((done.get(call) ?? line.key) !== line.key) problems.push(`two keys for one call: ${call}`);
    if (line.kind === 'effect' && done.has(call) && line.tool !== 'look')
      problems.push(`doubled: ${line.tool} ${call}`);
    done.set(call, line.key);
  }
  return problems;
}

/** Every call of a completed run has happened, but those that were not allowed: they have not. */
function findUndone(ledger: readonly LedgerLine[], said: readonly Said[]): readonly string[] {
  const happened = new Set<string>();
  const results = new Map<string, Readonly<Record<string, string>>>();
  for (const line of ledger) {
    if (line.kind === 'effect') happened.add(callOf(line));
    if (line.kind === 'asked') results.set(line.runId, line.results);
  }
  const finals = said.filter(({ kind }) => kind === 'final').map(({ runId }) => String(runId));
  return finals.flatMap((runId) => {
    const shown = results.get(runId) ?? {};
    const planned = Object.entries(planOf(runId, ledger));
    return planned.flatMap(([callId, tool]) => {
      const call = callOf({ runId, callId });
      if (shown[callId] === undefined) return [`undone: ${tool} ${call} has no result`];
      if (happened.has(call) === (tool !== 'burn')) return [];
      return [`undone: ${tool} ${call} has the result ${shown[callId]}`];
    });
  });
}

/** The tools of a run by their calls. */
function planOf(runId: string, ledger: readonly LedgerLine[]): Readonly<Record<string, string>> {
  const first = ledger.find((line) => line.kind === 'asked' && line.runId === runId);
  const plan = first?.kind === 'asked' ? first.plan : [];
  return Object.fromEntries(
    plan.flatMap((names, step) => names.map((name, index) => [plannedId(runId, step, index), name])),
  );
}
