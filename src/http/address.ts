import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

/**
 * Where a request comes from: the address of its connection, or, behind proxies of the operator, what they say.
 *
 * @param hops  proxies in front of the service that add to `X-Forwarded-For`; what stands before their part was written by the client.
 */
export function addressOf(req: IncomingMessage, hops: number): string {
  const own = req.socket.remoteAddress ?? '';
  if (hops === 0) return own;
  const forwarded = [req.headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  const named = forwarded.at(-hops)?.trim();
  return named === undefined || named === '' ? own : named;
}

/** What one household, or one server, has of addresses: an IPv4 address, or the first half of an IPv6 one. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const middle = tail === undefined ? [] : Array<string>(Math.max(0, 8 - groups.length - after.length)).fill('0');
  return [...groups, ...middle, ...after].slice(0, 4).join(':');
}
