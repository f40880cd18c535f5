import { hash } from 'node:crypto';

/** The SHA-256 of a text, as 64 hexadecimal digits. For what somebody might forge. */
export function hashText(text: string): string {
  return hash('sha256', text, 'hex');
}

// Below this length the way to OpenSSL costs more than the work.
const maxQuickLength = 256;

/** A short name for a text by which it is known again. Not for what somebody might forge. */
export function fingerprint(text: string): string {
  return text.length > maxQuickLength ? hash('sha256', text, 'base64url').slice(0, 22) : quickHash(text);
}

/** Two sums of 32 bits that mix every unit of the text. */
function quickHash(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  // In decimal, for which engines have a quick way.
  return `${high >>> 0}.${low >>> 0}`;
}
