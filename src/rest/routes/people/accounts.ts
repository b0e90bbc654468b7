import { auditChanges } from '../../../wire/audit.ts';
import { pageInfo, pageQuery } from '../../paging.ts';
import type { DeclaredRoute } from '../../route.ts';

const tag = 'Administration';
const tenantFields = 'id createdAt updatedAt name';
const organizationFields = 'id createdAt tenantId name dataUsageTokenLimit apiUsageTokenLimit';
const userFields = 'id createdAt tenantId name email';
const membershipFields = 'id createdAt orgId userId role';

const tenants: readonly DeclaredRoute[] = [
  {
    operationId: 'listTenants',
    method: 'get',
    path: '/api/v1/admin/tenants',
    summary: 'List tenants',
    description: 'For INSTANCE keys, newest first.',
    tag,
    document: `query ($limit: Int = 100, $cursor: String) {
      tenants(first: $limit, after: $cursor) { nodes { ${tenantFields} } ${pageInfo} }
    }`,
    query: pageQuery,
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'createTenant',
    method: 'post',
    path: '/api/v1/admin/tenants',
    summary: 'Add a tenant',
    description: 'For INSTANCE keys.',
    tag,
    document: `mutation ($input: CreateTenantInput!) { createTenant(input: $input) { ${tenantFields} } }`,
    body: 'input',
    example: { name: 'Example Group' },
  },
  {
    operationId: 'getTenant',
    method: 'get',
    path: '/api/v1/admin/tenants/{tenantId}',
    summary: 'Get tenant',
    description: 'For keys of level INSTANCE.',
    tag,
    document: `query ($tenantId: ID!) { tenant(id: $tenantId) { ${tenantFields} } }`,
  },
  {
    operationId: 'updateTenant',
    method: 'patch',
    path: '/api/v1/admin/tenants/{tenantId}',
    summary: 'Rename a tenant',
    description: 'For keys of level INSTANCE. Nothing but the name changes.',
    tag,
    document: `mutation ($tenantId: ID!, $input: UpdateTenantInput!) { updateTenant(id: $tenantId, input: $input) { ${tenantFields} } }`,
    body: 'input',
    example: { name: 'Example Group' },
  },
  {
    operationId: 'deleteTenant',
    method: 'delete',
    path: '/api/v1/admin/tenants/{tenantId}',
    summary: 'Delete a tenant',
    description: 'And its users. 409 while it has organizations. Answers what it was.',
    tag,
    document: `mutation ($tenantId: ID!) { deleteTenant(id: $tenantId) { ${tenantFields} } }`,
  },
];

const organizations: readonly DeclaredRoute[] = [
  {
    operationId: 'listOrganizations',
    method: 'get',
    path: '/api/v1/admin/organizations',
    summary: 'List organizations',
    description: "Those within the key's administration, newest first.",
    tag,
    document: `query ($tenantId: ID, $limit: Int = 100, $cursor: String) {
      organizations(tenantId: $tenantId, first: $limit, after: $cursor) { nodes { ${organizationFields} } ${pageInfo} }
    }`,
    query: { tenantId: 'Only those of this tenant.', ...pageQuery },
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'createOrganization',
    method: 'post',
    path: '/api/v1/admin/organizations',
    summary: 'Add an organization',
    description: 'For TENANT and INSTANCE keys.',
    tag,
    document: `mutation ($input: CreateOrganizationInput!) { createOrganization(input: $input) { ${organizationFields} } }`,
    body: 'input',
    example: { name: 'Research', apiUsageTokenLimit: 1_000_000, dataUsageTokenLimit: null },
  },
  {
    operationId: 'getOrganization',
    method: 'get',
    path: '/api/v1/admin/organizations/{orgId}',
    summary: 'Get organization',
    description: 'Its name and its limits of tokens.',
    tag,
    document: `query ($orgId: ID!) { organization(id: $orgId) { ${organizationFields} } }`,
  },
  {
    operationId: 'updateOrganization',
    method: 'patch',
    path: '/api/v1/admin/organizations/{orgId}',
    summary: 'Rename an organization, or set its limits',
    description:
      'For TENANT and INSTANCE keys. Absent members are kept; null takes a limit away. Limits hold for calls that begin from then on.',
    tag,
    document: `mutation ($orgId: ID!, $input: UpdateOrganizationInput!) {
      updateOrganization(id: $orgId, input: $input) { ${organizationFields} }
    }`,
    body: 'input',
    example: { name: 'Research', apiUsageTokenLimit: 2_000_000, dataUsageTokenLimit: 500_000 },
  },
  {
    operationId: 'deleteOrganization',
    method: 'delete',
    path: '/api/v1/admin/organizations/{orgId}',
    summary: 'Delete an organization',
    description:
      'For TENANT and INSTANCE keys. 409 while it has agents or data sources. Members, keys and groups go at once, the rest behind the reply. Answers what it was.',
    tag,
    document: `mutation ($orgId: ID!) { deleteOrganization(id: $orgId) { ${organizationFields} } }`,
  },
];

const users: readonly DeclaredRoute[] = [
  {
    operationId: 'listUsers',
    method: 'get',
    path: '/api/v1/admin/users',
    summary: 'List users',
    description: "Those within the key's administration, newest first.",
    tag,
    document: `query ($orgId: ID, $search: String, $limit: Int = 100, $cursor: String) {
      users(orgId: $orgId, search: $search, first: $limit, after: $cursor) { nodes { ${userFields} } ${pageInfo} }
    }`,
    query: { orgId: 'Only members of this organization.', search: 'Text in name or e-mail, whatever the case.', ...pageQuery },
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'createUser',
    method: 'post',
    path: '/api/v1/admin/users',
    summary: 'Add a person to an organization',
    description: 'A user of the tenant with this e-mail becomes a member and keeps the name.',
    tag,
    document: `mutation ($input: CreateUserInput!) { createUser(input: $input) { ${userFields} } }`,
    body: 'input',
    example: { email: 'ann@example.com', name: 'Ann', role: 'MEMBER' },
  },
  {
    operationId: 'getUser',
    method: 'get',
    path: '/api/v1/admin/users/{userId}',
    summary: 'Get user',
    description: 'Name, e-mail and tenant of a person.',
    tag,
    document: `query ($userId: ID!) { user(id: $userId) { ${userFields} } }`,
  },
  {
    operationId: 'updateUser',
    method: 'patch',
    path: '/api/v1/admin/users/{userId}',
    summary: 'Change name or e-mail of a user',
    description: 'Members of several organizations need a TENANT or INSTANCE key.',
    tag,
    document: `mutation ($userId: ID!, $input: UpdateUserInput!) { updateUser(id: $userId, input: $input) { ${userFields} } }`,
    body: 'input',
    example: { name: 'Ann', email: 'ann@example.com' },
  },
  {
    operationId: 'deleteUser',
    method: 'delete',
    path: '/api/v1/admin/users/{userId}',
    summary: 'Delete a user',
    description:
      'For TENANT and INSTANCE keys. 409 while the user owns agents, data sources or groups, or is the last administrator of an organization. Answers who it was.',
    tag,
    document: `mutation ($userId: ID!) { deleteUser(id: $userId) { ${userFields} } }`,
  },
];

const operators: readonly DeclaredRoute[] = [
  {
    operationId: 'addOperator',
    method: 'put',
    path: '/api/v1/admin/operators/{userId}',
    summary: 'Let a person administer the installation',
    description: 'For keys of level INSTANCE. It counts in sessions that begin by a sign-in link of such a key.',
    tag,
    document: `mutation ($userId: ID!) { setOperator(id: $userId, isOperator: true) { ${userFields} } }`,
  },
  {
    operationId: 'removeOperator',
    method: 'delete',
    path: '/api/v1/admin/operators/{userId}',
    summary: 'End the right to administer the installation',
    description: 'For keys of level INSTANCE. Sessions with that reach end at once. Answers who it was.',
    tag,
    document: `mutation ($userId: ID!) { setOperator(id: $userId, isOperator: false) { ${userFields} } }`,
  },
];

const memberships: readonly DeclaredRoute[] = [
  {
    operationId: 'listMemberships',
    method: 'get',
    path: '/api/v1/admin/memberships',
    summary: 'List memberships',
    description: "Those within the key's administration, newest first.",
    tag,
    document: `query ($orgId: ID, $userId: ID, $limit: Int = 100, $cursor: String) {
      memberships(orgId: $orgId, userId: $userId, first: $limit, after: $cursor) { nodes { ${membershipFields} } ${pageInfo} }
    }`,
    query: { orgId: 'Only those of this organization.', userId: 'Only those of this user.', ...pageQuery },
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'createMembership',
    method: 'post',
    path: '/api/v1/admin/memberships',
    summary: 'Make a user a member of an organization',
    description:
      'A user who is known, in an organization of the same tenant. Add a person by e-mail under `/api/v1/admin/users`.',
    tag,
    document: `mutation ($input: CreateMembershipInput!) { createMembership(input: $input) { ${membershipFields} } }`,
    body: 'input',
    example: { userId: 'user_01ke2s7d4vfzgv0b4xw2q9a1bc', role: 'MEMBER' },
  },
  {
    operationId: 'getMembership',
    method: 'get',
    path: '/api/v1/admin/memberships/{membershipId}',
    summary: 'Get membership',
    description: 'Which role a person has in an organization.',
    tag,
    document: `query ($membershipId: ID!) { membership(id: $membershipId) { ${membershipFields} } }`,
  },
  {
    operationId: 'updateMembership',
    method: 'patch',
    path: '/api/v1/admin/memberships/{membershipId}',
    summary: 'Change a role',
    description: 'Keys of the user follow within a second. 409 for the last administrator of an organization.',
    tag,
    document: `mutation ($membershipId: ID!, $input: UpdateMembershipInput!) {
      updateMembership(id: $membershipId, input: $input) { ${membershipFields} }
    }`,
    body: 'input',
    example: { role: 'ADMIN' },
  },
  {
    operationId: 'deleteMembership',
    method: 'delete',
    path: '/api/v1/admin/memberships/{membershipId}',
    summary: 'End a membership',
    description: "The user's keys of the organization stop within a second. 409 for the last administrator. Answers what it was.",
    tag,
    document: `mutation ($membershipId: ID!) { deleteMembership(id: $membershipId) { ${membershipFields} } }`,
  },
];

const auditLog: DeclaredRoute = {
  operationId: 'listAuditLog',
  method: 'get',
  path: '/api/v1/admin/audit-log',
  summary: 'Who changed what',
  description:
    'In one organization, newest first: changes, what administrators read of others, exports and refusals. `value` is null for what is never recorded: secrets, instructions, whatever people write.',
  tag,
  document: `query ($orgId: ID, $actorUserId: ID, $targetId: ID, $action: String, $kind: AuditKind, $from: DateTime, $to: DateTime, $limit: Int = 100, $cursor: String) {
    auditLog(filter: { orgId: $orgId, actorUserId: $actorUserId, targetId: $targetId, action: $action, kind: $kind, from: $from, to: $to }, first: $limit, after: $cursor) {
      nodes { id createdAt orgId actorUserId actorEmail actorKeyId action kind outcome count targetKind targetId targetIds changes { member values isList } requestId address }
      ${pageInfo}
    }
  }`,
  query: {
    orgId: "The organization. Default: the key's.",
    actorUserId: 'Only what this user did.',
    targetId: 'Only what was done to this.',
    action: 'Only this operation, as GraphQL names it: `createAgent`.',
    kind: 'Only entries of this kind: CHANGE, READ or REFUSAL.',
    from: 'Entries from this moment on.',
    to: 'Entries before this moment.',
    ...pageQuery,
  },
  wrap: 'data',
  page: 'cursor',
  shapes: { changes: auditChanges },
};

export const administrationRoutes: readonly DeclaredRoute[] = [
  ...tenants,
  ...organizations,
  ...users,
  ...operators,
  ...memberships,
  auditLog,
];
