// What `model/run-tree.ts` says, as SQL.

/** Whether the run `below` is below the one whose id the parameter is. Between `/` and the next character, so that the index over ids finds them. */
export function isBelowOneSql(parameter: string): string {
  return `(below.run_id > ${parameter}::text || '/' AND below.run_id < ${parameter}::text || '0' AND strpos(below.agent, '/') > 0)`;
}

/** Whether a row of `runs` is below a run that is kept. All but the last part of its id is the name of that one. */
export const isBelowSql = `(strpos(runs.agent, '/') > 0 AND strpos(runs.run_id, '/') > 0 AND EXISTS (SELECT 1 FROM @.runs AS above
  WHERE above.run_id = left(runs.run_id, -strpos(reverse(runs.run_id), '/')) COLLATE "C"))`;
