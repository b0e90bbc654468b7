import type { GroupMembers } from '../../../../entities/knowledge/permissions.ts';
import { type JsonObject, membersOf, readElements, readString } from '../../../../lib/json/json.ts';
import { toEmail } from '../permission-reading/pages.ts';
import { toUnknown, toUnreadable } from '../permission-reading/unknown.ts';
import { siteGroupPrefix, tenantGroup } from './grants.ts';

export const groupRight = 'GroupMember.Read.All, agreed to by an administrator: members of groups';
const hiddenRight = 'Member.Read.Hidden: members of groups that hide them';

interface GraphReader {
  get(path: string): Promise<JsonObject>;
  listAll(path: string): Promise<readonly unknown[]>;
}
type Members = Extract<GroupMembers['members'], readonly unknown[]>;

/** All members of a group, also those of the groups in it. @throws SourceError where it may be better later. */
export async function loadGroup(graph: GraphReader, id: string): Promise<GroupMembers> {
  if (id.startsWith(siteGroupPrefix)) {
    const message =
      'It is a group of SharePoint: Microsoft Graph does not say who is in it. Share with a group of the directory instead.';
    return { id, name: id.replace(/^site \S+ ?/, '') || id, members: toUnknown('UNREADABLE', message) };
  }
  try {
    return id === tenantGroup ? await loadTenant(graph) : await loadDirectoryGroup(graph, id);
  } catch (error) {
    return { id, members: toUnreadable(error, `Needed: ${id === tenantGroup ? 'User.Read' : groupRight}.`) };
  }
}

/** Everybody of the organization: whoever has an e-mail at one of its domains. */
async function loadTenant({ get }: GraphReader): Promise<GroupMembers> {
  const { value } = await get('/organization?$select=id,displayName,verifiedDomains');
  const [organization] = readElements(value).map(membersOf);
  const domains = readElements(organization?.verifiedDomains).flatMap((one) => readString(membersOf(one).name) ?? []);
  if (domains.length === 0)
    return {
      id: tenantGroup,
      members: toUnknown('UNREADABLE', 'Microsoft Graph does not say which domains the organization has.'),
    };
  return {
    id: tenantGroup,
    name: readString(organization?.displayName) ?? 'Everybody in the organization',
    members: domains.map((domain) => ({ kind: 'domain', domain: domain.toLowerCase() })),
  };
}

/** @param id  with `_o` behind it: the owners of the group. */
async function loadDirectoryGroup({ get, listAll }: GraphReader, id: string): Promise<GroupMembers> {
  const groupId = encodeURIComponent(id.replace(/_o$/, ''));
  const group = await get(`/groups/${groupId}?$select=id,displayName,visibility`);
  const part = id.endsWith('_o') ? 'owners' : 'transitiveMembers';
  const values = await listAll(`/groups/${groupId}/${part}?$select=id,mail,userPrincipalName,accountEnabled&$top=999`);
  const name = readString(group.displayName) ?? id;
  if (values.length === 0 && group.visibility === 'HiddenMembership')
    return { id, name, members: toUnknown('UNREADABLE', `The group hides its members. Needed: ${hiddenRight}.`) };
  return { id, name, members: values.flatMap(readMember) };
}

/** A person under each address that the directory has. Groups are left out: their members are in the list too. */
function readMember(value: unknown): Members {
  const { '@odata.type': type, id, mail, userPrincipalName, accountEnabled } = membersOf(value);
  const accountId = readString(id);
  if (type !== '#microsoft.graph.user' || accountId === undefined || accountEnabled === false) return [];
  const emails = new Set(
    [toEmail(mail), toEmail(userPrincipalName)].filter((email) => email !== undefined && !email.includes('#ext#')),
  );
  if (emails.size === 0) return [{ kind: 'user', accountId }];
  return [...emails].flatMap((email) => (email === undefined ? [] : [{ kind: 'user' as const, accountId, email }]));
}
