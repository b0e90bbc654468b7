import type { DeclaredRoute } from '../../route.ts';

export const signInRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'createSignInLink',
    method: 'post',
    path: '/api/v1/admin/sign-in-links',
    summary: 'Create sign-in link',
    description:
      'Signs a member in with a browser, once and within an hour, with all rights of the role. `url` holds a secret: it is shown once. Administrators make links, with keys that have all scopes of the role.',
    tag: 'Administration',
    document: 'mutation ($input: CreateSignInLinkInput!) { createSignInLink(input: $input) { url expiresAt userId orgId } }',
    body: 'input',
    example: { email: 'ann@example.com' },
  },
];
