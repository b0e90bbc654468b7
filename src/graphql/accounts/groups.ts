import {
  createGroup,
  deleteGroup,
  getGroup,
  getGroups,
  listGroupMembers,
  listMyGroups,
  updateGroup,
} from '../../domain/accounts/groups.ts';
import { type GroupMember, groupAvailabilities } from '../../entities/accounts/group.ts';
import { builder } from '../builder/builder.ts';
import { registerNode } from '../builder/nodes.ts';
import { GroupRef } from '../refs.ts';
import { enumOf } from '../types/enums.ts';
import { NodeType } from '../types/node.ts';

const GroupAvailabilityType = enumOf('GroupAvailability', 'Who sees a group.', groupAvailabilities, {
  EVERYONE: 'Everyone in its organization.',
  RESTRICTED: 'Its members only, besides its owner and administrators.',
});

const GroupMemberType = builder.objectRef<GroupMember>('GroupMember').implement({
  access: { scope: 'GROUPS:READ' },
  description: 'A member of a group, named by e-mail.',
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the member was added.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the entry was last changed.' }),
    userId: t.string({
      description: 'The id of the user; empty until a user of this e-mail exists.',
      resolve: ({ userId }) => userId ?? '',
    }),
    email: t.exposeString('email', { description: 'In lower case.' }),
  }),
});

export const GroupType = GroupRef.implement({
  access: { scope: 'GROUPS:READ' },
  description: 'Users who share agents.',
  interfaces: [NodeType],
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    orgId: t.exposeID('orgId', { description: 'The organization it belongs to.' }),
    ownerUserId: t.exposeID('ownerUserId', { description: 'Its owner.' }),
    name: t.exposeString('name', { description: 'Never blank.' }),
    availability: t.expose('availability', { type: GroupAvailabilityType, description: 'Who sees it.' }),
    users: t.loadableList({
      type: GroupMemberType,
      description: 'Its members, oldest first; at most 1,000.',
      load: (groupIds: string[], { deps }) => listGroupMembers(deps, groupIds) as never,
      resolve: ({ id }) => id,
    }),
  }),
});

registerNode('group', {
  typeName: 'Group',
  operation: 'Query.group',
  loadMany: (ids, { deps, caller }) => getGroups(deps, caller, ids),
});

builder.queryFields((t) => ({
  group: t.field({
    authScopes: { key: 'GROUPS:READ' },
    type: GroupType,
    description: 'One group. NOT_FOUND when there is none or the caller may not see it.',
    args: { id: t.arg.id({ description: 'The id of the group.' }) },
    resolve: (_root, { id }, { deps, caller }) => getGroup(deps, caller, id),
  }),
  myGroups: t.field({
    authScopes: { key: 'GROUPS:READ' },
    type: [GroupType],
    description: 'The groups the caller owns or is a member of, newest first; at most 1,000.',
    resolve: (_root, _args, { deps, caller }) => listMyGroups(deps, caller),
  }),
}));

const CreateGroupInput = builder.inputType('CreateGroupInput', {
  description: 'A new group.',
  fields: (t) => ({
    name: t.string({ description: '1 to 200 characters.' }),
    availability: t.field({ type: GroupAvailabilityType, description: 'Who sees it.' }),
    memberEmails: t.string({ description: 'E-mail addresses of its members, separated by commas; may be empty.' }),
  }),
});

const UpdateGroupInput = builder.inputType('UpdateGroupInput', {
  description: 'Changes of a group: absent and null members are kept.',
  fields: (t) => ({
    name: t.string({ required: false, description: '1 to 200 characters.' }),
    availability: t.field({ type: GroupAvailabilityType, required: false, description: 'Who sees it.' }),
    memberEmailsToAdd: t.string({ required: false, description: 'E-mail addresses separated by commas.' }),
    memberEmailsToRemove: t.stringList({ required: false, description: 'E-mail addresses; those of no member are ignored.' }),
  }),
});

builder.mutationFields((t) => ({
  createGroup: t.field({
    authScopes: { key: 'GROUPS:WRITE' },
    type: GroupType,
    description: "Makes a group of the caller's organization; the caller owns it.",
    args: { input: t.arg({ type: CreateGroupInput, description: 'The members of the new group.' }) },
    resolve: (_root, { input }, { deps, caller }) => createGroup(deps, caller, input),
  }),
  updateGroup: t.field({
    authScopes: { key: 'GROUPS:WRITE' },
    type: GroupType,
    description: 'Changes a group, for its owner and administrators.',
    args: {
      id: t.arg.id({ description: 'The id of the group.' }),
      input: t.arg({ type: UpdateGroupInput, description: 'The members to change.' }),
    },
    resolve: (_root, { id, input }, { deps, caller }) => updateGroup(deps, caller, id, input),
  }),
  deleteGroup: t.field({
    authScopes: { key: 'GROUPS:WRITE' },
    type: GroupType,
    description: 'Deletes a group, for its owner and administrators. Answers what it was.',
    args: { id: t.arg.id({ description: 'The id of the group.' }) },
    resolve: (_root, { id }, { deps, caller }) => deleteGroup(deps, caller, id),
  }),
}));
