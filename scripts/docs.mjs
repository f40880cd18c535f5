// Writes what is made from the tables, or with --check says which of it is out of date. Needs a build.
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { cliPages } from './cli-pages.mjs';
import { errorsPage } from './errors-page.mjs';
import { failureSchema } from './failure-schema.mjs';

const pages = [
  { path: 'docs/errors.md', text: errorsPage() },
  { path: 'src/errors/failure.schema.json', text: JSON.stringify(failureSchema()) },
  ...cliPages(),
];

const isCheck = process.argv.includes('--check');
const outdated = [];
for (const { path: file, text } of pages) {
  const wanted = await format(text, { ...(await resolveConfig(file)), filepath: file });
  const present = existsSync(file) ? await readFile(file, 'utf8') : undefined;
  if (present === wanted) continue;
  outdated.push(file);
  if (isCheck) continue;
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, wanted);
}
// A command that is gone takes its page with it.
for (const name of existsSync('docs/cli') ? await readdir('docs/cli') : []) {
  const file = path.posix.join('docs/cli', name);
  if (pages.some((page) => page.path === file)) continue;
  outdated.push(file);
  if (!isCheck) await rm(file);
}

if (isCheck && outdated.length > 0) {
  console.error(`Out of date: ${outdated.join(', ')}. Run: npm run docs`);
  process.exitCode = 1;
} else if (outdated.length > 0) {
  console.log(`Wrote ${outdated.join(', ')}`);
}
