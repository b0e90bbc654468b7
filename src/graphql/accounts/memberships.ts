import { organizationsById, usersById } from '../../domain/accounts/accounts.ts';
import {
  createMembership,
  deleteMembership,
  getMembership,
  listMemberships,
  updateMembership,
} from '../../domain/accounts/memberships.ts';
import { builder } from '../builder/builder.ts';
import { connectionOf, pageArgs, pageRequest } from '../pagination.ts';
import { MembershipRef } from '../refs.ts';
import { MemberRoleType, OrganizationType, UserType } from './accounts.ts';

const MembershipType = MembershipRef.implement({
  access: { scope: 'ADMIN:READ' },
  description: 'A user in an organization.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the membership.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user became a member.' }),
    orgId: t.exposeID('orgId', { description: 'The id of the organization.' }),
    userId: t.exposeID('userId', { description: 'The id of the user.' }),
    role: t.expose('role', { type: MemberRoleType, description: 'The role of the user.' }),
    user: t.loadable({
      type: UserType,
      description: 'The user.',
      load: (ids: string[], { deps }) => usersById(deps, ids),
      resolve: ({ userId }) => userId,
    }),
    organization: t.loadable({
      type: OrganizationType,
      description: 'The organization.',
      load: (ids: string[], { deps }) => organizationsById(deps, ids),
      resolve: ({ orgId }) => orgId,
    }),
  }),
});

const MembershipConnection = connectionOf(MembershipType, 'Membership', 'Memberships');

builder.queryFields((t) => ({
  membership: t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: MembershipType,
    description: "One membership within the caller's administration.",
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
