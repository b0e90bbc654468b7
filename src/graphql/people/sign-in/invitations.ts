import {
  getInvitations,
  invite,
  listInvitations,
  type MadeInvitation,
  revokeInvitation,
} from '../../../domain/people/sign-in/invitations.ts';
import {
  type Invitation,
  invitationDeliveries,
  invitationStatus,
  invitationStatuses,
} from '../../../entities/people/invitation.ts';
import { builder } from '../../ground/builder/builder.ts';
import { loadNode, loadNodes, registerNode } from '../../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { GroupRef, OrganizationRef, UserRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { NodeType } from '../../ground/types/node.ts';
import { MemberRoleType } from '../accounts.ts';

const InvitationStatusType = createEnum('InvitationStatus', 'What became of an invitation.', invitationStatuses, {
  PENDING: 'It can be accepted.',
  ACCEPTED: 'The person became a member.',
  REVOKED: 'It was revoked, or another one took its place.',
  EXPIRED: 'Seven days have passed.',
});

const InvitationDeliveryType = createEnum('InvitationDelivery', 'Whether an invitation was sent by mail.', invitationDeliveries, {
  NONE: 'This installation sends no mail.',
  WAITING: 'It is about to be sent; after a failure it is tried again.',
  SENT: 'The mail server took it.',
  FAILED: 'It was given up: give the person a link.',
});

const InvitationType = builder.objectRef<Invitation>('Invitation').implement({
  access: { scope: 'ADMIN:READ' },
  description: 'A person who was asked to become a member of an organization.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the invitation; not the secret.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the person was invited.' }),
    orgId: t.exposeID('orgId', { description: 'The id of the organization.' }),
    organization: t.field({
      type: OrganizationRef,
      nullable: true,
      description: 'The organization; null when it was deleted at the same time.',
      resolve: ({ orgId }, _args, context) => loadNode(context, 'organization', orgId),
    }),
    email: t.exposeString('email', { description: 'Whom it is for, in lower case.' }),
    role: t.expose('role', { type: MemberRoleType, description: 'The role of the new member.' }),
    groupIds: t.exposeIDList('groupIds', { description: 'The groups that the new member joins, as far as they still exist.' }),
    groups: t.field({
      type: [GroupRef],
      nullable: true,
      description: 'These groups; null for a key without the scope GROUPS:READ.',
      resolve: ({ groupIds }, _args, context) => loadNodes(context, 'group', groupIds),
    }),
    status: t.field({
      type: InvitationStatusType,
      description: 'What became of it.',
      resolve: (invitation, _args, { deps }) => invitationStatus(invitation, deps.now()),
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'Until when it can be accepted.' }),
    delivery: t.expose('delivery', { type: InvitationDeliveryType, description: 'Whether it was sent by mail.' }),
    deliveryProblem: t.exposeString('deliveryProblem', {
      nullable: true,
      description: 'What the mail server said when it was last tried; null after a success.',
    }),
    acceptedAt: t.expose('acceptedAt', { type: 'DateTime', nullable: true, description: 'When the person accepted it.' }),
    userId: t.exposeID('userId', { nullable: true, description: 'The user who accepted it.' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user who accepted it; null for one that the caller may not see.',
      resolve: ({ userId }, _args, context) => loadNode(context, 'user', userId),
    }),
  }),
});

registerNode('invitation', {
  typeName: 'Invitation',
  operation: 'Query.invitations',
  loadMany: (ids, { deps, caller }) => getInvitations(deps, caller, ids),
});

const InvitationConnection = makeConnection(InvitationType, 'Invitation', 'Invitations');

const InvitePayload = builder.objectRef<MadeInvitation>('InvitePayload').implement({
  access: { scope: 'ADMIN:WRITE' },
  description: 'A new invitation, and the link that accepts it.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'The link, with its secret. It is shown once and kept nowhere.' }),
    invitation: t.expose('invitation', {
      type: InvitationType,
      description: 'The invitation. `delivery` says whether it is mailed too.',
    }),
  }),
});

builder.queryField('invitations', (t) =>
  t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: InvitationConnection,
    description: "Invitations within the caller's administration, newest first, until a month after their end.",
    args: { orgId: t.arg.id({ required: false, description: 'Only those of this organization.' }), ...pageArgs(t.arg) },
    resolve: (_root, { orgId, ...args }, context) =>
      listInvitations(context.deps, context.caller, orgId, pageRequest(context, args)),
  }),
);

const InviteInput = builder.inputType('InviteInput', {
  description: 'A person who is asked to become a member.',
  fields: (t) => ({
    email: t.string({ description: 'The address of the person. Only a user of this address can be made by the link.' }),
    orgId: t.id({ required: false, description: "Default: the caller's organization. Others need a TENANT or INSTANCE key." }),
    role: t.field({ type: MemberRoleType, required: false, description: 'Default MEMBER.' }),
    groupIds: t.idList({ required: false, description: 'Groups of the organization that the person joins; at most 100.' }),
  }),
});

builder.mutationFields((t) => ({
  invite: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: InvitePayload,
    description:
      'Asks a person to become a member, by a link that works once and for seven days; it is mailed where the installation sends mail. An open invitation of the address ends. Needs a key with all scopes of the role.',
    args: { input: t.arg({ type: InviteInput, description: 'Whom to invite, and as what.' }) },
    resolve: (_root, { input }, { deps, caller }) => invite(deps, caller, input),
  }),
  revokeInvitation: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: InvitationType,
    description: 'Ends an open invitation: its links stop at once. Answers what it was.',
    args: { id: t.arg.id({ description: 'The id of the invitation.' }) },
    resolve: (_root, { id }, { deps, caller }) => revokeInvitation(deps, caller, id),
  }),
}));
