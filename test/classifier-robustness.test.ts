import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toInput } from '../scripts/corpus-score.mjs';
import type { LabelledCase } from '../scripts/corpus-score.mjs';
import { classifyProviderFailure } from '../src/errors/index.ts';
import type { ProviderFailureInput } from '../src/errors/index.ts';
import { seededRandom } from '../src/testing/seeded-random.ts';

/**
 * What gateways, logs and SDKs do to an error on its way, done to every labelled case. A case may lose its meaning on the
 * way, so these are shares, not laws; each bound is what the classifier must keep, not what it happens to reach.
 */
const cases = readFileSync('test/fixtures/provider-errors.jsonl', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as LabelledCase);

const withWords = cases.filter((labelled) => wordsOf(labelled).length > 0);

describe('a labelled case on its way through gateways', () => {
  it('is hardly ever retried in vain when a proxy makes its status 500', () => {
    const answered = withWords.filter(({ status }) => typeof status === 'number' && status >= 400);
    const pointless = answered.filter((labelled) => {
      const failure = classifyProviderFailure({ ...toInput(labelled), status: 500 });
      return failure.retryable && !labelled.label.retryable;
    });
    expect(answered.length).toBeGreaterThan(150);
    const ids = pointless.map(({ id }) => id);
    expect(tooMany(ids, (5 / 400) * answered.length)).toEqual([]);
  });

  it.each(Object.entries(layers()))('keeps its code inside three layers: %s', (_, wrap) => {
    const lost = lostCases(withWords, (labelled) => wrap(labelled));
    expect(tooMany(lost, 0.07 * withWords.length)).toEqual([]);
  });

  it('keeps its code when its text is cut at a random place of its last two fifths', () => {
    const random = seededRandom(20_261_118);
    const cuts = Array.from({ length: 8 }, () => withWords).flat();
    const lost = lostCases(cuts, (labelled) => {
      const text = wordsOf(labelled);
      const cut = text.slice(0, Math.ceil(text.length * (0.6 + 0.4 * random())));
      return labelled.body === wordsOf(labelled)
        ? { ...toInput(labelled), body: cut }
        : { ...toInput(labelled), error: new Error(cut) };
    });
    expect(tooMany(lost, 0.15 * cuts.length)).toEqual([]);
  });

  it('keeps its code behind 200 KB of a log, and before them', () => {
    const noise = 'INFO step done, nothing to see here\n'.repeat(6000);
    for (const place of [(text: string) => `${noise}${text}`, (text: string) => `${text}\n${noise}`]) {
      const lost = lostCases(withWords, (labelled) => ({ ...toInput(labelled), ...placed(labelled, place) }));
      expect(tooMany(lost, 0.1 * withWords.length)).toEqual([]);
    }
  });

  it('is the same as text and as a parsed object', () => {
    const parsed = cases.flatMap((labelled) => {
      const body = parsedBody(labelled.body);
      return body === undefined ? [] : [{ labelled, body }];
    });
    expect(parsed.length).toBeGreaterThan(100);
    for (const { labelled, body } of parsed) {
      const { code, retryable, retryAfterMs } = classifyProviderFailure({ ...toInput(labelled), body });
      const asText = classifyProviderFailure(toInput(labelled));
      expect({ id: labelled.id, code, retryable, retryAfterMs }).toEqual({
        id: labelled.id,
        code: asText.code,
        retryable: asText.retryable,
        retryAfterMs: asText.retryAfterMs,
      });
    }
  });
});

/** What went wrong, by name, where it is too much: a number alone helps no reader. */
function tooMany(lost: readonly string[], allowed: number): readonly string[] {
  return lost.length > allowed ? lost : [];
}

function wordsOf({ body, message }: LabelledCase): string {
  return body ?? message ?? '';
}

function placed(labelled: LabelledCase, place: (text: string) => string): ProviderFailureInput {
  const text = place(wordsOf(labelled));
  return typeof labelled.body === 'string' ? { body: text } : { error: new Error(text) };
}

function lostCases(
  from: readonly LabelledCase[],
  change: (labelled: LabelledCase) => ProviderFailureInput,
): readonly string[] {
  return from.flatMap((labelled) => {
    const { code } = classifyProviderFailure(change(labelled));
    return code === labelled.label.code ? [] : [`${labelled.id}: ${labelled.label.code} became ${code}`];
  });
}

function parsedBody(body: string | null | undefined): object | undefined {
  try {
    const value: unknown = JSON.parse(body ?? '');
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined; // A body that is no JSON is not parsed by anybody.
  }
}

/** Three layers each, as they were seen: a library's exception, a gateway's envelope, a log or another gateway around both. */
function layers(): Readonly<Record<string, (labelled: LabelledCase) => ProviderFailureInput>> {
  const exception = ({ status }: LabelledCase, text: string): string =>
    typeof status === 'number'
      ? `litellm.APIError: OpenAIException - Error code: ${status} - ${text}`
      : `litellm.APIError: OpenAIException - ${text}`;
  return {
    'a library, error.metadata.raw, a JSON string in JSON': (labelled) => {
      const raw = exception(labelled, wordsOf(labelled));
      const envelope = { error: { message: 'Provider returned error', code: 502, metadata: { raw } } };
      return { ...lean(labelled), status: 502, body: JSON.stringify({ detail: JSON.stringify(envelope) }) };
    },
    'a library, a Python repr, an SDK': (labelled) => {
      const inner = pythonRepr(exception(labelled, wordsOf(labelled)));
      const repr = `{'error': {'message': ${inner}, 'type': 'upstream_error', 'param': None, 'code': None}}`;
      return { ...lean(labelled), error: new Error(`openai.InternalServerError: ${repr}`) };
    },
    'JSON in JSON in JSON': (labelled) => {
      const first = JSON.stringify({ error: { message: exception(labelled, wordsOf(labelled)) } });
      const second = JSON.stringify({ message: first, type: 'api_error' });
      return { ...lean(labelled), status: 500, body: JSON.stringify({ error: second }) };
    },
  };
}

/** What is left of a case behind a gateway: the provider is known, its headers are gone. */
function lean({ provider }: LabelledCase): ProviderFailureInput {
  return { provider };
}

function pythonRepr(text: string): string {
  return `'${text
    .replaceAll('\\', '\\\\')
    .replaceAll("'", String.raw`\'`)
    .replaceAll('\n', String.raw`\n`)}'`;
}
