import { writeFileSync } from 'node:fs';
import { it } from 'vitest';
import { bundleProgram } from './program.ts';
import { findProblems } from './storm-problems.ts';
import { playStorm } from './storm.ts';
it('x', async () => {
  const p = await bundleProgram('test/kill/storm-program.ts');
  const storm = await playStorm(p.file, { seed: Number(process.env['RERAIL_SEED'] ?? 4), kills: Number(process.env['RERAIL_KILLS'] ?? 12) });
  writeFileSync('/tmp/k/storm.json', JSON.stringify({ ...storm, problems: findProblems(storm) }));
  await p.remove();
}, 300000);
