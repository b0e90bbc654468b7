import { createTenant, deleteTenant, getTenant, getTenants, listTenants, updateTenant } from '../../domain/people/tenants.ts';
import { builder } from '../ground/builder/builder.ts';
import { registerNode } from '../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { TenantRef } from '../ground/refs.ts';
import { NodeType } from '../ground/types/node.ts';

const TenantType = TenantRef.implement({
  access: { scope: 'ADMIN:READ' },
  description: 'The outermost boundary: only INSTANCE keys reach organizations and users across tenants.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the tenant.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    name: t.exposeString('name', { description: 'As shown to administrators.' }),
  }),
});

registerNode('tenant', {
  typeName: 'Tenant',
  operation: 'Query.tenant',
  loadMany: (ids, { deps, caller }) => getTenants(deps, caller, ids),
});

const TenantConnection = makeConnection(TenantType, 'Tenant', 'Tenants');

builder.queryFields((t) => ({
  tenant: t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: TenantType,
    nullable: true,
    description: 'One tenant, for INSTANCE keys; null when there is none.',
    args: { id: t.arg.id({ description: 'The id of the tenant.' }) },
    resolve: (_root, { id }, { deps, caller }) => getTenant(deps, caller, id),
  }),
  tenants: t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: TenantConnection,
    description: 'All tenants, newest first, for INSTANCE keys.',
    args: { ...pageArgs(t.arg) },
    resolve: (_root, args, context) => listTenants(context.deps, context.caller, pageRequest(context, args)),
  }),
}));

const CreateTenantInput = builder.inputType('CreateTenantInput', {
  description: 'A new tenant.',
  fields: (t) => ({ name: t.string({ description: '1 to 200 characters.' }) }),
});

const UpdateTenantInput = builder.inputType('UpdateTenantInput', {
  description: 'Changes of a tenant: absent and null members are kept.',
  fields: (t) => ({ name: t.string({ required: false, description: '1 to 200 characters.' }) }),
});

builder.mutationFields((t) => ({
  createTenant: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: TenantType,
    description: 'Adds a tenant, for INSTANCE keys.',
    args: { input: t.arg({ type: CreateTenantInput, description: 'The members of the new tenant.' }) },
    resolve: (_root, { input }, { deps, caller }) => createTenant(deps, caller, input),
  }),
  updateTenant: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: TenantType,
    description: 'Renames a tenant, for INSTANCE keys.',
    args: {
      id: t.arg.id({ description: 'The id of the tenant.' }),
      input: t.arg({ type: UpdateTenantInput, description: 'The members to change.' }),
    },
    resolve: (_root, { id, input }, { deps, caller }) => updateTenant(deps, caller, id, input),
  }),
  deleteTenant: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: TenantType,
    description: 'Deletes a tenant without organizations, and its users, for INSTANCE keys. Answers what it was.',
    args: { id: t.arg.id({ description: 'The id of the tenant.' }) },
    resolve: (_root, { id }, { deps, caller }) => deleteTenant(deps, caller, id),
  }),
}));
