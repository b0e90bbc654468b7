import type { AccessEntry, AccessList } from '../../../../entities/knowledge/permissions.ts';
import { type JsonObject, membersOf, readElements, readString } from '../../../../lib/json/json.ts';
import { readText } from '../atlassian/site.ts';
import { toUnknown } from '../permission-reading/unknown.ts';

/** Who a permission scheme or a security level names: some for all issues, some by what fields of an issue hold. */
export interface Holders {
  readonly entries: AccessList;
  /** Fields whose persons, or groups, may open the issue. */
  readonly userFields: readonly string[];
  readonly groupFields: readonly string[];
}
type Unknown = ReturnType<typeof toUnknown>;

export interface HolderProject {
  readonly id: string;
  readonly leadId: string | undefined;
}

/** Groups that Jira has no id for: who has a role in a project, and who may use a product. */
export const rolePrefix = 'role ';
export const applicationPrefix = 'application ';
export const namePrefix = 'name ';

export function readHolders(holders: readonly JsonObject[], project: HolderProject): Holders | Unknown {
  const entries: AccessEntry[] = [];
  const userFields = new Set<string>();
  const groupFields = new Set<string>();
  for (const holder of holders) {
    const type = readString(holder.type) ?? '';
    const value = readText(holder.value) || readText(holder.parameter);
    if (type === 'reporter' || type === 'assignee') userFields.add(type);
    else if (type === 'userCustomField' && value !== '') userFields.add(value);
    else if (type === 'groupCustomField' && value !== '') groupFields.add(value);
    // Customers see their own requests in the portal, and none in Jira.
    else if (type !== 'sd.customer.portal.only') {
      const entry = readEntry(type, holder, value, project);
      if (entry === undefined)
        return toUnknown('INEXPRESSIBLE', `Jira opens the issue to ${type || 'somebody'}, which Parley does not know.`);
      if (entry !== 'nobody') entries.push(entry);
    }
  }
  return { entries, userFields: [...userFields], groupFields: [...groupFields] };
}

function readEntry(type: string, holder: JsonObject, value: string, project: HolderProject): AccessEntry | 'nobody' | undefined {
  switch (type) {
    case 'anyone':
      return { kind: 'anyone' };
    case 'user':
      return value === '' ? undefined : { kind: 'user', accountId: value };
    case 'projectLead':
      return project.leadId === undefined ? 'nobody' : { kind: 'user', accountId: project.leadId };
    case 'group': {
      const id = readText(holder.value);
      if (id !== '') return { kind: 'group', id };
      return value === '' ? undefined : { kind: 'group', id: namePrefix + value };
    }
    case 'projectRole':
      return value === '' ? undefined : { kind: 'group', id: `${rolePrefix}${project.id} ${value}` };
    case 'applicationRole':
      return { kind: 'group', id: applicationPrefix + (value || 'any') };
    default:
      return undefined;
  }
}

/** Who may open one issue. */
export function holdersOfIssue({ entries, userFields, groupFields }: Holders, fields: JsonObject): AccessList {
  const users = userFields
    .flatMap((name) => asList(fields[name]))
    .flatMap((one): AccessList => {
      const accountId = readString(membersOf(one).accountId);
      return accountId === undefined ? [] : [{ kind: 'user', accountId }];
    });
  const groups = groupFields
    .flatMap((name) => asList(fields[name]))
    .flatMap((one): AccessList => {
      const { groupId, name } = membersOf(one);
      const id = readString(groupId) ?? (readString(name) === undefined ? undefined : `${namePrefix}${String(name)}`);
      return id === undefined ? [] : [{ kind: 'group', id }];
    });
  return [...entries, ...users, ...groups];
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? readElements(value) : [value];
}
