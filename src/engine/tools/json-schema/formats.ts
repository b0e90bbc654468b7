import { isIPv4, isIPv6 } from 'node:net';

const label = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i;
const localPart = /^[\w.!#$%&'*+/=?^`{|}~-]+$/;
const hostnameMax = 253;

/** The formats of strings that are checked. Days are not looked up in a calendar. */
const checks: ReadonlyMap<unknown, (text: string) => boolean> = new Map([
  ['date', matcher(/^\d{4}-[01]\d-[0-3]\d$/)],
  ['date-time', matcher(/^\d{4}-[01]\d-[0-3]\dt(?:[0-2]\d:[0-5]\d:[0-5]\d|23:59:60)(?:\.\d+)?(?:z|[+-]\d\d(?::?\d\d)?)$/i)],
  ['time', matcher(/^(?:[0-2]\d:[0-5]\d:[0-5]\d|23:59:60)(?:\.\d+)?(?:z|[+-]\d\d(?::?\d\d)?)$/i)],
  ['email', isEmail],
  ['uri', matcher(/^[a-z][a-z\d+.-]*:\S*$/i)],
  ['uuid', matcher(/^(?:urn:uuid:)?[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i)],
  ['ipv4', isIPv4],
  // Without the name of a network interface, as in fe80::1%eth0.
  ['ipv6', (text) => isIPv6(text) && !text.includes('%')],
  ['hostname', isHostname],
]);

/** The check of a format of JSON Schema; undefined for one that is not checked. */
export function findFormat(name: unknown): ((text: string) => boolean) | undefined {
  return checks.get(name);
}

function matcher(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text);
}

function isEmail(text: string): boolean {
  const [local = '', domain = '', ...rest] = text.split('@');
  return rest.length === 0 && localPart.test(local) && domain.split('.').every((part) => label.test(part));
}

function isHostname(text: string): boolean {
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  return name.length <= hostnameMax && name.split('.').every((part) => label.test(part));
}
