import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../../src/engine/egress/addresses.ts';
import { parseAllowance } from '../../../src/engine/egress/allowance.ts';
import { parseDnsServers } from '../../../src/engine/egress/dns-servers.ts';

/** The IANA special-purpose and multicast registries for IPv4, and further addresses that clouds use. */
const specialV4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '168.63.129.16/32', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16'],
  ...['192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
];
/** The same for IPv6, with blocks that were special earlier, or are special on some systems. */
const specialV6 = [
  ...[
    '::/128',
    '::1/128',
    '::/96',
    '::ffff:0:0:0/96',
    '64:ff9b:1::/48',
    '100::/64',
    '100:0:0:1::/64',
    '2001::/32',
    '2001:1::1/128',
  ],
  ...['2001:2::/48', '2001:3::/32', '2001:4:112::/48', '2001:10::/28', '2001:20::/28', '2001:30::/28', '2001::/23'],
  ...['2001:db8::/32', '2620:4f:8000::/48', '3fff::/20', '5f00::/16', 'fc00::/7', 'fd00:ec2::254/128', 'fd20:ce::254/128'],
  ...['fe80::/10', 'fec0::/10', 'ff00::/8', '4000::/3', 'e000::/4', '::a9fe:a9fe/128'],
];
const metadata = ['169.254.169.254', '169.254.170.2', '100.100.100.200', '168.63.129.16', '192.0.0.192', '169.254.0.23'];
const publicV4 = [
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '93.184.216.34', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
  ...['128.0.0.0', '168.63.129.15', '168.63.129.17', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0'],
  ...['191.255.255.255', '192.0.1.0', '192.0.3.0', '192.88.98.255', '192.88.100.0', '192.167.255.255', '192.169.0.0'],
  ...['198.17.255.255', '198.20.0.0', '198.51.99.255', '198.51.101.0', '203.0.112.255', '203.0.114.0', '223.255.255.255'],
];
const publicV6 = [
  '2000::1',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2001:db7:ffff::1',
  '2001:db9::1',
  '2606:4700::1111',
  '3ffe::1',
];

/** Every way to embed an IPv4 address in an IPv6 address, and whether the embedded address decides. */
const wrappings: readonly (readonly [name: string, decides: boolean, wrap: (v4: number) => string])[] = [
  ['mapped', true, (v4) => `::ffff:${hex(v4)}`],
  ['NAT64', true, (v4) => `64:ff9b::${hex(v4)}`],
  ['6to4', true, (v4) => `2002:${hex(v4)}::1`],
  ['ISATAP', true, (v4) => `2606:4700::5efe:${hex(v4)}`],
  ['ISATAP of a global address', true, (v4) => `2606:4700::200:5efe:${hex(v4)}`],
  ['compatible', false, (v4) => `::${hex(v4)}`],
  ['SIIT', false, (v4) => `::ffff:0:${hex(v4)}`],
  ['local NAT64', false, (v4) => `64:ff9b:1::${hex(v4)}`],
  ['Teredo', false, (v4) => `2001:0:4136:e378:8000:63bf:${hex(~v4 >>> 0)}`],
];

const hex = (v4: number) => `${(v4 >>> 16).toString(16)}:${(v4 & 0xffff).toString(16)}`;
const dotted = (v4: number) => [v4 >>> 24, (v4 >>> 16) & 255, (v4 >>> 8) & 255, v4 & 255].join('.');
const numberOf = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const rangeV4 = (cidr: string) => {
  const [address = '', bits = '32'] = cidr.split('/');
  const first = numberOf(address);
  return { first, last: first + 2 ** (32 - Number(bits)) - 1 };
};
const isSpecialV4 = (v4: number) =>
  specialV4.some((cidr) => {
    const { first, last } = rangeV4(cidr);
    return v4 >= first && v4 <= last;
  });
const groupsOf = (v6: bigint) =>
  Array.from({ length: 8 }, (_, place) => ((v6 >> BigInt(112 - 16 * place)) & 0xffffn).toString(16)).join(':');
const bigOf = (address: string) => {
  const [head = '', tail] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const after = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: 8 - groups(head).length - after.length }, () => '0');
  return [...groups(head), ...zeros, ...after].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
};

describe('an address of the public internet', () => {
  it.each(specialV4)('is not in %s', (cidr) => {
    const { first, last } = rangeV4(cidr);
    const inside = [first, last, Math.floor((first + last) / 2), Math.min(first + 1, last)];
    for (const v4 of inside) {
      expect([dotted(v4), isPublicAddress(dotted(v4))]).toEqual([dotted(v4), false]);
      for (const [name, , wrap] of wrappings)
        expect([name, wrap(v4), isPublicAddress(wrap(v4))]).toEqual([name, wrap(v4), false]);
    }
  });

  it.each(specialV6)('is not in %s', (cidr) => {
    const [address = '', bits = '128'] = cidr.split('/');
    const first = bigOf(address);
    const size = 1n << BigInt(128 - Number(bits));
    for (const v6 of [first, first + size - 1n, first + size / 2n])
      expect([groupsOf(v6), isPublicAddress(groupsOf(v6))]).toEqual([groupsOf(v6), false]);
  });

  it.each(metadata)('is not that of a metadata service: %s', (address) => {
    for (const form of [address, `::ffff:${address}`, `64:ff9b::${address}`, `::ffff:0:${address}`, `::${address}`])
      expect([form, isPublicAddress(form)]).toEqual([form, false]);
  });

  it.each(publicV4)('is %s, also inside of an IPv6 address that leads there', (address) => {
    expect(isPublicAddress(address)).toBe(true);
    for (const [name, decides, wrap] of wrappings)
      expect([name, isPublicAddress(wrap(numberOf(address)))]).toEqual([name, decides]);
  });

  it.each(publicV6)('is %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
    expect(isPublicAddress(`${address}%eth0`)).toBe(false);
  });

  it.each([
    '',
    'nonsense',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '0x7f.0.0.1',
    '2130706433',
    '1.1.1.1 ',
    '[::1]',
    '::g',
    'fe80::1%lo',
  ])('is not "%s"', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });

  it('is judged alike in every form, whatever it is', () => {
    fc.assert(
      fc.property(fc.nat(0xffff_ffff), (v4) => {
        const isPublic = !isSpecialV4(v4);
        expect(isPublicAddress(dotted(v4))).toBe(isPublic);
        expect(isPublicAddress(`::FFFF:${dotted(v4)}`)).toBe(isPublic);
        for (const [, decides, wrap] of wrappings) expect(isPublicAddress(wrap(v4))).toBe(decides && isPublic);
      }),
    );
  });

  it('is never outside of global unicast but behind a translator', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, (1n << 128n) - 1n), (v6) => {
        const isGlobal = v6 >> 125n === 1n;
        const isTranslated = v6 >> 32n === 0xffffn || v6 >> 32n === 0x64_ff9b_0000_0000_0000_0000n;
        if (!isGlobal && !isTranslated) expect(isPublicAddress(groupsOf(v6))).toBe(false);
      }),
    );
  });
});

describe('EGRESS_ALLOW', () => {
  it.each<[string, string, number, boolean]>([
    ['wiki.test', 'wiki.test', 80, true],
    ['wiki.test', 'WIKI.test.', 8080, true],
    ['wiki.test', 'other.test', 80, false],
    ['wiki.test', 'a.wiki.test', 80, false],
    ['Wiki.Test:8080', 'wiki.test', 8080, true],
    ['wiki.test:8080', 'wiki.test', 80, false],
    ['wiki.test:8080, wiki.test:443', 'wiki.test', 443, true],
    ['my_service', 'my_service', 80, true],
    ['127.0.0.1', '127.0.0.1', 9999, true],
    ['127.0.0.1', '127.0.0.2', 9999, false],
    ['127.0.0.1:3000', '127.0.0.1', 3000, true],
    ['127.0.0.1:3000', '127.0.0.1', 5432, false],
    ['127.0.0.1:3000', '::ffff:127.0.0.1', 3000, true],
    ['10.0.0.0/8', '10.9.8.7', 1, true],
    ['10.0.0.0/8:443', '10.9.8.7', 443, true],
    ['10.0.0.0/8:443', '10.9.8.7', 80, false],
    ['fd00::1', 'fd00::1', 80, true],
    ['[fd00::1]', 'fd00::1', 80, true],
    ['[fd00::1]:443', 'fd00::1', 443, true],
    ['[fd00::1]:443', 'fd00::1', 80, false],
    ['fd00::/8', 'fd12::9', 80, true],
    ['[fd00::/8]:443', 'fd12::9', 443, true],
    ['[fd00::/8]:443', 'fd12::9', 80, false],
  ])('%s: %s port %i is allowed: %s', (text, place, port, isAllowed) => {
    const allowance = parseAllowance(text);
    const isAddress = /^[\d.]+$|:/.test(place);
    expect(isAddress ? allowance.allowsAddress(place, port) : allowance.allowsHost(place, port)).toBe(isAllowed);
  });

  it.each([
    ...['http://wiki.test', 'wiki.test/path', '*.test', 'wiki.test:', 'wiki.test:0', 'wiki.test:65536', 'wiki.test:http', 'a b'],
    ...['10.0.0.0/33', '10.0.0.0/-1', '10.0.0/8', '10.0.0.0/8/8', '10.0.0.0/', '1.2.3', '999.1.1.1', 'fd00::/129', '[wiki]:80'],
    ...['fe80::1%eth0', 'fd00::1]:80', '[fd00::1:80', '-a', 'ü.test', 'a:1:2'],
  ])('cannot be read, and says so with its grammar: %s', (entry) => {
    expect(() => parseAllowance(`ok.test, ${entry}`)).toThrow(
      `EGRESS_ALLOW: "${entry}" cannot be read: entries are host, host:port`,
    );
  });
});

describe('EGRESS_DNS_SERVERS', () => {
  it.each(['1.1.1.1', '1.1.1.1:5353', '::1', '[::1]:53', ' 1.1.1.1 , ::1 '])('reads %s', (text) => {
    expect(parseDnsServers(text)?.length).toBeGreaterThan(0);
  });
  it.each(['dns.test', '1.1.1.1:0', '1.1.1.1:99999', '[1.1.1.1]:53', '1.1.1'])('refuses %s', (text) => {
    expect(() => parseDnsServers(text)).toThrow(`EGRESS_DNS_SERVERS: "${text}" cannot be read`);
  });
});
