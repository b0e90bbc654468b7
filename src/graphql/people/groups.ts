import { canEditGroup, mayChange } from '../../domain/ground/access/access.ts';
import {
  type CreateGroupInput as CreateShape,
  createGroup,
  deleteGroup,
  getGroup,
  getGroups,
  groupMemberPages,
  groupPagesOfUsers,
  listGroups,
  listMyGroups,
  membersMax,
  type UpdateGroupInput as UpdateShape,
  updateGroup,
} from '../../domain/people/groups.ts';
import type { PageRequest } from '../../entities/ground/page.ts';
import { type GroupMember, groupAvailabilities } from '../../entities/people/group.ts';
import { describe } from '../../wire/ground/body.ts';
import { groupChangesBody, newGroupBody } from '../../wire/people.ts';
import { batched } from '../ground/builder/batched.ts';
import { builder } from '../ground/builder/builder.ts';
import { flatInput } from '../ground/builder/flat-inputs.ts';
import { loadNode, registerNode } from '../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest, wholeRequest } from '../ground/pagination.ts';
import { GroupRef, OrganizationRef, UserRef } from '../ground/refs.ts';
import { createEnum } from '../ground/types/enums.ts';
import { NodeType } from '../ground/types/node.ts';

const GroupAvailabilityType = createEnum('GroupAvailability', 'Who sees a group.', groupAvailabilities, {
  EVERYONE: 'Everyone in its organization.',
  RESTRICTED: 'Its members only, besides its owner and administrators.',
});

const GroupMemberType = builder.objectRef<GroupMember>('GroupMember').implement({
  access: { scope: 'GROUPS:READ' },
  description: 'A member of a group, named by e-mail.',
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the member was added.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the entry was last changed.' }),
    userId: t.exposeID('userId', {
      nullable: true,
      description: 'The id of the user; null until a user of this e-mail exists.',
    }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user; null until one of this e-mail exists, and for one who left the organization.',
      resolve: ({ userId }, _args, context) => loadNode(context, 'user', userId),
    }),
    email: t.exposeString('email', { description: 'In lower case.' }),
  }),
});

const GroupMemberConnection = makeConnection(GroupMemberType, 'GroupMember', 'Members');

const membersOfGroup = batched((ids: readonly string[], { deps }, page: PageRequest) => groupMemberPages(deps, ids, page));

export const GroupType = GroupRef.implement({
  access: { scope: 'GROUPS:READ' },
  description: 'Users who share agents.',
  interfaces: [NodeType],
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    orgId: t.exposeID('orgId', { description: 'The organization it belongs to.' }),
    organization: t.field({
      type: OrganizationRef,
      nullable: true,
      description: 'The organization it belongs to; null for one that the caller may not see.',
      resolve: ({ orgId }, _args, context) => loadNode(context, 'organization', orgId),
    }),
    ownerUserId: t.exposeID('ownerUserId', { description: 'Its owner.' }),
    owner: t.field({
      type: UserRef,
      nullable: true,
      description: 'Its owner; null for one who left the organization.',
      resolve: ({ ownerUserId }, _args, context) => loadNode(context, 'user', ownerUserId),
    }),
    name: t.exposeString('name', { description: 'Never blank.' }),
    availability: t.expose('availability', { type: GroupAvailabilityType, description: 'Who sees it.' }),
    canEdit: t.boolean({
      description: 'Whether the caller may change and delete it.',
      resolve: (group, _args, { caller }) => mayChange(caller) && canEditGroup(caller, group),
    }),
    members: t.field({
      type: GroupMemberConnection,
      description: `Its members, oldest first; a group has at most ${membersMax.toLocaleString('en')}.`,
      args: pageArgs(t.arg),
      resolve: ({ id }, args, context) => membersOfGroup(context, id, wholeRequest(context, args, membersMax)),
    }),
  }),
});

registerNode('group', {
  typeName: 'Group',
  operation: 'Query.group',
  loadMany: (ids, { deps, caller }) => getGroups(deps, caller, ids),
});

const GroupConnection = makeConnection(GroupType, 'Group', 'Groups');

builder.objectField(OrganizationRef, 'groups', (t) =>
  t.field({
    type: GroupConnection,
    nullable: true,
    description: 'Its groups that the caller may see, newest first.',
    args: pageArgs(t.arg),
    resolve: ({ id }, args, context) => listGroups(context.deps, context.caller, { orgId: id }, pageRequest(context, args)),
  }),
);

const groupsOfUser = batched((ids: readonly string[], { deps, caller }, page: PageRequest) =>
  groupPagesOfUsers(deps, caller, ids, page),
);

builder.objectField(UserRef, 'groups', (t) =>
  t.field({
    type: GroupConnection,
    nullable: true,
    description: 'The groups that the user is a member of and that the caller may see, newest first.',
    args: pageArgs(t.arg),
    resolve: ({ id }, args, context) => groupsOfUser(context, id, pageRequest(context, args)),
  }),
);

builder.queryFields((t) => ({
  group: t.field({
    authScopes: { key: 'GROUPS:READ' },
    type: GroupType,
    nullable: true,
    description: 'One group. Null when there is none or the caller may not see it.',
    args: { id: t.arg.id({ description: 'The id of the group.' }) },
    resolve: (_root, { id }, { deps, caller }) => getGroup(deps, caller, id),
  }),
  groups: t.field({
    authScopes: { key: 'GROUPS:READ' },
    type: GroupConnection,
    description:
      "Groups that the caller may see, newest first: those open to everyone in the caller's organization, and its own; administrators see all of it.",
    args: {
      search: t.arg.string({ required: false, description: 'Text in the name, whatever the case; at most 200 characters.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { search, ...args }, context) =>
      listGroups(context.deps, context.caller, { search }, pageRequest(context, args)),
  }),
  myGroups: t.field({
    authScopes: { key: 'GROUPS:READ' },
    type: GroupConnection,
    description: 'The groups the caller owns or is a member of, newest first.',
    args: pageArgs(t.arg),
    resolve: (_root, args, context) => listMyGroups(context.deps, context.caller, wholeRequest(context, args, groupsOnRest)),
  }),
}));

/** REST answers the groups of a person in one array. */
const groupsOnRest = 1_000;

/** E-mail addresses as a list; REST has them as one text with commas. */
const withCommas = { flatten: (value: unknown) => (value as readonly string[]).join(','), place: () => [] };
const emailsMax = `at most ${membersMax.toLocaleString('en')}`;

const CreateGroupInput = flatInput<CreateShape>(
  builder.inputType('CreateGroupInput', {
    description: 'A new group.',
    fields: (t) => ({
      name: t.string({ description: describe(newGroupBody, 'name') }),
      availability: t.field({ type: GroupAvailabilityType, description: describe(newGroupBody, 'availability') }),
      memberEmails: t.stringList({ description: `E-mail addresses of its members, ${emailsMax}; may be empty.` }),
    }),
  }),
  {
    body: newGroupBody,
    members: { memberEmails: withCommas },
  },
);

const UpdateGroupInput = flatInput<UpdateShape>(
  builder.inputType('UpdateGroupInput', {
    description: 'Changes of a group: absent and null members are kept.',
    fields: (t) => ({
      name: t.string({ required: false, description: describe(groupChangesBody, 'name') }),
      availability: t.field({
        type: GroupAvailabilityType,
        required: false,
        description: describe(groupChangesBody, 'availability'),
      }),
      memberEmailsToAdd: t.stringList({ required: false, description: `E-mail addresses of new members, ${emailsMax}.` }),
      memberEmailsToRemove: t.stringList({
        required: false,
        description: `E-mail addresses, ${emailsMax}; those of no member are ignored.`,
      }),
    }),
  }),
  {
    body: groupChangesBody,
    members: { memberEmailsToAdd: withCommas },
  },
);

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
