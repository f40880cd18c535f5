import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

// Node can read certificates but not make them, and one kept in a file would run out some day. So the few structures of
// X.509 that a self-signed certificate needs are written here by hand (DER: tag, length, content).

/** `valid` is for localhost and the loopback addresses; the others are wrong in one thing only. */
export type CertificateKind = keyof typeof certificateKinds;

/** The kinds, to look a word up in. */
export const certificateKinds = { valid: true, expired: true, 'wrong-name': true } as const;

/** A key and the certificate that it signed for itself, as PEM. */
export interface SelfSigned {
  readonly key: string;
  readonly cert: string;
}

const dayMs = 24 * 3_600_000;

/** Makes a certificate that nobody else has. Whoever should trust it is given it as `ca`. */
export function createSelfSigned(kind: CertificateKind, wallMs: number): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = kind === 'wrong-name' ? 'elsewhere.invalid' : 'localhost';
  const [fromMs, untilMs] =
    kind === 'expired' ? [wallMs - 30 * dayMs, wallMs - dayMs] : [wallMs - dayMs, wallMs + 30 * dayMs];
  const subject = sequence(set(sequence(identifier(oids.commonName), utf8(name))));
  const toSign = sequence(
    tagged(0, integer(Buffer.from([2]))), // Version 3.
    integer(Buffer.concat([Buffer.from([0x40]), randomBytes(15)])),
    signatureAlgorithm,
    subject, // Issuer and subject are the same.
    sequence(time(fromMs), time(untilMs)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(extension(oids.subjectAltName, alternativeNames(kind, name)), certificateAuthority)),
  );
  const certificate = sequence(toSign, signatureAlgorithm, bits(sign('sha256', toSign, privateKey)));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: toPem(certificate),
  };
}

const oids = {
  commonName: '550403',
  subjectAltName: '551d11',
  basicConstraints: '551d13',
  ecdsa: '2a8648ce3d040302',
};

function encode(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

function sequence(...contents: readonly Uint8Array[]): Buffer {
  return encode(0x30, ...contents);
}

function set(content: Uint8Array): Buffer {
  return encode(0x31, content);
}

function integer(bytes: Uint8Array): Buffer {
  return encode(0x02, bytes);
}

function identifier(hex: string): Buffer {
  return encode(0x06, Buffer.from(hex, 'hex'));
}

function utf8(text: string): Buffer {
  return encode(0x0c, Buffer.from(text));
}

function bits(bytes: Uint8Array): Buffer {
  return encode(0x03, Buffer.from([0]), bytes);
}

function tagged(number: number, content: Uint8Array): Buffer {
  return encode(0xa0 + number, content);
}

function extension(oid: string, content: Uint8Array): Buffer {
  return sequence(identifier(oid), encode(0x04, content));
}

/** `20260131030000Z`. */
function time(wallMs: number): Buffer {
  const digits = new Date(wallMs).toISOString().replaceAll(/[-:T]|\.\d+Z$/g, '');
  return encode(0x18, Buffer.from(`${digits}Z`));
}

function alternativeNames(kind: CertificateKind, name: string): Buffer {
  const dns = encode(0x82, Buffer.from(name));
  if (kind === 'wrong-name') return sequence(dns);
  const loopback4 = encode(0x87, Buffer.from([127, 0, 0, 1]));
  const loopback6 = encode(0x87, Buffer.from([...Array<number>(15).fill(0), 1]));
  return sequence(dns, loopback4, loopback6);
}

const signatureAlgorithm = sequence(identifier(oids.ecdsa));
/** It signs itself, so that it must be allowed to sign. */
const certificateAuthority = extension(oids.basicConstraints, sequence(encode(0x01, Buffer.from([0xff]))));

function toPem(der: Uint8Array): string {
  const lines = Buffer.from(der).toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}
