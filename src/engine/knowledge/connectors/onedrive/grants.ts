import type { AccessEntry, ItemPermissions } from '../../../../entities/knowledge/permissions.ts';
import { isObject, type JsonObject, membersOf, readElements, readString } from '../../../../lib/json/json.ts';
import { toEmail } from '../permission-reading/pages.ts';
import { toUnknown } from '../permission-reading/unknown.ts';

/** The group of everybody in the organization at Microsoft: its verified domains. */
export const tenantGroup = 'tenant';
/** What a group of SharePoint is called by. */
export const siteGroupPrefix = 'site ';
/** Roles of whoever sees all permissions of an item: there is always one, and it is missing where Graph shows a part. */
const ownerRoles = new Set(['owner', 'sp.owner', 'sp.full control']);
/** A role of SharePoint that opens nothing by itself. */
const limited = 'sp.limited access';

const endsInTime = 'A permission of the item ends at a time. Parley has no such permissions.';
const isPart =
  'OneDrive showed the permissions of the connected account only. Needed: an account that owns the item, or may see who has access to it.';

/**
 * Who may open an item, by all of its permissions, own and inherited.
 *
 * @param domains  of the organization at Microsoft: a link for it opens to them.
 */
export function readGrants(grants: readonly unknown[], domains: readonly string[]): ItemPermissions {
  const list: AccessEntry[] = [];
  let isWhole = false;
  for (const grant of grants.map(membersOf)) {
    const roles = readElements(grant.roles).map((role) => String(role).toLowerCase());
    isWhole ||= roles.some((role) => ownerRoles.has(role));
    if (roles.length > 0 && roles.every((role) => role === limited)) continue;
    const entries = isObject(grant.link) ? readLink(grant, grant.link, domains) : readGrant(grant);
    if ('unknown' in entries) return entries;
    list.push(...entries);
  }
  if (!isWhole) return toUnknown('INCOMPLETE', isPart);
  return { lists: [list] };
}

type Entries = readonly AccessEntry[] | ReturnType<typeof toUnknown>;

/** A link that ends, or has a password, opens to nobody who searches; one for named people must not end. */
function readLink(grant: JsonObject, link: JsonObject, domains: readonly string[]): Entries {
  const isConditional = isTimeBound(grant) || grant.hasPassword === true;
  const scope = readString(link.scope);
  if (scope === 'users') return isConditional ? toUnknown('INEXPRESSIBLE', endsInTime) : readIdentities(grant);
  if (isConditional || scope === 'existingAccess') return [];
  if (scope === 'anonymous') return [{ kind: 'anyone', isByLink: true }];
  if (scope === 'organization') return domains.map((domain) => ({ kind: 'domain', domain, isByLink: true }));
  return toUnknown('INEXPRESSIBLE', `The item has a link for ${scope ?? 'nobody that is named'}, which Parley does not know.`);
}

function readGrant(grant: JsonObject): Entries {
  const entries = readIdentities(grant);
  if ('unknown' in entries || entries.length === 0) return entries;
  return isTimeBound(grant) ? toUnknown('INEXPRESSIBLE', endsInTime) : entries;
}

/** Graph writes the year 1 for never. */
function isTimeBound({ expirationDateTime }: JsonObject): boolean {
  const time = readString(expirationDateTime);
  return time !== undefined && !time.startsWith('0001-');
}

function readIdentities(grant: JsonObject): Entries {
  const { grantedToV2, grantedToIdentitiesV2, grantedTo, grantedToIdentities, invitation } = grant;
  const newer = [grantedToV2, ...readElements(grantedToIdentitiesV2)].filter(isObject);
  const identities = newer.length > 0 ? newer : [grantedTo, ...readElements(grantedToIdentities)].filter(isObject);
  const list: AccessEntry[] = [];
  for (const identity of identities) {
    const entries = readIdentity(identity);
    if (entries === undefined)
      return toUnknown(
        'INEXPRESSIBLE',
        `The item is shared with ${Object.keys(identity).join(', ')}, which Parley does not know.`,
      );
    list.push(...entries);
  }
  // Who was invited and has not come yet.
  const invited = toEmail(membersOf(invitation).email);
  if (identities.length === 0 && invited !== undefined && membersOf(invitation).signInRequired !== false)
    list.push({ kind: 'user', email: invited });
  return list;
}

/** Somebody, in the forms that Graph has side by side. Applications and devices ask nothing of Parley. */
function readIdentity({ user, group, siteUser, siteGroup, application, device }: JsonObject): readonly AccessEntry[] | undefined {
  const groupId = readString(membersOf(group).id);
  if (groupId !== undefined) return [{ kind: 'group', id: groupId }];
  const { id, email } = membersOf(user);
  const [accountId, address] = [readString(id), toEmail(email)];
  if (accountId !== undefined && address !== undefined) return [{ kind: 'user', accountId, email: address }];
  if (accountId !== undefined) return [{ kind: 'user', accountId }];
  if (address !== undefined) return [{ kind: 'user', email: address }];
  if (isObject(siteUser)) return readClaim(siteUser);
  const siteGroupId = readString(membersOf(siteGroup).id);
  if (siteGroupId !== undefined) {
    const name = readString(membersOf(siteGroup).displayName) ?? '';
    return [{ kind: 'group', id: `${siteGroupPrefix}${siteGroupId} ${name}`.trim().slice(0, 200) }];
  }
  return isObject(application) || isObject(device) ? [] : undefined;
}

/** SharePoint names groups of the directory, and everybody, as users with these names. */
function readClaim({ loginName, email }: JsonObject): readonly AccessEntry[] | undefined {
  const login = readString(loginName)?.toLowerCase() ?? '';
  if (login === 'c:0(.s|true' || login.includes('spo-grid-all-users/')) return [{ kind: 'group', id: tenantGroup }];
  const groupId = /^c:0(?:o\.c\|federateddirectoryclaimprovider|t\.c\|tenant)\|([0-9a-f-]{36}(?:_o)?)$/.exec(login)?.[1];
  if (groupId !== undefined) return [{ kind: 'group', id: groupId }];
  const address = toEmail(/^i:0#\.f\|membership\|(.+)$/.exec(login)?.[1]) ?? toEmail(email);
  return address === undefined ? undefined : [{ kind: 'user', email: address }];
}
