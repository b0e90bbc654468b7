import { BlockList, isIP } from 'node:net';

/**
 * Addresses that are not the public internet: loopback, private, link-local (cloud metadata), shared, documentation, benchmark,
 * multicast, reserved. Source: IANA special-purpose registries for IPv4 and IPv6.
 */
const specialV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
const specialV6 = [
  '::/128',
  '::1/128',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];
/** IPv6 prefixes that carry an IPv4 address, and the byte where it starts: what they lead to decides. */
const embeddedV4 = [
  { prefix: '::ffff:0:0/96', byte: 12 },
  { prefix: '::/96', byte: 12 },
  { prefix: '64:ff9b::/96', byte: 12 },
  { prefix: '2002::/16', byte: 2 },
].map(({ prefix, byte }) => ({ list: blockList([prefix]), byte }));

const special = blockList([...specialV4, ...specialV6]);

/** What EGRESS_ALLOW names: hosts by name, addresses and ranges by CIDR. */
export interface EgressAllowance {
  allowsHost(hostname: string): boolean;
  allowsAddress(address: string): boolean;
}

/**
 * Reads EGRESS_ALLOW.
 *
 * @param text  hosts, addresses or CIDRs, separated by commas; undefined allows nothing private.
 * @throws Error naming the entry that is neither.
 */
export function parseAllowance(text: string | undefined): EgressAllowance {
  const entries = (text ?? '')
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '');
  const isRange = (entry: string) => isIP(entry.split('/')[0] ?? '') !== 0;
  const ranges = blockList(
    entries.filter(isRange).map((entry) => (entry.includes('/') ? entry : `${entry}/${isIP(entry) === 4 ? 32 : 128}`)),
  );
  const hosts = new Set(entries.filter((entry) => !isRange(entry)));
  const bad = [...hosts].find((host) => !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(host));
  if (bad !== undefined) throw new Error(`EGRESS_ALLOW: "${bad}" is neither a host name nor an address nor a CIDR`);
  return { allowsHost: (hostname) => hosts.has(hostname.toLowerCase()), allowsAddress: (address) => contains(ranges, address) };
}

/** True for an address of the public internet, also when it is wrapped in an IPv6 one. */
export function isPublicAddress(address: string): boolean {
  const bare = address.split('%')[0] ?? '';
  if (isIP(bare) === 0) return false;
  if (isIP(bare) === 6) {
    if (contains(special, bare)) return false;
    const wrapping = embeddedV4.find(({ list }) => contains(list, bare));
    if (wrapping !== undefined) return isPublicAddress(v4Inside(bare, wrapping.byte));
  }
  return !contains(special, bare);
}

function contains(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits = ''] = range.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

function v4Inside(address: string, byte: number): string {
  const bytes = bytesOf(address).slice(byte, byte + 4);
  return bytes.join('.');
}

/** The 16 bytes of an IPv6 address. The URL parser writes every form, also dotted ones, in one way. */
function bytesOf(address: string): number[] {
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
