import { faultError } from './transport-fault.ts';

/** What to do with an answer that may be a redirect. */
export type RedirectDecision =
  | { readonly type: 'none' }
  | { readonly type: 'follow'; readonly url: string }
  | { readonly type: 'refuse'; readonly error: Error };

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  /** The address that was asked. */
  readonly url: string;
  /** How many redirects were followed before. */
  readonly followed: number;
}

const maxRedirects = 3;
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * A redirect is followed within one origin and only where it keeps the POST: credentials never travel to somebody else,
 * and a request never turns into another one.
 */
export function decideRedirect({ status, location, url, followed }: Answer): RedirectDecision {
  if (!redirectStatuses.has(status)) return { type: 'none' };
  const from = new URL(url);
  const to = location !== undefined && URL.canParse(location, url) ? new URL(location, url) : undefined;
  const refuse = (reason: string, hint: string): RedirectDecision => ({
    type: 'refuse',
    error: faultError({
      code: 'INVALID_RESPONSE',
      message: `${from.origin} answered with a redirect (status ${status}) ${reason}`,
      retryable: false,
      phase: 'headers',
      status,
      hint,
      context: to === undefined ? {} : { redirectOrigin: to.origin },
    }),
  });
  if (to === undefined) {
    return refuse(
      'that names no address',
      'Check the base URL, and what stands between you and the provider.',
    );
  }
  if (to.origin !== from.origin) {
    return refuse(
      `to another origin, ${to.origin}. It was not followed: your key would have gone there`,
      `If ${to.origin} is the provider's new address, make it the base URL. If not, a proxy or a login page answered.`,
    );
  }
  if (status !== 307 && status !== 308) {
    return refuse(
      `to ${to.origin}${to.pathname}, which does not keep a POST`,
      `Correct the base URL: the server wants ${to.origin}${to.pathname}. A missing or extra slash or version is usual.`,
    );
  }
  if (followed >= maxRedirects) {
    return refuse(`after ${maxRedirects} others`, 'The server redirects in a circle: check the base URL.');
  }
  return { type: 'follow', url: to.href };
}
