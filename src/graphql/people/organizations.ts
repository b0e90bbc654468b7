import {
  createOrganization,
  deleteOrganization,
  getOrganization,
  listOrganizations,
  updateOrganization,
} from '../../domain/people/organizations.ts';
import { builder } from '../ground/builder/builder.ts';
import { makeConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { TenantRef } from '../ground/refs.ts';
import { OrganizationType } from './accounts.ts';

const OrganizationConnection = makeConnection(OrganizationType, 'Organization', 'Organizations');

builder.objectField(TenantRef, 'organizations', (t) =>
  t.field({
    type: OrganizationConnection,
    description: 'Its organizations, newest first.',
    args: { ...pageArgs(t.arg) },
    resolve: ({ id }, args, context) => listOrganizations(context.deps, context.caller, id, pageRequest(context, args)),
  }),
);

builder.queryFields((t) => ({
  organization: t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: OrganizationType,
    nullable: true,
    description: "One organization within the caller's administration; null when there is none.",
    args: { id: t.arg.id({ description: 'The id of the organization.' }) },
    resolve: (_root, { id }, { deps, caller }) => getOrganization(deps, caller, id),
  }),
  organizations: t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: OrganizationConnection,
    description: "Organizations within the caller's administration, newest first.",
    args: { tenantId: t.arg.id({ required: false, description: 'Only those of this tenant.' }), ...pageArgs(t.arg) },
    resolve: (_root, { tenantId, ...args }, context) =>
      listOrganizations(context.deps, context.caller, tenantId ?? undefined, pageRequest(context, args)),
  }),
}));

const limitDescriptions = {
  data: 'Tokens it may use for embedding and indexing; null: no limit.',
  api: 'Tokens it may use for runs; null: no limit.',
};

const CreateOrganizationInput = builder.inputType('CreateOrganizationInput', {
  description: 'A new organization.',
  fields: (t) => ({
    name: t.string({ description: '1 to 200 characters.' }),
    tenantId: t.id({ required: false, description: "Default: the caller's tenant. Others need an INSTANCE key." }),
    dataUsageTokenLimit: t.field({ type: 'Count', required: false, description: limitDescriptions.data }),
    apiUsageTokenLimit: t.field({ type: 'Count', required: false, description: limitDescriptions.api }),
  }),
});

const UpdateOrganizationInput = builder.inputType('UpdateOrganizationInput', {
  description: 'Changes of an organization: absent members are kept.',
  fields: (t) => ({
    name: t.string({ required: false, description: '1 to 200 characters; null keeps it.' }),
    dataUsageTokenLimit: t.field({ type: 'Count', required: false, description: limitDescriptions.data }),
    apiUsageTokenLimit: t.field({ type: 'Count', required: false, description: limitDescriptions.api }),
  }),
});

builder.mutationFields((t) => ({
  createOrganization: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: OrganizationType,
    description: 'Adds an organization, for TENANT and INSTANCE keys.',
    args: { input: t.arg({ type: CreateOrganizationInput, description: 'The members of the new organization.' }) },
    resolve: (_root, { input }, { deps, caller }) => createOrganization(deps, caller, input),
  }),
  updateOrganization: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: OrganizationType,
    description:
      'Renames an organization or sets its limits, for TENANT and INSTANCE keys. Limits hold for the calls that begin from then on.',
    args: {
      id: t.arg.id({ description: 'The id of the organization.' }),
      input: t.arg({ type: UpdateOrganizationInput, description: 'The members to change.' }),
    },
    resolve: (_root, { id, input }, { deps, caller }) => updateOrganization(deps, caller, id, input),
  }),
  deleteOrganization: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: OrganizationType,
    description:
      'Deletes an organization without agents and data sources, for TENANT and INSTANCE keys: its members, keys and groups at once, the rest behind the reply. Answers what it was.',
    args: { id: t.arg.id({ description: 'The id of the organization.' }) },
    resolve: (_root, { id }, { deps, caller }) => deleteOrganization(deps, caller, id),
  }),
}));
