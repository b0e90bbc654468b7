import { DomainError } from '../../../entities/ground/errors.ts';
import type { DataSource } from '../../../entities/knowledge/data-source.ts';
import type { GroupMembers } from '../../../entities/knowledge/permissions.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { Deps } from '../../deps.ts';
import { Faults } from '../../ground/faults.ts';
import { editableSource } from '../sources.ts';
import { isGroupKey, principalsMax, readPrincipal } from './acl.ts';

export interface RosterInput {
  readonly key: string;
  readonly name?: string | null | undefined;
  /** `user:ann@example.org` or `group:key`. */
  readonly members: readonly string[];
}
export interface PrincipalsInput {
  readonly groups: readonly RosterInput[];
}

const groupsMax = 1_000;
const nameCharsMax = 200;

/**
 * Says who is in groups of a MIRRORED API source, in place of who was. Groups that are not named stay as they are; a group without members opens nothing.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for everyone except the owner of the source and administrators; with every fault of the input: a member of an
 * unknown form, a group that neither the source nor the request has, more than 1,000 groups or 10,000 members of one.
 */
export async function putPrincipals(deps: Deps, caller: Caller, id: string, input: PrincipalsInput): Promise<DataSource> {
  const source = await editableSource(deps, caller, id, 'change');
  requirePushed(source);
  const faults = new Faults();
  if (input.groups.length === 0) faults.add('groups', 'groups must hold at least one group', 'EMPTY_ARRAY');
  faults.requireCount('groups', input.groups, groupsMax);
  const named = new Map<string, string>();
  const groups = input.groups.slice(0, groupsMax).map((group, index) => readRoster(group, `groups[${index}]`, faults, named));
  const given = new Set(groups.map(({ id: key }) => key));
  await requireGroups(deps, source, new Map([...named].filter(([key]) => !given.has(key))), faults);
  faults.throwIfAny();
  await deps.audit.change(caller, () => deps.storage.knowledge.permissions.write(pushedPlace(source), { groups }));
  return source;
}

function readRoster({ key, name, members }: RosterInput, at: string, faults: Faults, named: Map<string, string>): GroupMembers {
  if (!isGroupKey(key)) faults.add(`${at}.key`, `${at}.key must have 1 to 200 characters, none of them a control character`);
  if (typeof name === 'string') faults.requireName(`${at}.name`, name, nameCharsMax);
  faults.requireCount(`${at}.members`, members, principalsMax);
  const principals = members.slice(0, principalsMax).flatMap((text, index) => {
    const principal = readPrincipal(text);
    if (principal?.kind === 'group' && !named.has(principal.id)) named.set(principal.id, `${at}.members[${index}]`);
    if (principal?.kind === 'user' || principal?.kind === 'group') return [principal];
    faults.add(`${at}.members[${index}]`, `${at}.members[${index}] must be user:<e-mail> or group:<key>`);
    return [];
  });
  return { id: key, members: principals, ...(typeof name === 'string' ? { name: name.trim() } : {}) };
}

/** Adds a fault for each group that the source does not have: one of another source, or one that was never put. */
export async function requireGroups(
  { storage }: Deps,
  source: DataSource,
  placesByKey: ReadonlyMap<string, string>,
  faults: Faults,
): Promise<void> {
  if (placesByKey.size === 0) return;
  const known = new Set(await storage.knowledge.permissions.knownGroups(pushedPlace(source), [...placesByKey.keys()]));
  for (const [key, place] of placesByKey) {
    if (known.has(key)) continue;
    faults.add(
      place,
      `${place} names the group "${key}", which this source does not have: put its members first (PUT …/principals)`,
    );
  }
}

/** @throws DomainError INVALID_VALUE for a source that is not told who may open its documents. */
export function requirePushed({ type, access }: DataSource): void {
  if (type !== 'API') {
    throw new DomainError('INVALID_VALUE', `Documents and groups are pushed to sources of the type API; this is ${type}`, {
      param: 'dataSourceId',
    });
  }
  if (access === 'MIRRORED') return;
  throw new DomainError(
    'INVALID_VALUE',
    'Documents and groups are pushed to a source with "access": "MIRRORED"; this one is LENT',
    {
      param: 'dataSourceId',
    },
  );
}

/** Where the principals of an API source are known: each has its own. */
export function pushedPlace({ id, orgId }: Pick<DataSource, 'id' | 'orgId'>) {
  return { dataSourceId: id, orgId, directory: `source:${id}` };
}
