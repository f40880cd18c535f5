import { generateKeyPairSync, sign } from 'node:crypto';

/** A key and a certificate that it has signed itself. */
export interface TestCertificate {
  readonly key: string;
  readonly cert: string;
}

interface CertificateOptions {
  /** The DNS names it is for. */
  readonly names: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** Node cannot make certificates, so the few bytes of one are put together here: no key pair lies in the repository. */
export function createCertificate({ names, notBefore, notAfter }: CertificateOptions): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const name = sequence(set(sequence(objectId('550403'), der(0x0c, Buffer.from(names[0] ?? 'test')))));
  const altNames = sequence(...names.map((dnsName) => der(0x82, Buffer.from(dnsName))));
  const extensions = [
    sequence(objectId('551d11'), der(0x04, altNames)),
    sequence(objectId('551d13'), der(0x01, Buffer.of(0xff)), der(0x04, sequence(der(0x01, Buffer.of(0xff))))),
  ];
  const body = sequence(
    der(0xa0, integer(2)),
    integer(Math.floor(Math.random() * 2 ** 30) + 1),
    ecdsaWithSha256,
    name,
    sequence(time(notBefore), time(notAfter)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', body, privateKey);
  const certificate = sequence(body, ecdsaWithSha256, der(0x03, Buffer.concat([Buffer.of(0), signature])));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  if (length < 0x100) return Buffer.concat([Buffer.of(tag, 0x81, length), content]);
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts));
const set = (...parts: readonly Buffer[]): Buffer => der(0x31, Buffer.concat(parts));
const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'));

function integer(value: number): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return der(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes);
}

function time(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)}Z`));
}
