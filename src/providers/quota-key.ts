import { createHash } from 'node:crypto';

/** What shares limits and outages: the provider, where it is asked, and a fingerprint of the key; never the key itself. */
export function quotaKeyOf({
  provider,
  baseURL,
  secret,
}: {
  readonly provider: string;
  readonly baseURL: string;
  readonly secret: string | undefined;
}): string {
  const mark = secret === undefined ? 'no-key' : fingerprint(secret);
  return `${provider} ${new URL(baseURL).origin} ${mark}`;
}

const fingerprintCharacters = 12;

/** Twelve hex digits of the secret's SHA-256: enough to tell keys apart, useless for getting one back. */
export function fingerprint(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, fingerprintCharacters);
}
