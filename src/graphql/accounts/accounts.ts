import { callerOrganization, callerUser } from '../../domain/accounts/accounts.ts';
import { accessLevels, type Caller, memberRoles, scopes } from '../../entities/accounts/caller.ts';
import { builder } from '../builder/builder.ts';
import { OrganizationRef, UserRef } from '../refs.ts';
import { enumOf } from '../types/enums.ts';

export const AccessLevelType = enumOf('AccessLevel', 'The reach of a key.', accessLevels, {
  ORGANIZATION: 'Its own organization.',
  TENANT: 'All organizations of its tenant.',
  INSTANCE: 'All tenants of this installation.',
});

export const MemberRoleType = enumOf('MemberRole', 'The role of a user in an organization.', memberRoles, {
  MEMBER: 'Uses the things that are shared with the organization or with the user.',
  ADMIN: 'Also administers the organization.',
});

export const UserType = UserRef.implement({
  access: { scope: 'ADMIN:READ' },
  description: 'A person, or a service, that keys act as.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the user.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user was added.' }),
    name: t.exposeString('name', { description: 'As shown to others.' }),
    email: t.exposeString('email', { description: 'In lower case.' }),
    tenantId: t.exposeID('tenantId', { description: 'The tenant the user belongs to.' }),
  }),
});

export const OrganizationType = OrganizationRef.implement({
  access: { scope: 'ADMIN:READ' },
  description: 'The organization holds agents, chats and knowledge.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the organization.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the organization was added.' }),
    name: t.exposeString('name', { description: 'As shown to its members.' }),
    tenantId: t.exposeID('tenantId', { description: 'The tenant it belongs to.' }),
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
  }),
});

const ViewerType = builder.objectRef<Caller>('Viewer').implement({
  access: { scope: null },
  description: 'Who is calling: one key, acting as one user in one organization.',
  fields: (t) => ({
    keyId: t.exposeID('keyId', { description: 'The key of this call.' }),
    user: t.field({
      type: UserType,
      description: 'The user the key acts as.',
      resolve: (_caller, _args, { deps, caller }) => callerUser(deps, caller),
    }),
    organization: t.field({
      type: OrganizationType,
      description: 'The organization the key acts in.',
      resolve: (_caller, _args, { deps, caller }) => callerOrganization(deps, caller),
    }),
    scopes: t.stringList({
      description: 'The scopes of the key, `RESOURCE:READ` or `RESOURCE:WRITE`.',
      resolve: (caller) => scopes.filter((scope) => caller.scopes.has(scope)),
    }),
    level: t.expose('level', { type: AccessLevelType, description: 'The reach of the key.' }),
    role: t.expose('role', { type: MemberRoleType, description: "The user's role in the organization." }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({
    authScopes: { anyKey: true },
    type: ViewerType,
    description: 'Who is calling.',
    resolve: (_root, _args, { caller }) => caller,
  }),
);
