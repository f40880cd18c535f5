import { describe, expect, it } from 'vitest';
import { severities } from '../../errors/codes.ts';
import { createFailure, severityOf } from '../../errors/failure.ts';
import { routes } from './plan-router.ts';

describe('routes', () => {
  it('has one for each severity', () => {
    expect(Object.keys(routes).toSorted()).toEqual([...severities].toSorted());
  });
});

describe('the severity of a step', () => {
  it.each([
    { context: { severity: 'fatal' }, code: 'TIMEOUT', severity: 'fatal' },
    { context: { severity: 'dreadful' }, code: 'TIMEOUT', severity: 'retriable' },
    { context: {}, code: 'TOOL_EXECUTION_ERROR', severity: 'replanning' },
    { context: {}, code: 'TOOL_NOT_FOUND', severity: 'reclassification' },
    { context: {}, code: 'UNKNOWN', severity: 'critical' },
  ] as const)('is $severity for $code with $context', ({ context, code, severity }) => {
    expect(severityOf(createFailure(code, { message: 'x', context }))).toBe(severity);
  });
});
