import { describe, expect, it } from 'vitest';
import { isSameAddress, kindOfAddress } from './fetch-address.ts';

describe('kindOfAddress()', () => {
  it.each([
    { kind: 'loopback', addresses: ['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1'] },
    { kind: 'unspecified', addresses: ['0.0.0.0', '0.1.2.3', '::'] },
    { kind: 'private', addresses: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fec0::1'] },
    { kind: 'link-local', addresses: ['169.254.0.1', 'fe80::1', 'febf::1'] },
    { kind: 'unique-local', addresses: ['fc00::1', 'fd12:3456::1'] },
    { kind: 'carrier-grade', addresses: ['100.64.0.1', '100.127.255.255'] },
    { kind: 'multicast', addresses: ['224.0.0.1', '239.255.255.255', 'ff02::1'] },
    { kind: 'broadcast', addresses: ['255.255.255.255'] },
    {
      kind: 'documentation',
      addresses: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
    },
    { kind: 'benchmarking', addresses: ['198.18.0.1', '198.19.255.255', '2001:2::1'] },
    { kind: 'reserved', addresses: ['192.0.0.1', '240.0.0.1', '100::1', '2001:20::1', '5f00::1'] },
    { kind: 'nat64', addresses: ['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1'] },
    { kind: '6to4', addresses: ['2002:7f00:1::', '2002:0808:0808::1', '192.88.99.1'] },
    { kind: 'teredo', addresses: ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'] },
    {
      kind: 'ipv4-mapped',
      addresses: ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '::ffff:0:127.0.0.1'],
    },
    { kind: 'ipv4-compatible', addresses: ['::127.0.0.1', '::8.8.8.8', '::2'] },
    {
      kind: 'metadata',
      addresses: [
        '169.254.169.254',
        '100.100.100.200',
        '192.0.0.192',
        '168.63.129.16',
        'fd00:ec2::254',
        'fd20:ce::254',
      ],
    },
    {
      kind: 'not-global',
      addresses: ['4000::1', '1::1', 'fe80::1%lo', '2606:4700::1%eth0', 'localhost', '', '1.2.3'],
    },
  ])('knows $kind addresses', ({ kind, addresses }) => {
    expect(addresses.map((address) => kindOfAddress(address))).toEqual(addresses.map(() => kind));
  });

  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '198.17.255.255',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2001:4860:4860::8888',
    '2a00:1450::1',
  ])('lets %s through', (address) => {
    expect(kindOfAddress(address)).toBeUndefined();
  });
});

describe('isSameAddress()', () => {
  it.each([
    { one: '::1', other: '0:0:0:0:0:0:0:1', same: true },
    { one: '2001:DB8::1', other: '2001:db8:0::1', same: true },
    { one: '127.0.0.1', other: '127.0.0.2', same: false },
    { one: '127.0.0.1', other: '::ffff:127.0.0.1', same: false },
    { one: '127.0.0.1', other: '', same: false },
  ])('says $same of $one and $other', ({ one, other, same }) => {
    expect(isSameAddress(one, other)).toBe(same);
  });
});
