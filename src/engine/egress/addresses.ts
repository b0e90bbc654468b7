import { BlockList, isIP } from 'node:net';

/**
 * IPv4 addresses that are not public. Source: the IANA special-purpose registry, with the blocks it calls globally reachable: those
 * are relays and sinks, not sites. Multicast comes from its own registry.
 */
const specialV4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private use
  '100.64.0.0/10', // shared address space; Alibaba's metadata service is 100.100.100.200
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's platform service: no registry has it
  '169.254.0.0/16', // link local; metadata services are 169.254.169.254 and its neighbours
  '172.16.0.0/12', // private use
  '192.0.0.0/24', // IETF protocol assignments; Oracle's metadata service is 192.0.0.192
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT relays
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private use
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and the broadcast address
];

/**
 * Global unicast, the only part of IPv6 that is assigned to networks. It excludes `::`, `::1`, IPv4-compatible and SIIT addresses, local NAT64
 * (64:ff9b:1::/48), discard (100::/64), SRv6 (5f00::/16), unique local (fd00:ec2::254 is a metadata service), link local, site local and multicast.
 */
const globalV6 = '2000::/3';

/** Special blocks inside global unicast. Source: the IANA special-purpose registry. */
const specialV6 = [
  '2001::/23', // IETF protocol assignments: Teredo, benchmarking, ORCHID, AS112
  '2001:db8::/32', // documentation
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
];

/** IPv6 prefixes with an embedded IPv4 address, and the byte where it starts. The IPv4 address decides. */
const embeddedV4 = [
  { prefix: '::ffff:0:0/96', byte: 12 }, // IPv4-mapped
  { prefix: '64:ff9b::/96', byte: 12 }, // NAT64
  { prefix: '2002::/16', byte: 2 }, // 6to4
].map(({ prefix, byte }) => ({ list: blockList([prefix]), byte }));

const special = blockList([...specialV4, ...specialV6]);
const globalUnicast = blockList([globalV6]);

/**
 * Whether an address, as text, is on the public internet.
 *
 * An IPv6 address with an embedded IPv4 address is as public as that one. False for text that is not an address, and for an address
 * with a zone, which names an interface of this machine.
 */
export function isPublicAddress(address: string): boolean {
  if (address.includes('%')) return false;
  const version = isIP(address);
  if (version === 4) return !special.check(address, 'ipv4');
  if (version !== 6) return false;
  const wrapping = embeddedV4.find(({ list }) => list.check(address, 'ipv6'));
  const bytes = parseBytes(address);
  if (wrapping !== undefined) return isPublicAddress(bytes.slice(wrapping.byte, wrapping.byte + 4).join('.'));
  if (!globalUnicast.check(address, 'ipv6') || special.check(address, 'ipv6')) return false;
  return !isIsatap(bytes) || isPublicAddress(bytes.slice(12).join('.'));
}

/** @param ranges  CIDRs of either family. @throws Error for an invalid range. */
export function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits = ''] = range.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** Whether an address is ISATAP: `::0:5efe:a.b.c.d` or `::200:5efe:a.b.c.d` after any prefix, which tunnels to the IPv4 address. */
function isIsatap(bytes: readonly number[]): boolean {
  const [first = 0, second, third, fourth] = bytes.slice(8);
  return (first & 0xfd) === 0 && second === 0 && third === 0x5e && fourth === 0xfe;
}

/** The 16 bytes of an IPv6 address. The URL parser normalizes every form, dotted ones too. */
function parseBytes(address: string): number[] {
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
