import { listOpenDocuments, type OpenDocument } from '../../../domain/knowledge/permissions/open-documents.ts';
import type { Opening } from '../../../storage/knowledge/permissions/openings.ts';
import type { PrincipalKind } from '../../../storage/knowledge/permissions/principals.ts';
import { builder } from '../../ground/builder/builder.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { IndexStatusType } from '../sources.ts';

const access = { scope: 'DATA_SOURCES:READ' } as const;

const forms = ['ACCOUNT', 'EMAIL', 'GROUP', 'DOMAIN', 'ANYONE_IN_ORGANIZATION', 'ANYONE'] as const;
const formsByKind: Readonly<Record<PrincipalKind, (typeof forms)[number]>> = {
  account: 'ACCOUNT',
  email: 'EMAIL',
  group: 'GROUP',
  domain: 'DOMAIN',
  organization: 'ANYONE_IN_ORGANIZATION',
  anyone: 'ANYONE',
  'link-domain': 'DOMAIN',
  'link-organization': 'ANYONE_IN_ORGANIZATION',
  'link-anyone': 'ANYONE',
};
const FormType = createEnum('PrincipalForm', 'How an access list names a person.', forms, {
  ACCOUNT: 'By the account at the source.',
  EMAIL: 'By a verified e-mail.',
  GROUP: 'As a member of a group, or of a group in it.',
  DOMAIN: 'By the domain of a verified e-mail.',
  ANYONE_IN_ORGANIZATION: 'As a member of the organization.',
  ANYONE: 'Like everybody.',
});

const OpeningType = builder.objectRef<Opening>('OpeningPrincipal').implement({
  access,
  description: 'What names a person in an access list.',
  fields: (t) => ({
    form: t.field({ type: FormType, description: 'How.', resolve: ({ kind }) => formsByKind[kind] }),
    key: t.exposeString('key', {
      description: 'The e-mail, the domain, the id of the group or of the account; `` where there is none.',
    }),
    name: t.exposeString('name', { nullable: true, description: 'What a group is called; null where nobody said it.' }),
    isByLink: t.boolean({
      description: 'Whether it opens for those who have a link.',
      resolve: ({ kind }) => kind.startsWith('link-'),
    }),
  }),
});

const ListType = builder.objectRef<readonly Opening[]>('OpeningAccessList').implement({
  access,
  description: 'An access list of a document that names a person.',
  fields: (t) => ({
    principals: t.field({
      type: [OpeningType],
      description: 'What names the person: at least one, and at most ten of them.',
      resolve: (openings) => [...openings],
    }),
  }),
});

const DocumentType = builder.objectRef<OpenDocument>('OpenDocument').implement({
  access,
  description: 'A document that a person may open, without its text.',
  fields: (t) => ({
    itemId: t.exposeID('id', { description: 'The id of the item.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    indexStatus: t.expose('indexStatus', { type: IndexStatusType, description: 'Whether it is indexed.' }),
    lists: t.field({
      type: [ListType],
      description: 'Why the person may open it: each of its access lists names the person.',
      resolve: ({ openings }) => [...openings],
    }),
  }),
});
const OpenDocuments = makeConnection(DocumentType, 'OpenDocument', 'What a person can see in a source');

builder.queryFields((t) => ({
  openDocuments: t.field({
    authScopes: { key: 'DATA_SOURCES:READ' },
    type: OpenDocuments,
    description:
      'What a person can see in a MIRRORED source, oldest first, and why: for administrators of its organization. Each asking is in the audit log.',
    args: {
      dataSourceId: t.arg.id({ description: 'The id of the source.' }),
      userId: t.arg.id({ description: 'The person: a member of the organization of the source.' }),
      search: t.arg.string({ required: false, description: 'Only those whose name holds this text; at most 200 characters.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { first, after, last, before, ...query }, context) =>
      listOpenDocuments(context.deps, context.caller, query, pageRequest(context, { first, after, last, before })),
  }),
}));
