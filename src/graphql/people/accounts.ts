import { getOrganizations, getUsers } from '../../domain/people/accounts.ts';
import { accessLevels, keyScopes, memberRoles, type Resource, type Scope, scopes } from '../../entities/people/caller.ts';
import { loadNode, registerNode } from '../ground/builder/nodes.ts';
import { describedOnRest } from '../ground/builder/rest-words.ts';
import { OrganizationRef, TenantRef, UserRef } from '../ground/refs.ts';
import { createEnum, ofFormat, textOnRest } from '../ground/types/enums.ts';
import { NodeType } from '../ground/types/node.ts';

export const AccessLevelType = createEnum('AccessLevel', 'The reach of a key.', accessLevels, {
  ORGANIZATION: 'Its own organization.',
  TENANT: 'All organizations of its tenant.',
  INSTANCE: 'All tenants of this installation.',
});

export const MemberRoleType = createEnum('MemberRole', 'The role of a user in an organization.', memberRoles, {
  MEMBER: 'Uses the things that are shared with the organization or with the user.',
  ADMIN: 'Also administers the organization.',
  AUDITOR: 'Reads what an ADMIN reads, and changes nothing.',
});

const resourceNames: Readonly<Record<Resource, string>> = {
  AGENTS: 'agents and their tools, flows and secrets',
  CHATS: 'chats, messages, runs, files and memories',
  DATA_SOURCES: 'data sources, their documents and vector stores',
  GROUPS: 'groups',
  API_KEYS: 'keys',
  USAGE: 'what was used',
  SKILLS: 'skills of agents',
  CONNECTIONS: 'accounts at other services',
  ADMIN: 'tenants, organizations, users, memberships and the audit log',
};

export const ScopeType = createEnum(
  'Scope',
  'What a key may do. Writing does not include reading.',
  keyScopes,
  Object.fromEntries([
    ...scopes.map((scope) => {
      const [resource = '', act] = scope.split(':');
      return [scope, `${act === 'READ' ? 'Reads' : 'Makes, changes and deletes'} ${resourceNames[resource as Resource]}.`];
    }),
    ['SCIM:WRITE', 'Lets an identity provider keep people and groups by SCIM; a key with it has no other scope.'],
  ]) as Record<Scope, string>,
  { ...ofFormat, ...textOnRest },
);

/** Every key may read the people of its organization: agents, groups and sources name them anyway. */
export const UserType = UserRef.implement({
  extensions: describedOnRest('A person, or a service, that keys act as.'),
  access: { scope: null },
  description:
    'A person, or a service, that keys act as. A key reads those of its organization by their ids; with the scope ADMIN:READ also others that its user administers.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the user.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user was added.' }),
    name: t.exposeString('name', { description: 'As shown to others.' }),
    email: t.exposeString('email', { description: 'In lower case.' }),
    tenantId: t.exposeID('tenantId', { description: 'The tenant the user belongs to.' }),
    tenant: t.field({
      type: TenantRef,
      nullable: true,
      description: 'The tenant, for INSTANCE keys; null for others.',
      resolve: ({ tenantId }, _args, context) => loadNode(context, 'tenant', tenantId),
    }),
  }),
});

registerNode('user', {
  typeName: 'User',
  operation: 'Query.node',
  loadMany: (ids, { deps, caller }) => getUsers(deps, caller, ids),
});

export const OrganizationType = OrganizationRef.implement({
  extensions: describedOnRest('The organization holds agents, chats and knowledge.'),
  access: { scope: null },
  description:
    'The organization holds agents, chats and knowledge. A key reads its own by its id; with the scope ADMIN:READ also others that its user administers.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the organization.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the organization was added.' }),
    name: t.exposeString('name', { description: 'As shown to its members.' }),
    tenantId: t.exposeID('tenantId', { description: 'The tenant it belongs to.' }),
    tenant: t.field({
      type: TenantRef,
      nullable: true,
      description: 'The tenant, for INSTANCE keys; null for others.',
      resolve: ({ tenantId }, _args, context) => loadNode(context, 'tenant', tenantId),
    }),
    dataUsageTokenLimit: t.expose('dataUsageTokenLimit', {
      type: 'Count',
      nullable: true,
      description: 'Tokens it may use for embedding and indexing; null: no limit.',
    }),
    apiUsageTokenLimit: t.expose('apiUsageTokenLimit', {
      type: 'Count',
      nullable: true,
      description: 'Tokens it may use for runs; null: no limit.',
    }),
    timeZone: t.exposeString('timeZone', {
      description: 'Its days and months begin by the clock of this time zone, an IANA name.',
    }),
  }),
});

registerNode('organization', {
  typeName: 'Organization',
  operation: 'Query.node',
  loadMany: (ids, { deps, caller }) => getOrganizations(deps, caller, ids),
});
