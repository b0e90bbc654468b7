import { pageInfo, pageQuery } from '../../paging.ts';
import type { DeclaredRoute } from '../../route.ts';

const tag = 'Administration';
const fields = 'id createdAt orgId email role groupIds status expiresAt delivery deliveryProblem acceptedAt userId';

export const invitationRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'listInvitations',
    method: 'get',
    path: '/api/v1/admin/invitations',
    summary: 'List invitations',
    description: "Those within the key's administration, newest first, until a month after their end.",
    tag,
    document: `query ($orgId: ID, $limit: Int = 100, $cursor: String) {
      invitations(orgId: $orgId, first: $limit, after: $cursor) { nodes { ${fields} } ${pageInfo} }
    }`,
    query: {
      orgId: 'Only those of this organization.',
      ...pageQuery,
    },
    wrap: 'data',
    page: 'cursor',
  },
  {
    operationId: 'createInvitation',
    method: 'post',
    path: '/api/v1/admin/invitations',
    summary: 'Invite a person',
    description:
      'A person becomes a member by a link, which works once, for seven days and for this address only. `url` holds a secret: it is shown once. It is mailed too where the installation sends mail (`delivery`). Needs a key with all scopes of the role.',
    tag,
    document: `mutation ($input: InviteInput!) { invite(input: $input) { url invitation { ${fields} } } }`,
    body: 'input',
    example: { email: 'bob@example.com', role: 'MEMBER' },
  },
  {
    operationId: 'revokeInvitation',
    method: 'delete',
    path: '/api/v1/admin/invitations/{invitationId}',
    summary: 'Revoke an invitation',
    description: 'Its links stop at once. 404 for one that is not open any more. Answers what it was.',
    tag,
    document: `mutation ($invitationId: ID!) { revokeInvitation(id: $invitationId) { ${fields} } }`,
  },
];
