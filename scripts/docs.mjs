// Writes what is made from the tables, or with --check says which of it is out of date. Needs a build.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { errorsPage } from './errors-page.mjs';
import { failureSchema } from './failure-schema.mjs';

const pages = [
  { path: 'docs/errors.md', text: errorsPage() },
  { path: 'src/errors/failure.schema.json', text: JSON.stringify(failureSchema()) },
];

const isCheck = process.argv.includes('--check');
const outdated = [];
for (const { path, text } of pages) {
  const wanted = await format(text, { ...(await resolveConfig(path)), filepath: path });
  const present = existsSync(path) ? await readFile(path, 'utf8') : undefined;
  if (present === wanted) continue;
  outdated.push(path);
  if (!isCheck) await writeFile(path, wanted);
}

if (isCheck && outdated.length > 0) {
  console.error(`Out of date: ${outdated.join(', ')}. Run: npm run docs`);
  process.exitCode = 1;
} else if (outdated.length > 0) {
  console.log(`Wrote ${outdated.join(', ')}`);
}
