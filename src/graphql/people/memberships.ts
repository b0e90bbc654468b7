import {
  createMembership,
  deleteMembership,
  getMembership,
  getMemberships,
  listMemberships,
  loadMembershipPages,
  updateMembership,
} from '../../domain/people/memberships.ts';
import type { PageRequest } from '../../entities/ground/page.ts';
import { batched } from '../ground/builder/batched.ts';
import { builder } from '../ground/builder/builder.ts';
import { loadNode, registerNode } from '../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { MembershipRef, OrganizationRef, UserRef } from '../ground/refs.ts';
import { NodeType } from '../ground/types/node.ts';
import { MemberRoleType } from './accounts.ts';

const MembershipType = MembershipRef.implement({
  access: { scope: 'ADMIN:READ' },
  description: 'A user in an organization.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the membership.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user became a member.' }),
    orgId: t.exposeID('orgId', { description: 'The id of the organization.' }),
    userId: t.exposeID('userId', { description: 'The id of the user.' }),
    role: t.expose('role', { type: MemberRoleType, description: 'The role of the user.' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user; null when the user was deleted at the same time.',
      resolve: ({ userId }, _args, context) => loadNode(context, 'user', userId),
    }),
    organization: t.field({
      type: OrganizationRef,
      nullable: true,
      description: 'The organization; null when it was deleted at the same time.',
      resolve: ({ orgId }, _args, context) => loadNode(context, 'organization', orgId),
    }),
  }),
});

registerNode('membership', {
  typeName: 'Membership',
  operation: 'Query.membership',
  loadMany: (ids, { deps, caller }) => getMemberships(deps, caller, ids),
});

const MembershipConnection = makeConnection(MembershipType, 'Membership', 'Memberships');

builder.objectField(UserRef, 'memberships', (t) =>
  t.field({
    type: MembershipConnection,
    nullable: true,
    description: "The user's memberships within the caller's administration, newest first; null for who administers nothing.",
    args: { ...pageArgs(t.arg) },
    resolve: ({ id }, args, context) => membershipsOf(context, id, 'user', pageRequest(context, args)),
  }),
);
builder.objectField(UserRef, 'organizations', (t) =>
  t.field({
    type: [OrganizationRef],
    nullable: true,
    description: `The organizations of these memberships, at most ${organizationsMax}: \`memberships\` has more. Null for who administers nothing.`,
    resolve: async ({ id }, _args, context) => {
      const page = await membershipsOf(context, id, 'user', { limit: organizationsMax, after: undefined });
      if (page === null) return null;
      const foundNodes = await Promise.all(page.items.map(({ orgId }) => loadNode(context, 'organization', orgId)));
      return foundNodes.filter((organization) => organization !== null);
    },
  }),
);
builder.objectField(OrganizationRef, 'members', (t) =>
  t.field({
    type: MembershipConnection,
    nullable: true,
    description: 'Its people with their roles, the last added first; null for who does not administer it.',
    args: { ...pageArgs(t.arg) },
    resolve: ({ id }, args, context) => membershipsOf(context, id, 'organization', pageRequest(context, args)),
  }),
);

/** `organizations` of a user has at most so many. */
const organizationsMax = 100;

const membershipsOf = batched((ids: readonly string[], { deps, caller }, owner: 'user' | 'organization', page: PageRequest) =>
  loadMembershipPages(deps, caller, owner, ids, page),
);

builder.queryFields((t) => ({
  membership: t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: MembershipType,
    nullable: true,
    description: "One membership within the caller's administration; null when there is none.",
    args: { id: t.arg.id({ description: 'The id of the membership.' }) },
    resolve: (_root, { id }, { deps, caller }) => getMembership(deps, caller, id),
  }),
  memberships: t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: MembershipConnection,
    description: "Memberships within the caller's administration, newest first.",
    args: {
      orgId: t.arg.id({ required: false, description: 'Only those of this organization.' }),
      userId: t.arg.id({ required: false, description: 'Only those of this user.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { first, after, last, before, ...filter }, context) =>
      listMemberships(context.deps, context.caller, filter, pageRequest(context, { first, after, last, before })),
  }),
}));

const CreateMembershipInput = builder.inputType('CreateMembershipInput', {
  description: 'A user who is known becomes a member of an organization. `createUser` adds somebody by e-mail.',
  fields: (t) => ({
    userId: t.id({ description: "A user within the caller's administration." }),
    orgId: t.id({ required: false, description: "Default: the caller's organization. Others need a TENANT or INSTANCE key." }),
    role: t.field({ type: MemberRoleType, required: false, description: 'Default MEMBER.' }),
  }),
});

const UpdateMembershipInput = builder.inputType('UpdateMembershipInput', {
  description: 'Changes of a membership.',
  fields: (t) => ({ role: t.field({ type: MemberRoleType, description: 'The new role of the user.' }) }),
});

builder.mutationFields((t) => ({
  createMembership: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: MembershipType,
    description: 'Makes a user a member of an organization of the same tenant.',
    args: { input: t.arg({ type: CreateMembershipInput, description: 'The user, the organization and the role.' }) },
    resolve: (_root, { input }, { deps, caller }) => createMembership(deps, caller, input),
  }),
  updateMembership: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: MembershipType,
    description: "Changes a role; the user's keys follow within a second. The last administrator stays one.",
    args: {
      id: t.arg.id({ description: 'The id of the membership.' }),
      input: t.arg({ type: UpdateMembershipInput, description: 'The members to change.' }),
    },
    resolve: (_root, { id, input }, { deps, caller }) => updateMembership(deps, caller, id, input),
  }),
  deleteMembership: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: MembershipType,
    description:
      "Ends a membership: the user's keys of the organization stop within a second. The last administrator stays. Answers what it was.",
    args: { id: t.arg.id({ description: 'The id of the membership.' }) },
    resolve: (_root, { id }, { deps, caller }) => deleteMembership(deps, caller, id),
  }),
}));
