import { isIPv4, isIPv6 } from 'node:net';

const date = String.raw`\d{4}-[01]\d-[0-3]\d`;
const time = String.raw`(?:[0-2]\d:[0-5]\d:[0-5]\d|23:59:60)(?:\.\d+)?(?:z|[+-]\d\d(?::?\d\d)?)`;
const label = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i;
const localPart = /^[\w.!#$%&'*+/=?^`{|}~-]+$/;
const hostnameMax = 253;

/** The formats of strings that are checked. Days are not looked up in a calendar. */
const checks: ReadonlyMap<unknown, (text: string) => boolean> = new Map([
  ['date', matcher(date)],
  ['date-time', matcher(`${date}t${time}`)],
  ['time', matcher(time)],
  ['email', isEmail],
  ['uri', matcher(String.raw`[a-z][a-z\d+.-]*:\S*`)],
  ['uuid', matcher(String.raw`(?:urn:uuid:)?[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}`)],
  ['ipv4', isIPv4],
  // Without the name of a network interface, as in fe80::1%eth0.
  ['ipv6', (text) => isIPv6(text) && !text.includes('%')],
  ['hostname', isHostname],
]);

/** The check of a format of JSON Schema; undefined for one that is not checked. */
export function findFormat(name: unknown): ((text: string) => boolean) | undefined {
  return checks.get(name);
}

function matcher(source: string): (text: string) => boolean {
  const pattern = new RegExp(`^${source}$`, 'i');
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
