import { DomainError } from '../entities/ground/errors.ts';
import { hasMembers } from '../lib/json/json.ts';

type Members = Readonly<Record<string, unknown>>;
type ResourceKind = 'User' | 'Group';

/** What is kept of a user and of a group, by its name in lower case. Nothing else of the standard, of an extension or of a provider reaches the library. */
const keptAttributes: Readonly<Record<ResourceKind, ReadonlyMap<string, string>>> = {
  User: byLowerCase(['userName', 'name', 'displayName', 'active', 'externalId', 'roles']),
  Group: byLowerCase(['displayName', 'externalId', 'members']),
};
const keptOfName = byLowerCase(['formatted', 'givenName', 'familyName']);
/** Other attributes that the standard has. One that it does not have is dropped beside others, and told where it stands alone. */
const droppedAttributes: ReadonlySet<string> = new Set([
  ...[
    'nickname',
    'profileurl',
    'title',
    'usertype',
    'preferredlanguage',
    'locale',
    'timezone',
    'password',
    'phonenumbers',
    'emails',
  ],
  ...['ims', 'photos', 'addresses', 'groups', 'entitlements', 'x509certificates', 'id', 'meta', 'schemas', 'name'],
]);
const extension = /^urn:/i;
const coreSchema = /^urn:ietf:params:scim:schemas:core:2\.0:(user|group):?/i;

interface NormalBody {
  readonly body: unknown;
  /** A PATCH of nothing that is kept: it succeeds, and changes nothing. */
  readonly isWithoutEffect: boolean;
}

/**
 * The body of a POST or PUT, and of a PATCH, in the words of the standard, with what is kept and nothing else. Providers send all that they map, in forms
 * of their own: Entra writes booleans as texts ("False"), names sub-attributes with dots in a value without a path, and selects one value by a filter that
 * matches nothing yet; several send members with `$ref`, `display` and `type`, or as plain ids.
 *
 * @throws DomainError INVALID_VALUE for the removal of members that no `value` names.
 */
export function normalizeBody(method: string, kind: ResourceKind, body: unknown): NormalBody {
  if (!hasMembers(body) || Array.isArray(body)) return { body, isWithoutEffect: false };
  if (method !== 'PATCH') return { body: pickKept(kind, body), isWithoutEffect: false };
  const { Operations: operations } = body;
  if (!Array.isArray(operations) || operations.length === 0) return { body, isWithoutEffect: false };
  const read = operations.map((one: unknown) => (hasMembers(one) ? listOperations(kind, one) : [one]));
  const normal = read.flat().filter((one) => one !== unknownAttribute && one !== droppedAttribute);
  // The library says which attribute there is not.
  if (read.flat().every((one) => one === unknownAttribute)) return { body, isWithoutEffect: false };
  return { body: { ...body, Operations: normal }, isWithoutEffect: normal.length === 0 };
}

const unknownAttribute = Symbol('unknown attribute');
const droppedAttribute = Symbol('dropped attribute');

function listOperations(kind: ResourceKind, operation: Members): readonly unknown[] {
  const { op, path, value } = operation;
  if (path === undefined || path === null || path === '') {
    if (!hasMembers(value) || Array.isArray(value)) return [operation];
    return Object.entries(value).flatMap(([name, inner]) => listOperations(kind, { op, path: name, value: inner }));
  }
  if (typeof path !== 'string') return [operation];
  const place = path.replace(coreSchema, '');
  const [attributeName = ''] = /^[^.[]*/.exec(place) ?? [];
  const root = keptAttributes[kind].get(attributeName.toLowerCase());
  if (root === undefined)
    return extension.test(place) || droppedAttributes.has(attributeName.toLowerCase()) ? [droppedAttribute] : [unknownAttribute];
  const rest = place.slice(attributeName.length);
  const isRemoval = String(op).toLowerCase() === 'remove';
  if (root === 'members' && rest === '' && isRemoval && value !== undefined && value !== null) {
    return [{ op, path: root, value: namedMembers(value) }];
  }
  if (root === 'name' && rest !== '') {
    const part = keptOfName.get(rest.slice(1).toLowerCase());
    return part === undefined ? [droppedAttribute] : [change(op, `name.${part}`, value)];
  }
  if (root === 'name' && hasMembers(value)) {
    return Object.entries(value).flatMap(([name, inner]) => listOperations(kind, { op, path: `name.${name}`, value: inner }));
  }
  // Without a value there is nothing to set: the membership stays as it is.
  if (root === 'active' && value === null) return [droppedAttribute];
  if (isRemoval) return [{ op, path: `${root}${rest}` }];
  // The one role that this service keeps.
  if (root === 'roles' && /^(\[[^\]]*\])?\.value$/i.test(rest)) return [{ op: 'replace', path: root, value: [{ value }] }];
  if (root === 'roles' && rest.includes('.')) return [droppedAttribute];
  return [change(op, `${root}${rest}`, rest === '' ? plainValue(root, value) : value)];
}

/** What is set to null has no value any more (RFC 7643, section 2.5). */
function change(op: unknown, path: string, value: unknown): Members {
  return value === null ? { op: 'remove', path } : { op, path, value };
}

function pickKept(kind: ResourceKind, body: Members): Members {
  const entries = Object.entries(body).flatMap(([name, value]) => {
    if (name.toLowerCase() === 'schemas') return [['schemas', pickCore(value)] as const];
    const root = keptAttributes[kind].get(name.replace(coreSchema, '').toLowerCase());
    return root === undefined || value === null ? [] : [[root, plainValue(root, value)] as const];
  });
  return Object.fromEntries(entries);
}

/** The schema of the resource, where others stand beside it. */
function pickCore(schemas: unknown): unknown {
  if (!Array.isArray(schemas)) return schemas;
  const core = schemas.filter((one) => typeof one === 'string' && coreSchema.test(one));
  return core.length > 0 ? core : schemas;
}

/** Booleans are no texts, and what is null is not there. Roles and members may be texts, and have a value. */
function plainValue(root: string, value: unknown): unknown {
  if (root === 'active' && typeof value === 'string' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  if (root === 'name' && hasMembers(value)) {
    const parts = Object.entries(value).map(([name, inner]) => [keptOfName.get(name.toLowerCase()), inner] as const);
    return Object.fromEntries(parts.filter(([name, inner]) => name !== undefined && inner !== null));
  }
  if (root === 'members') return toList(value).map(withValue);
  if (root === 'roles') {
    return toList(value).map((one) => {
      if (!hasMembers(one)) return withValue(one);
      const { primary } = one;
      if (primary === undefined || primary === null) return withValue(one);
      return { ...withValue(one), primary: typeof primary === 'string' ? /^true$/i.test(primary) : primary };
    });
  }
  return value;
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** A value of a list by what identifies it. */
function withValue(one: unknown): Members {
  return { value: hasMembers(one) ? one.value : one };
}

function namedMembers(membersValue: unknown): readonly Members[] {
  const members = toList(membersValue).map(withValue);
  if (members.every(({ value }) => typeof value === 'string' && value !== '')) return members;
  throw new DomainError('INVALID_VALUE', 'The members to remove are named by value, the id of a user');
}

function byLowerCase(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [name.toLowerCase(), name]));
}
