import { describe, expect, it } from 'vitest';
import { redact } from './redact.ts';

const key = 'Zk3vQ9xLw7Rt2YbN8mPc4HsD6fGj1KaE5uTi0oXq';
const raw = String.raw;

describe('redact() hides', () => {
  const pem = `MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n${key}\nQ7b==`;

  const cases: readonly (readonly [what: string, text: string, expected: string])[] = [
    [
      'the key that Node quotes when it holds a line break',
      'Headers.append: "Bearer sk-abc\ndef"ghi789" is an invalid header value.',
      'Headers.append: "[redacted]" is an invalid header value.',
    ],
    [
      'the same sentence inside JSON',
      raw`{"message":"Headers.append: \"abc\ndef\" is an invalid header value."}`,
      raw`{"message":"Headers.append: \"[redacted]\" is an invalid header value."}`,
    ],
    ['the same sentence cut off', 'Headers.append: "abc\ndef', 'Headers.append: "[redacted]'],
    [
      'the header value that Python quotes',
      raw`Illegal header value b'Bearer abc\n'`,
      "Illegal header value b'[redacted]'",
    ],
    [
      'the header value that Go quotes',
      'net/http: invalid header field value "abc def"',
      'net/http: invalid header field value "[redacted]"',
    ],

    ['a key after an equals sign', `OPENAI_API_KEY=sk-proj-${key}`, 'OPENAI_API_KEY=[redacted openai key]'],
    [
      'a key echoed by a provider',
      `Incorrect API key provided: sk-${key}. You can find`,
      'Incorrect API key provided: [redacted api key]. You can find',
    ],
    [
      'a key without a known shape echoed by a provider',
      `Incorrect API key provided: ${key}. You can find`,
      'Incorrect API key provided: [redacted]. You can find',
    ],
    ['a key cut off after few characters', 'sk-ant-api03-AbC', '[redacted anthropic key]'],
    [
      'a key after a written line break',
      raw`failed\nsk-ant-api03-${key}`,
      raw`failed\n[redacted anthropic key]`,
    ],
    ['a key after an encoded sign', `x%3Dghp_${key}`, 'x%3D[redacted github token]'],
    ['a key after a colour code', `\u001B[31msk-ant-api03-${key}`, '\u001B[31m[redacted anthropic key]'],
    ['a key that is only part of a longer secret', `password=sk-${key}!rest`, 'password=[redacted]'],
    ['a token cut off in its second part', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI', '[redacted json web token]'],
    [
      'an encrypted token with an empty part',
      `eyJhbGciOiJkaXIifQ..${key}.${key}.${key}`,
      '[redacted json web token]',
    ],
    [
      'a bot token in an address',
      `https://api.x.org/bot123456789:AA${key}/getMe`,
      'https://api.x.org/bot[redacted bot token]/getMe',
    ],
    [
      'a private key in base64 once more',
      `LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t${key}==`,
      '[redacted private key]',
    ],

    ['a bearer value', `Bearer ${key}`, 'Bearer [redacted]'],
    ['a bearer value in any case', 'sent bearer abcdef12', 'sent bearer [redacted]'],
    ['a bearer value in an encoded address', `Bearer%20${key}&x=1`, 'Bearer%20[redacted]&x=1'],
    ['a bearer value after a written line break', raw`a\nBearer ${key}`, raw`a\nBearer [redacted]`],
    ['a basic value of letters only', 'Basic dXNlcjpwYXNz', 'Basic [redacted]'],
    [
      'digest parameters',
      'tried Digest username="Mufasa", nonce="abc", uri="/" twice',
      'tried Digest [redacted] twice',
    ],
    [
      'an AWS signature',
      `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20240101/x, Signature=abc`,
      'AWS4-HMAC-SHA256 [redacted]',
    ],

    ['a bearer value of letters only', 'Bearer AbCdEfGhIjKlMnOpQrSt', 'Bearer [redacted]'],
    ['a short bearer value with padding', 'Bearer QUJjZA==', 'Bearer [redacted]'],
    ['a header line', 'x-api-key: swordfish', 'x-api-key: [redacted]'],
    [
      'a header line between others',
      `host: x\r\nauthorization: Custom ${key}\r\naccept: */*`,
      'host: x\r\nauthorization: [redacted]\r\naccept: */*',
    ],
    [
      'a header line in a written text',
      raw`{"log":"host: x\nAuthorization: Bearer swordfish\nok"}`,
      raw`{"log":"host: x\nAuthorization: Bearer [redacted]\nok"}`,
    ],
    [
      'a header of curl',
      `curl -H "Authorization: Custom ${key}" https://x.io`,
      'curl -H "Authorization: [redacted]" https://x.io',
    ],
    [
      'an unknown scheme in a sentence',
      `we sent Authorization: Custom ${key} today`,
      'we sent Authorization: Custom [redacted] today',
    ],
    [
      'a header of curl that is one word',
      'curl -H "x-api-key: swordfish" https://x.io',
      'curl -H "x-api-key: [redacted]" https://x.io',
    ],
    [
      'a scheme after another name',
      'sent x-auth-token: Token a1b2c3d4e5f6 today',
      'sent x-auth-token: Token [redacted] today',
    ],
    ['a cookie line', 'Cookie: a="b c"; d=e', 'Cookie: [redacted]'],
    ['a cookie of curl', `curl -H 'Cookie: a="b"; d=e' x`, "curl -H 'Cookie: [redacted]' x"],
    ['cookies in a sentence', 'sent Cookie: sid=abc; theme=dark to it', 'sent Cookie: [redacted] to it'],
    [
      'a list of cookies',
      "'set-cookie': [ 'sid=abc; Path=/', 'b=cde' ]",
      "'set-cookie': [ '[redacted]', '[redacted]' ]",
    ],
    [
      'raw headers',
      "['x-api-key', 'swordfish', 'accept', '*/*']",
      "['x-api-key', '[redacted]', 'accept', '*/*']",
    ],
    [
      'raw headers of Python',
      "[(b'authorization', b'Bearer swordfish')]",
      "[(b'authorization', b'Bearer [redacted]')]",
    ],

    ['a JSON pair', '{"apiKey":"swordfish","n":1}', '{"apiKey":"[redacted]","n":1}'],
    [
      'a JSON pair that keeps the scheme',
      '{"Authorization":"Bearer swordfish"}',
      '{"Authorization":"Bearer [redacted]"}',
    ],
    [
      'a JSON pair with escaped quotes in the value',
      raw`{"password":"a\"b","n":1}`,
      '{"password":"[redacted]","n":1}',
    ],
    [
      'a JSON pair in JSON',
      raw`"{\"apiKey\":\"sword\\\"fish\",\"n\":1}"`,
      raw`"{\"apiKey\":\"[redacted]\",\"n\":1}"`,
    ],
    ['a JSON pair cut off', '{"client_secret":"swordf', '{"client_secret":"[redacted]'],
    [
      'a JSON pair cut off at the end of its line',
      '{"apiKey":"swordf\nnext "line"',
      '{"apiKey":"[redacted]\nnext "line"',
    ],
    ['a JSON pair over two lines', '"apiKey":\n  "swordfish"', '"apiKey":\n  "[redacted]"'],
    [
      'a JSON pair in an address',
      '%7B%22apiKey%22%3A%22swordfish%22%7D',
      '%7B%22apiKey%22%3A%22[redacted]%22%7D',
    ],
    [
      'a JSON pair in HTML',
      '{&quot;apiKey&quot;:&quot;swordfish&quot;}',
      '{&quot;apiKey&quot;:&quot;[redacted]&quot;}',
    ],
    [
      'a pair after a name that has no value',
      'invalid x-api-key: "client_secret": "swordfish"',
      'invalid x-api-key: "client_secret": "[redacted]"',
    ],
    ['a value before a colon', 'password="sword": wrong', 'password="[redacted]": wrong'],
    ['a Python pair', "{'api_key': 'swordfish', 'n': 1}", "{'api_key': '[redacted]', 'n': 1}"],
    [
      'a wrapped Python value',
      "Client(api_key=SecretStr('swordfish'))",
      "Client(api_key=SecretStr('[redacted]'))",
    ],
    ['a password that is a number', '{"password": 12345678901}', '{"password": [redacted]}'],
    ['a shell variable', 'export DB_PASSWORD=swordfish', 'export DB_PASSWORD=[redacted]'],
    [
      'a setting on its own line',
      'host = x\npassword = swordfish\nport = 1',
      'host = x\npassword = [redacted]\nport = 1',
    ],
    ['a flag', `--api-key ${key} --json`, '--api-key [redacted] --json'],
    ['an element', '<password>swordfish</password>', '<password>[redacted]</password>'],
    [
      'a password in a sentence',
      'login with password: hunter2 failed',
      'login with password: [redacted] failed',
    ],
    ['a connection string', 'Server=x;Password=swordfish;User=y', 'Server=x;Password=[redacted];User=y'],
    [
      'a secret key of AWS',
      'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      'aws_secret_access_key = [redacted]',
    ],
    ['a key of Azure', 'api-key: 0123456789abcdef0123456789abcdef', 'api-key: [redacted]'],

    [
      'the password of an address',
      'postgres://ada:swordfish@db:5432/x',
      'postgres://ada:[redacted]@db:5432/x',
    ],
    ['a password without a name', 'redis://:swordfish@localhost:6379', 'redis://:[redacted]@localhost:6379'],
    ['a password with an at sign', 'https://ada:sword@fish@host.io/x', 'https://ada:[redacted]@host.io/x'],
    ['a password with a slash', 'https://ada:sword/fish@host.io/x', 'https://ada:[redacted]@host.io/x'],
    ['a token in place of the name', `https://${key}@github.com/x`, 'https://[redacted]@github.com/x'],
    [
      'a token in place of the name, with a password',
      `https://${key}:x-oauth-basic@github.com/x`,
      'https://[redacted]@github.com/x',
    ],
    ['the key of a query', `https://x.io/v1?key=${key}&alt=sse`, 'https://x.io/v1?key=[redacted]&alt=sse'],
    [
      'the signature of a query',
      'https://x.io/a?sv=1&sig=abcdefgh%2B%3D&b=2',
      'https://x.io/a?sv=1&sig=[redacted]&b=2',
    ],
    [
      'the code of a query',
      'https://x.io/cb?code=4/0AbCdEf123456xyz&state=1',
      'https://x.io/cb?code=[redacted]&state=1',
    ],
    ['the token of a query', '/cb?access_token=swordfish&b=2', '/cb?access_token=[redacted]&b=2'],
    [
      'a signed address',
      'X-Amz-Credential=ada%2Fx&X-Amz-Signature=abcdef&X-Amz-Security-Token=abcdef&X-Amz-Expires=60',
      'X-Amz-Credential=[redacted]&X-Amz-Signature=[redacted]&X-Amz-Security-Token=[redacted]&X-Amz-Expires=60',
    ],
    [
      'a query inside a query',
      'to=https%3A%2F%2Fx.io%3Faccess_token%3Dswordfish%26b%3D2',
      'to=https%3A%2F%2Fx.io%3Faccess_token%3D[redacted]%26b%3D2',
    ],

    [
      'a private key',
      `a\n-----BEGIN RSA PRIVATE KEY-----\n${pem}\n-----END RSA PRIVATE KEY-----\nb`,
      'a\n[redacted private key]\nb',
    ],
    [
      'a private key in JSON',
      raw`{"k":"-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n","n":1}`,
      raw`{"k":"[redacted private key]\n","n":1}`,
    ],
    [
      'an encrypted private key',
      `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n${pem}`,
      '[redacted private key]',
    ],
    ['a private key cut off', `-----BEGIN PRIVATE KEY-----\n${pem}`, '[redacted private key]'],
    [
      'a private key cut off, and keeps what follows',
      `-----BEGIN PRIVATE KEY-----\n${pem}\n\n(the rest was cut)`,
      '[redacted private key](the rest was cut)',
    ],
    [
      'a private key cut off, on one line',
      `-----BEGIN PRIVATE KEY----- ${key} ${key} is bad`,
      '[redacted private key] is bad',
    ],
    [
      'a private key cut off, in JSON',
      raw`{"k":"-----BEGIN PRIVATE KEY-----\n${key}\n${key}…`,
      '{"k":"[redacted private key]…',
    ],
    [
      'the tail of a private key, and keeps what follows',
      `${pem}\n-----END PRIVATE KEY-----\nnext`,
      '[redacted private key]\nnext',
    ],
    [
      'a private key without its beginning',
      `…\n${pem}\n-----END PRIVATE KEY-----`,
      '…[redacted private key]',
    ],
    [
      'two private keys of which one is cut off',
      `-----BEGIN PRIVATE KEY-----\n${key} -----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----.`,
      '[redacted private key] [redacted private key].',
    ],
  ];

  it.each(cases)('%s', (_what, text, expected) => {
    expect(redact(text)).toBe(expected);
    expect(redact(expected)).toBe(expected);
  });

  it('the words BEGIN and END of a private key, and keeps a long text between them', () => {
    const prose = 'More prose. '.repeat(4000);
    const text = `-----BEGIN PRIVATE KEY----- begins it. ${prose}-----END PRIVATE KEY----- ends it.`;
    expect(redact(text)).toBe(`[redacted private key] begins it. ${prose}[redacted private key] ends it.`);
  });
});
