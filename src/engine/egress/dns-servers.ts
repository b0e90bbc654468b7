import { isIP } from 'node:net';
import { displayValue } from '../../lib/text/display-value.ts';

export const dnsServersGrammar = 'entries are address, address:port or [IPv6]:port, separated by commas';

/**
 * Reads EGRESS_DNS_SERVERS: addresses, `address:port` or `[IPv6]:port`, separated by commas.
 *
 * @returns undefined for none.
 * @throws Error with the first bad entry.
 */
export function parseDnsServers(text: string | undefined): readonly string[] | undefined {
  const servers = (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  const bad = servers.find((entry) => !isServer(entry));
  if (bad !== undefined)
    throw new Error(`EGRESS_DNS_SERVERS: "${displayValue('EGRESS_DNS_SERVERS', bad)}" cannot be read: ${dnsServersGrammar}`);
  return servers.length === 0 ? undefined : servers;
}

function isServer(entry: string): boolean {
  if (isIP(entry) !== 0) return true;
  const { six, four = '', port } = /^(?:\[(?<six>[^\]]*)\]|(?<four>[^:]*))(?::(?<port>\d{1,5}))?$/.exec(entry)?.groups ?? {};
  const isAddress = six === undefined ? isIP(four) === 4 : isIP(six) === 6;
  return isAddress && (port === undefined || (Number(port) >= 1 && Number(port) <= 65_535));
}
