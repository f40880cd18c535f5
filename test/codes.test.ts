import { describe, expect, it } from 'vitest';
import {
  createFailure,
  exitCodes,
  failureCodes,
  failureTraits,
  renderFailure,
  severities,
  severityOf,
} from '../src/errors/index.ts';

// The table of codes and its texts. That each code is reached by a real run is tested in test/codes/.

describe.each(failureCodes)('the texts of %s', (code) => {
  const textsOf = (): readonly Record<'person' | 'model' | 'developer', string>[] => {
    const message = 'Cannot do it: the value was 7';
    const provider = { provider: 'anthropic', model: 'claude-sonnet-5', statusCode: 400 };
    const bare = createFailure(code, { message });
    const known = createFailure(code, {
      message,
      provider,
      context: { tool: 'search' },
      retryAfterMs: 12_000,
    });
    return [bare, known].flatMap((failure) =>
      [true, false].map((retrying) => ({
        person: renderFailure(failure, 'person', { retrying }),
        model: renderFailure(failure, 'model', { retrying }),
        developer: renderFailure(failure, 'developer', { retrying }),
      })),
    );
  };

  it('are three, and each says something of its own', () => {
    for (const { person, model, developer } of textsOf()) {
      expect(new Set([person, model, developer]).size).toBe(3);
      for (const text of [person, model, developer]) expect(text.length).toBeGreaterThan(20);
    }
  });

  it('hold no placeholder and no trace of a missing value', () => {
    for (const text of textsOf().flatMap((each) => Object.values(each))) {
      expect(text).not.toMatch(/\{\w+\}|undefined|\bNaN\b|\[object /);
    }
  });

  it('are sentences that end, begin with a capital and do not double their full stop', () => {
    for (const { person, model } of textsOf()) {
      for (const text of [person, model]) {
        expect(text).toMatch(/^[A-Z“"]/);
        expect(text).toMatch(/[.!?]$/);
        expect(text).not.toMatch(/[^.]\.\.(?!\.)|\. \.| {2}/);
      }
    }
  });

  it('spare a person the jargon', () => {
    for (const { person } of textsOf()) {
      expect(person).not.toMatch(/\bhttp\b|\bstatus \d|\bjson\b|\berrno\b|\bstack\b|\bexception\b/i);
      expect(person).not.toMatch(/[A-Z]{3,}_[A-Z]|\bE[A-Z]{4,}\b/);
      expect(person).not.toContain(code);
    }
  });

  it('name the code for a developer', () => {
    for (const { developer } of textsOf()) expect(developer).toContain(code);
  });
});

describe('the table of codes', () => {
  it.each(failureCodes)('%s has sane traits', (code) => {
    const traits = failureTraits[code];
    expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
    expect(traits.httpStatus).toBeGreaterThanOrEqual(400);
    expect(traits.httpStatus).toBeLessThanOrEqual(599);
    expect(traits.exitCode).toBeGreaterThanOrEqual(1);
    expect(traits.exitCode).toBeLessThanOrEqual(255);
    expect(Object.values(exitCodes)).toContain(traits.exitCode);
    expect(traits.origins.length).toBeGreaterThan(0);
    expect(new Set(traits.origins).size).toBe(traits.origins.length);
    // What the table says of severity holds for the failure that is not retryable.
    expect(severities).toContain(traits.severity);
    expect(traits.severity).not.toBe('retriable');
    expect(severityOf({ code, retryable: true })).toBe('retriable');
    expect(severityOf({ code, retryable: false })).toBe(traits.severity);
  });

  it('never retries what ends a run', () => {
    const fatal = failureCodes.filter((code) => failureTraits[code].severity === 'fatal');
    expect(fatal).toContain('INTERNAL');
    expect(fatal.filter((code) => failureTraits[code].retryable)).toEqual([]);
    for (const code of ['UNKNOWN', 'CANCELLED', 'QUOTA_EXCEEDED'] as const)
      expect(failureTraits[code].retryable).toBe(false);
  });

  it('gives different kinds of failures different exit codes', () => {
    expect(new Set(Object.values(exitCodes)).size).toBe(Object.keys(exitCodes).length);
  });
});
