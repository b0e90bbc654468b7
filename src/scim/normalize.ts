import { hasMembers } from '../lib/json.ts';

type Members = Readonly<Record<string, unknown>>;

/** What is kept of a user and of a group, by the first name of a path in lower case. Other attributes of the standard are taken and dropped. */
const keptAttributes: ReadonlySet<string> = new Set([
  ...['username', 'name', 'displayname', 'emails', 'active', 'externalid', 'roles', 'members'],
]);
const droppedAttributes: ReadonlySet<string> = new Set([
  ...['nickname', 'profileurl', 'title', 'usertype', 'preferredlanguage', 'locale', 'timezone', 'password', 'phonenumbers'],
  ...['ims', 'photos', 'addresses', 'groups', 'entitlements', 'x509certificates', 'id', 'meta', 'schemas'],
]);
const extension = /^urn:ietf:params:scim:schemas:extension:/i;
const coreSchema = /^urn:ietf:params:scim:schemas:core:2\.0:(user|group):/i;

/**
 * The body of a POST or PUT, and of a PATCH, in the words of the standard. Entra writes booleans as texts ("False"), names sub-attributes with dots in a
 * value without a path, and selects one value by a filter that matches nothing yet.
 */
export function normalizeBody(method: string, body: unknown): unknown {
  if (!hasMembers(body) || Array.isArray(body)) return body;
  if (method !== 'PATCH') return withPlainValues(body);
  const { Operations: operations } = body;
  if (!Array.isArray(operations)) return body;
  return { ...body, Operations: operations.flatMap((one: unknown) => (hasMembers(one) ? normalOperations(one) : [one])) };
}

function normalOperations(operation: Members): readonly unknown[] {
  const { path, value } = operation;
  if (path === undefined || path === null || path === '') {
    if (!hasMembers(value)) return [{ op: operation.op, value }];
    const operations = Object.entries(value).flatMap(([name, inner]) =>
      normalOperations({ op: operation.op, path: name, value: inner }),
    );
    return operations;
  }
  if (typeof path !== 'string') return [operation];
  const place = path.replace(coreSchema, '');
  const root = (/^[^.[]*/.exec(place)?.[0] ?? '').toLowerCase();
  if (extension.test(place) || droppedAttributes.has(root)) return [];
  if (!keptAttributes.has(root)) return [operation];
  const plain = plainValue(root, value);
  const isRemoval = String(operation.op).toLowerCase() === 'remove';
  if (isRemoval || place === root) return [{ ...operation, path: place, ...(value === undefined ? {} : { value: plain }) }];
  // The one value of a list that this service keeps.
  if (root === 'emails' && /^emails(\[[^\]]*\])?\.value$/i.test(place)) {
    return [{ op: 'replace', path: 'emails', value: [{ value: plain, type: 'work', primary: true }] }];
  }
  if (root === 'roles' && /^roles(\[[^\]]*\])?\.value$/i.test(place))
    return [{ op: 'replace', path: 'roles', value: [{ value }] }];
  return [{ ...operation, path: place, value: plain }];
}

function withPlainValues(body: Members): Members {
  return Object.fromEntries(
    Object.entries(body)
      .filter(([name, value]) => value !== null && !extension.test(name))
      .map(([name, value]) => [name, plainValue(name.toLowerCase(), value)]),
  );
}

/** Booleans are no texts, and what is null is not there. Roles may be texts. */
function plainValue(root: string, value: unknown): unknown {
  if (root === 'active' && typeof value === 'string' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  if (root === 'roles' && typeof value === 'string') return [{ value }];
  if (!Array.isArray(value)) return value;
  return value.map((one: unknown) => {
    if (root === 'roles' && typeof one === 'string') return { value: one };
    if (!hasMembers(one)) return one;
    const members = Object.entries(one).filter(([, inner]) => inner !== null);
    return Object.fromEntries(
      members.map(([name, inner]) => [name, name === 'primary' && typeof inner === 'string' ? /^true$/i.test(inner) : inner]),
    );
  });
}
