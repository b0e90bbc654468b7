import { type BlockList, isIP } from 'node:net';
import { displayValue } from '../../lib/text/display-value.ts';
import { blockList } from './addresses.ts';

/** The private addresses and hosts that EGRESS_ALLOW opens. */
export interface Allowance {
  /** @param hostname  as in URLs; a dot at its end is ignored. */
  allowsHost(hostname: string, port: number): boolean;
  allowsAddress(address: string, port: number): boolean;
  /** Whether the operator named this host, with any port. */
  namesHost(hostname: string): boolean;
}

/** Undefined opens every port. */
type Port = number | undefined;

export const allowanceGrammar =
  'entries are host, host:port, address, address:port, CIDR or CIDR:port, separated by commas; IPv6 before a port stands in brackets ([fd00::1]:443, [fd00::/8]:443); without a port, every port is open';
const hostPattern = /^[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?$/;
const entryPattern = /^(?:\[(?<bracketed>[^\]]*)\]|(?<plain>[^:[\]]*))(?::(?<digits>\d{1,5}))?$/;

/**
 * Reads EGRESS_ALLOW.
 *
 * @param text  undefined opens nothing private.
 * @throws Error with the first bad entry and the grammar.
 */
export function parseAllowance(text: string | undefined): Allowance {
  const hosts = new Map<string, Set<Port>>();
  const ranges: { readonly list: BlockList; readonly port: Port }[] = [];
  for (const item of (text ?? '').split(',').map((entry) => entry.trim())) {
    if (item === '') continue;
    const entry = readEntry(item.toLowerCase());
    if (entry === undefined)
      throw new Error(`EGRESS_ALLOW: "${displayValue('EGRESS_ALLOW', item)}" cannot be read: ${allowanceGrammar}`);
    if ('range' in entry) ranges.push({ list: blockList([entry.range]), port: entry.port });
    else hosts.set(entry.host, (hosts.get(entry.host) ?? new Set()).add(entry.port));
  }
  const isOpen = (open: Port, port: number) => open === undefined || open === port;
  return {
    allowsHost: (hostname, port) => [...(hosts.get(bareHost(hostname)) ?? [])].some((open) => isOpen(open, port)),
    allowsAddress(address, port) {
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      return ranges.some((range) => isOpen(range.port, port) && range.list.check(address, family));
    },
    namesHost: (hostname) => hosts.has(bareHost(hostname)),
  };
}

export const rangesGrammar = 'entries are an address or a CIDR, separated by commas';

/** Reads a list of addresses and CIDRs. @param text  undefined: an empty list. @throws Error with the first bad entry and the grammar. */
export function parseRanges(setting: string, text: string | undefined): BlockList {
  const entries = (text ?? '').split(',').map((entry) => entry.trim());
  return blockList(
    entries.filter(Boolean).map((entry) => {
      const range = parseRange(entry);
      if (range === undefined) throw new Error(`${setting}: "${displayValue(setting, entry)}" cannot be read: ${rangesGrammar}`);
      return range;
    }),
  );
}

type Entry = { readonly port: Port } & ({ readonly host: string } | { readonly range: string });

function readEntry(entry: string): Entry | undefined {
  const whole = parseRange(entry);
  if (whole !== undefined) return { range: whole, port: undefined };
  const { bracketed: ipv6, plain = '', digits } = entryPattern.exec(entry)?.groups ?? {};
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  const range = parseRange(ipv6 ?? plain);
  if (range !== undefined) return { range, port };
  const isHost = hostPattern.test(plain) && !/^[\d.]+$/.test(plain);
  return isHost ? { host: plain, port } : undefined;
}

/** A single address is a range of one. */
export function parseRange(text: string): string | undefined {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || address.includes('%') || more.length > 0) return undefined;
  const bitsMax = family === 4 ? 32 : 128;
  if (bits === undefined) return `${address}/${bitsMax}`;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax ? `${address}/${bits}` : undefined;
}

/** The host of a URL without the brackets of an IPv6 address. */
export function readHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** In lower case, without the dot at the end of an absolute name. */
export function bareHost(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}
