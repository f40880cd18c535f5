// Scores a classifier against labelled provider errors. Pure, so that a test can plant a wrong answer.

/**
 * @typedef {object} Label
 * @property {string} code
 * @property {boolean} retryable
 * @property {number | null} retryAfterMs
 *
 * @typedef {object} LabelledCase
 * @property {string} id
 * @property {string} provider
 * @property {number | null} [status]
 * @property {Record<string, string> | null} [headers]
 * @property {string | null} [body]
 * @property {string | null} [errno]
 * @property {string | null} [message]
 * @property {Label} label
 *
 * @typedef {object} Answer
 * @property {string} code
 * @property {boolean} retryable
 * @property {number} [retryAfterMs]
 *
 * @typedef {object} Miss
 * @property {string} id
 * @property {string} wanted
 * @property {string} got
 * @property {LabelledCase} case
 *
 * @typedef {object} Score
 * @property {number} cases
 * @property {number} codes Share of codes that are right, in percent.
 * @property {number} retries Share of retry decisions that are right.
 * @property {number} delays Share of delays that are right, none included, within a second.
 * @property {number} statedDelays Share of the delays that a payload states.
 * @property {readonly Miss[]} misses
 */

const delayToleranceMs = 1000;

/**
 * @param {readonly LabelledCase[]} cases
 * @param {(input: object) => Answer} classify
 * @returns {Score}
 */
export function scoreCases(cases, classify) {
  const results = cases.map((labelled) => compare(labelled, classify(toInput(labelled))));
  const stated = results.filter(({ labelled }) => labelled.label.retryAfterMs !== null);
  return {
    cases: cases.length,
    codes: share(results, (result) => result.code),
    retries: share(results, (result) => result.retry),
    delays: share(results, (result) => result.delay),
    statedDelays: share(stated, (result) => result.delay),
    misses: results.filter((result) => !(result.code && result.retry && result.delay)).map(toMiss),
  };
}

/**
 * What the runtime would hand to the classifier. No field of the label gets in.
 *
 * @param {LabelledCase} labelled
 */
export function toInput({ provider, status, headers, body, errno, message }) {
  const hasError = typeof message === 'string' || typeof errno === 'string';
  return {
    provider,
    ...(typeof status === 'number' ? { status } : {}),
    ...(headers ? { headers } : {}),
    ...(typeof body === 'string' ? { body } : {}),
    ...(hasError ? { error: toError(message ?? '', errno) } : {}),
  };
}

/**
 * An error whose cause stands behind `; cause: `. The errno belongs to the cause, or to the error where there is none.
 *
 * @param {string} message
 * @param {string | null | undefined} errno
 */
function toError(message, errno) {
  const [outer = '', ...rest] = message.split('; cause: ');
  const code = errno ? { code: errno } : {};
  if (rest.length === 0) return Object.assign(new Error(outer), code);
  return new Error(outer, { cause: Object.assign(new Error(rest.join('; cause: ')), code) });
}

/**
 * @param {LabelledCase} labelled
 * @param {Answer} answer
 */
function compare(labelled, answer) {
  const { label } = labelled;
  const got = answer.retryAfterMs ?? null;
  const delay =
    label.retryAfterMs === null || got === null
      ? label.retryAfterMs === got
      : Math.abs(got - label.retryAfterMs) <= delayToleranceMs;
  return {
    labelled,
    answer,
    code: answer.code === label.code,
    retry: answer.retryable === label.retryable,
    delay,
  };
}

/** @param {ReturnType<typeof compare>} result */
function toMiss({ labelled, answer }) {
  return {
    id: labelled.id,
    wanted: describe(labelled.label),
    got: describe({ ...answer, retryAfterMs: answer.retryAfterMs ?? null }),
    case: labelled,
  };
}

/** @param {Label} label */
function describe({ code, retryable, retryAfterMs }) {
  return `${code} ${retryable ? 'retry' : 'no-retry'} ${retryAfterMs === null ? 'no-delay' : `${retryAfterMs}ms`}`;
}

/**
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => boolean} test
 */
function share(items, test) {
  return items.length === 0 ? 100 : (100 * items.filter(test).length) / items.length;
}
