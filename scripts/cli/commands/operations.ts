/** `parley <noun> <verb>` → the operation of the REST interface that it calls. */
export const operations: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  tenants: {
    list: 'listTenants',
    get: 'getTenant',
    create: 'createTenant',
    update: 'updateTenant',
    delete: 'deleteTenant',
  },
  organizations: {
    list: 'listOrganizations',
    get: 'getOrganization',
    create: 'createOrganization',
    update: 'updateOrganization',
    delete: 'deleteOrganization',
  },
  limits: { get: 'getOrganization', set: 'updateOrganization' },
  users: { list: 'listUsers', get: 'getUser', create: 'createUser', update: 'updateUser', delete: 'deleteUser' },
  operators: { add: 'addOperator', remove: 'removeOperator' },
  memberships: {
    list: 'listMemberships',
    get: 'getMembership',
    create: 'createMembership',
    update: 'updateMembership',
    delete: 'deleteMembership',
  },
  keys: { list: 'listApiKeys', create: 'createApiKey', revoke: 'revokeApiKey' },
  groups: { list: 'listMyGroups', get: 'getGroup', create: 'createGroup', update: 'updateGroup', delete: 'deleteGroup' },
  sources: { get: 'getDataSource', refresh: 'refreshDataSource', delete: 'deleteDataSource' },
  chats: { create: 'createChat', delete: 'deleteChat' },
  usage: { show: 'getUsage', days: 'listUsageDays' },
  audit: { list: 'listAuditLog' },
  models: { list: 'listModels' },
};
