// What `model/run-tree.ts` says, as SQL.

/** Ids of the runs below the one that is given. Between `/` and the next character, so that the index over ids finds them. */
export const belowSql = `SELECT below.run_id FROM runs AS below, (SELECT ? AS id) AS above
  WHERE below.run_id > above.id || '/' AND below.run_id < above.id || '0' AND instr(below.agent, '/') > 0`;

/** Whether a row of `runs` is below a run that is kept. All but the last part of its id is the name of that one. */
export const isBelowSql = `(instr(runs.agent, '/') > 0 AND EXISTS (SELECT 1 FROM runs AS above
  WHERE above.run_id = rtrim(rtrim(runs.run_id, replace(runs.run_id, '/', '')), '/')))`;
