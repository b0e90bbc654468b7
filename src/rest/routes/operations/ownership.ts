import type { DeclaredRoute } from '../../route.ts';

export const ownershipRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'transferOwnership',
    method: 'post',
    path: '/api/v1/users/{toUserId}/ownership',
    summary: 'Hand over what somebody owns',
    description:
      "Gives one thing, or all that a person owns in the organization (`allOf`, at most 90 things a call), to the member of the path. For the owner and administrators. Sources need the scope DATA_SOURCES:WRITE too, groups GROUPS:WRITE. Connections, keys, chats and memories stay with their person. 409 for an agent that would open what is the new owner's.",
    tag: 'Administration',
    document: `mutation ($input: TransferOwnershipInput!, $toUserId: ID!) {
      transferOwnership(input: $input, toUserId: $toUserId) { agents dataSources groups kept isMoreLeft }
    }`,
    body: 'input',
    example: { allOf: { userId: 'user_01ke2s7d4vfzgv0b4xw2q9a1bc' } },
  },
];
