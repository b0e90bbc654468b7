import { checkGroupInput } from '../../../domain/people/groups.ts';
import type { DeclaredRoute } from '../../route.ts';

const groupFields = 'id createdAt updatedAt orgId ownerUserId name availability';
/** The members that REST shows in other forms. */
const ownMembers = {
  terms: { whole: true as const },
  lists: { users: 'Its members, oldest first; at most 1,000.' },
  blankNull: { userId: 'The id of the user; empty until a user of this e-mail exists.' },
};
const groupWithUsers = `${groupFields} users: members { nodes { createdAt updatedAt userId email } }`;

export const groupRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'createGroup',
    method: 'post',
    path: '/api/v1/groups',
    summary: 'Create group',
    description: 'Members are named by e-mail, also before they have an account.',
    tag: 'Groups',
    spec: 'Create group',
    checkBody: checkGroupInput,
    schemas: { Group: 'GroupWithUsers' },
    ...ownMembers,
    document: `mutation ($input: CreateGroupInput!) { createGroup(input: $input) { ${groupWithUsers} } }`,
    body: 'input',
    example: { name: 'Writers', availability: 'RESTRICTED', memberEmails: 'ann@example.com, bob@example.com' },
  },
  {
    operationId: 'listMyGroups',
    method: 'get',
    path: '/api/v1/groups',
    summary: 'List groups of the current user',
    description: 'A bare array, newest first, without `users`.',
    tag: 'Groups',
    spec: 'List groups of the current user',
    document: `query { myGroups { nodes { ${groupFields} } } }`,
    terms: { whole: true },
    member: 'nodes',
  },
  {
    operationId: 'getGroup',
    method: 'get',
    path: '/api/v1/groups/{groupId}',
    summary: 'Get group',
    description: 'Its name, who may see it, and its members as far as the caller may see them.',
    tag: 'Groups',
    schemas: { Group: 'GroupWithUsers' },
    ...ownMembers,
    document: `query ($groupId: ID!) { group(id: $groupId) { ${groupWithUsers} } }`,
  },
  {
    operationId: 'updateGroup',
    method: 'patch',
    path: '/api/v1/groups/{groupId}',
    summary: 'Update group',
    description: 'Changes the members that the body names; people are added and removed by e-mail.',
    tag: 'Groups',
    spec: 'Update group',
    checkBody: checkGroupInput,
    schemas: { Group: 'GroupWithUsers' },
    ...ownMembers,
    document: `mutation ($groupId: ID!, $input: UpdateGroupInput!) { updateGroup(id: $groupId, input: $input) { ${groupWithUsers} } }`,
    body: 'input',
    example: {
      name: 'Writers',
      availability: 'EVERYONE',
      memberEmailsToAdd: 'cleo@example.com',
      memberEmailsToRemove: ['bob@example.com'],
    },
  },
  {
    operationId: 'deleteGroup',
    method: 'delete',
    path: '/api/v1/groups/{groupId}',
    summary: 'Delete group',
    description: 'For its owner and administrators. Answers the group as it was.',
    tag: 'Groups',
    document: `mutation ($groupId: ID!) { deleteGroup(id: $groupId) { ${groupFields} } }`,
  },
];
