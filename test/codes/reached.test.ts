import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { failureCodes, failureTraits, renderFailure, RerailError } from '../../src/errors/index.ts';
import type { FailureCode } from '../../src/errors/index.ts';
import { installRestate } from '../engines/restate/install.ts';
import { agentRows } from './agent-rows.ts';
import { durableRows } from './durable-rows.ts';
import { flowRows } from './flow-rows.ts';
import { modelRows } from './model-rows.ts';
import { reach } from './row.ts';
import type { Row } from './row.ts';
import { storageRows } from './storage-rows.ts';
import { toolRows } from './tool-rows.ts';

// The first law: nothing counts until it is reached through the public API, over sockets, files and processes.

/** One real run for each code. The compiler asks for a row as soon as a code is added; the first test finds one too many. */
const rows = {
  ...modelRows,
  ...toolRows,
  ...agentRows,
  ...flowRows,
  ...storageRows,
  ...durableRows,
} as const satisfies Readonly<Record<FailureCode, Row>>;

// The first time it is fetched.
beforeAll(() => void installRestate(), 300_000);

describe('every code is reached by a real run', () => {
  it('has a row for each code, and no row for another', () => {
    expect(Object.keys(rows).toSorted()).toEqual([...failureCodes].toSorted());
  });

  it.each(Object.entries<Row>(rows))('%s', async (code, row) => {
    const failure = await reach(row);
    expect(failure).toMatchObject({ code, origin: row.origin });
    const { origins } = failureTraits[failure.code];
    expect(origins).toContain(failure.origin);
    const texts = (['person', 'model', 'developer'] as const).map((reader) => renderFailure(failure, reader));
    for (const text of texts) expect(text.trim().length).toBeGreaterThan(20);
    // It can also be thrown, sent and read.
    const revived = RerailError.fromJSON(JSON.parse(JSON.stringify(RerailError.from(failure))));
    expect(revived.failure).toEqual(failure);
  });
});

describe('a row', () => {
  const files = readdirSync('test/codes').filter((file) => file.endsWith('-rows.ts'));

  it.each(files)('of %s goes through public entries, and makes no failure itself', (file) => {
    const text = readFileSync(`test/codes/${file}`, 'utf8');
    const imported = [...text.matchAll(/from '(\.\.\/\.\.\/src\/[^']+)'/g)].map(([, source = '']) => source);
    // The driver only spoils a file: SQLite as this machine has it.
    const inner = imported.filter((source) => !/\/index\.ts$|\/sqlite\/driver\.ts$/.test(source));
    expect(imported.length).toBeGreaterThan(0);
    expect(inner).toEqual([]);
    expect(text).not.toMatch(/\bclassify\w*|\bcreateFailure\b|\bRerailError\b|\bscriptedModel\b/);
  });
});
