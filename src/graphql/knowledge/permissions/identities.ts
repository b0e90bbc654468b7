import { identityProofs, listIdentities, type SourceIdentity } from '../../../domain/knowledge/permissions/identities.ts';
import { identityServices } from '../../../entities/knowledge/permissions.ts';
import { builder } from '../../ground/builder/builder.ts';
import { IntegrationRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';

const ServiceType = createEnum('IdentityService', 'A service whose accounts have one id each.', identityServices, {
  google: 'Google Drive.',
  microsoft: 'OneDrive and SharePoint.',
  atlassian: 'Confluence and Jira.',
  github: 'GitHub.',
});
const ProofType = createEnum('IdentityProof', 'What vouches for an identity.', identityProofs, {
  SIGN_IN: 'A provider of sign-ins that calls the e-mail verified, or an invitation that was mailed there and accepted.',
  DIRECTORY: 'The directory of the organization, which keeps the person.',
  CONNECTION: 'An own connection to the service.',
  NONE: 'Nothing: it opens no document.',
});

const IdentityType = builder.objectRef<SourceIdentity>('SourceIdentity').implement({
  access: { scope: 'CONNECTIONS:READ' },
  description: 'What a person is known by at sources that are MIRRORED.',
  fields: (t) => ({
    service: t.expose('service', {
      type: ServiceType,
      nullable: true,
      description: 'Whose account it is; null for the e-mail of the person, which counts wherever e-mails do.',
    }),
    accountId: t.exposeString('accountId', { nullable: true, description: 'The id of the account at the service.' }),
    email: t.exposeString('email', {
      nullable: true,
      description: 'The e-mail; of an account, the one that its service calls verified.',
    }),
    proof: t.expose('proof', { type: ProofType, description: 'What vouches for it.' }),
    provenAt: t.expose('provenAt', { type: 'DateTime', nullable: true, description: 'Since when; null where nobody noted it.' }),
    connection: t.field({
      type: IntegrationRef,
      nullable: true,
      description: 'The connection that proves it. When it is deleted, the account opens nothing any more.',
      resolve: ({ connection }) => connection,
    }),
  }),
});

builder.queryFields((t) => ({
  sourceIdentities: t.field({
    authScopes: { key: 'CONNECTIONS:READ' },
    type: [IdentityType],
    description:
      "The caller's identities at sources, and what vouches for each: the e-mail first, then at most 500 accounts, the last proven first.",
    resolve: async (_root, _args, { deps, caller }) => [...(await listIdentities(deps, caller))],
  }),
}));
