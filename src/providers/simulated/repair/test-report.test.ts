import { describe, expect, it } from 'vitest';
import { readTestReport } from './test-report.ts';

const tap = `TAP version 13
# Subtest: adds
not ok 1 - adds
  ---
  duration_ms: 3.4
  location: '/w/test/a.test.js:4:1'
  failureType: 'testCodeFailure'
  error: |-
    Expected values to be strictly equal:
    
    -1 !== 3
    
  code: 'ERR_ASSERTION'
  name: 'AssertionError'
  expected: 3
  actual: -1
  stack: |-
    TestContext.<anonymous> (file:///w/test/a.test.js:4:29)
    Test.run (node:internal/test_runner/test:796:25)
  ...
# Subtest: group
not ok 2 - group
  ---
  failureType: 'subtestsFailed'
  error: '1 subtest failed'
  ...
# Subtest: passes
ok 3 - passes
  ---
  duration_ms: 0.2
  ...
1..3
# tests 3
# pass 1
# fail 2
`;

const spec = `✖ reads (1.2ms)
✔ passes (0.2ms)
ℹ tests 2
ℹ pass 1
ℹ fail 1

✖ failing tests:

test at test/a.test.js:7:1
✖ reads (1.2ms)
  TypeError: Cannot read properties of undefined (reading 'b')
      at read (file:///w/src/a.js:3:37)
      at TestContext.<anonymous> (file:///w/test/a.test.js:7:21)
      at Test.run (node:internal/test_runner/test:1402:25)
`;

const deep = `not ok 1 - deep
  ---
  error: |-
    Expected values to be strictly deep-equal:
    + actual - expected
    
      [
    +   0
    -   2
      ]
  code: 'ERR_ASSERTION'
  ...
`;

describe('readTestReport()', () => {
  it('reads TAP, and leaves out groups that only hold a failing test', () => {
    const report = readTestReport(tap);
    expect(report).toMatchObject({ type: 'failed', failedCount: 2, passedCount: 1, passing: ['passes'] });
    expect(report.failing).toEqual([
      {
        name: 'adds',
        message: 'AssertionError: Expected values to be strictly equal:',
        actual: '-1',
        expected: '3',
        frames: [
          { name: undefined, file: '/w/test/a.test.js', line: 4 },
          { name: '<anonymous>', file: '/w/test/a.test.js', line: 4 },
        ],
      },
    ]);
  });

  it('reads the listing of newer Nodes, which tells the reason further down', () => {
    expect(readTestReport(spec).failing).toEqual([
      {
        name: 'reads',
        message: "TypeError: Cannot read properties of undefined (reading 'b')",
        actual: undefined,
        expected: undefined,
        frames: [
          { name: 'read', file: '/w/src/a.js', line: 3 },
          { name: '<anonymous>', file: '/w/test/a.test.js', line: 7 },
        ],
      },
    ]);
  });

  it('reads what differs inside of a list', () => {
    expect(readTestReport(deep).failing).toMatchObject([{ actual: '0', expected: '2' }]);
  });

  it.each([
    { output: 'sh: 1: npm: not found', exitCode: 127, type: 'not-run' },
    { output: 'npm error Missing script: "test"', exitCode: 1, type: 'not-run' },
    { output: '# tests 0\n# pass 0\n# fail 0', exitCode: 0, type: 'not-run' },
    { output: 'Segmentation fault', exitCode: 139, type: 'failed' },
    { output: '', exitCode: undefined, type: 'not-run' },
    { output: 'all is well', exitCode: 0, type: 'passed' },
    { output: 'ok 1 - adds\n# tests 1\n# pass 1\n# fail 0', exitCode: undefined, type: 'passed' },
    { output: 'Tests  2 failed | 3 passed (5)', exitCode: 1, type: 'failed' },
  ])('takes "$output" with exit code $exitCode for $type', ({ output, exitCode, type }) => {
    expect(readTestReport(output, exitCode).type).toBe(type);
  });
});
