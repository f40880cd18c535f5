import { BlockList, isIP, SocketAddress } from 'node:net';

/** What an address is, where it does not belong to the public internet. */
export type AddressKind = (typeof ranges)[number]['kind'] | 'not-global';

// Every block that the registries of special addresses know, and what clouds answer their own machines from. The order decides
// the word: the narrower block stands first.
const ranges = [
  {
    kind: 'metadata',
    ipv4: ['169.254.169.254/32', '100.100.100.200/32', '192.0.0.192/32', '168.63.129.16/32'],
    ipv6: ['fd00:ec2::254/128', 'fd20:ce::254/128'],
  },
  { kind: 'unspecified', ipv4: ['0.0.0.0/8'], ipv6: ['::/128'] },
  { kind: 'loopback', ipv4: ['127.0.0.0/8'], ipv6: ['::1/128'] },
  { kind: 'private', ipv4: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'], ipv6: ['fec0::/10'] },
  { kind: 'link-local', ipv4: ['169.254.0.0/16'], ipv6: ['fe80::/10'] },
  { kind: 'carrier-grade', ipv4: ['100.64.0.0/10'], ipv6: [] },
  { kind: 'unique-local', ipv4: [], ipv6: ['fc00::/7'] },
  { kind: 'broadcast', ipv4: ['255.255.255.255/32'], ipv6: [] },
  { kind: 'multicast', ipv4: ['224.0.0.0/4'], ipv6: ['ff00::/8'] },
  {
    kind: 'documentation',
    ipv4: ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'],
    ipv6: ['2001:db8::/32', '3fff::/20'],
  },
  { kind: 'benchmarking', ipv4: ['198.18.0.0/15'], ipv6: ['2001:2::/48'] },
  { kind: 'reserved', ipv4: ['192.0.0.0/24', '240.0.0.0/4'], ipv6: ['100::/64', '5f00::/16'] },
  // An IPv4 address stands inside each of these, and a gateway on the way would go there.
  { kind: 'nat64', ipv4: [], ipv6: ['64:ff9b::/96', '64:ff9b:1::/48'] },
  { kind: '6to4', ipv4: ['192.88.99.0/24'], ipv6: ['2002::/16'] },
  { kind: 'teredo', ipv4: [], ipv6: ['2001::/32'] },
  { kind: 'ipv4-mapped', ipv4: [], ipv6: ['::ffff:0:0/96', '::ffff:0:0:0/96'] },
  { kind: 'ipv4-compatible', ipv4: [], ipv6: ['::/96'] },
  { kind: 'reserved', ipv4: [], ipv6: ['2001::/23'] },
] as const;

/** What somebody may allow by the name of a host. The rest is nobody's web server: it must be named by its address. */
const allowableByName: readonly AddressKind[] = [
  'loopback',
  'private',
  'carrier-grade',
  'unique-local',
  'link-local',
];

/** What an address is instead of public; nothing where it is public. Whatever is no address at all is not. */
export function kindOfAddress(address: string): AddressKind | undefined {
  const family = familyOf(address);
  // A zone means that it is of this link alone, and no other program must be trusted to have cut it off the same way.
  if (family === undefined || address.includes('%')) return 'not-global';
  const found = blocks.find(({ [family]: list }) => list.check(address, family));
  if (found !== undefined) return found.kind;
  return family === 'ipv6' && !globalUnicast.check(address, 'ipv6') ? 'not-global' : undefined;
}

/** Whether an address of this kind may be reached because its host is on the list of whoever made the tool. */
export function isAllowableByName(kind: AddressKind): boolean {
  return allowableByName.includes(kind);
}

/** Whether two spellings are one address. */
export function isSameAddress(one: string, other: string): boolean {
  return canonical(one) === canonical(other);
}

type Family = 'ipv4' | 'ipv6';

function familyOf(address: string): Family | undefined {
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 4 ? 'ipv4' : 'ipv6';
}

const blocks = ranges.map(({ kind, ipv4, ipv6 }) => ({
  kind,
  ipv4: listOf(ipv4, 'ipv4'),
  ipv6: listOf(ipv6, 'ipv6'),
}));
const globalUnicast = listOf(['2000::/3'], 'ipv6');

/** One list for each family: a list of both takes `::ffff:7f00:1` for IPv4, and we want it refused for what it is. */
function listOf(subnets: readonly string[], family: Family): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = '', prefix] = subnet.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}

function canonical(address: string): string {
  const family = familyOf(address);
  return family === undefined ? address : new SocketAddress({ address, family }).address;
}
