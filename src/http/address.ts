import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

/** IPv4 or IPv6, perhaps with a zone. */
const saneAddress = /^[0-9A-Fa-f:.]{2,45}(?:%\w{1,16})?$/;

/**
 * The network address that a request comes from.
 *
 * @param hops  proxies of the operator in front of the service that append to X-Forwarded-For: the address is the one that the outermost of
 *   them saw. What stands before it in the header was written by the client, so it is not read. 0: the header is ignored.
 */
export function findAddress(req: IncomingMessage, hops: number): string | undefined {
  const forwardedFor = req.headers['x-forwarded-for'];
  // With fewer addresses than proxies the request did not come through them.
  const forwardedAddress =
    hops === 0 || forwardedFor === undefined ? '' : (String(forwardedFor).split(',').at(-hops)?.trim() ?? '');
  const address = saneAddress.test(forwardedAddress) ? forwardedAddress : req.socket.remoteAddress;
  return address?.replace(/^::ffff:(?=\d+\.)/i, '');
}

/** What one household, or one server, has of addresses: an IPv4 address, or the first half of an IPv6 one. */
export function toNetwork(address = ''): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const middle = tail === undefined ? [] : Array<string>(Math.max(0, 8 - groups.length - after.length)).fill('0');
  return [...groups, ...middle, ...after].slice(0, 4).join(':');
}
