import { findPermissionReports } from '../../domain/knowledge/permissions/report.ts';
import type { DataSource } from '../../entities/knowledge/data-source.ts';
import type { PermissionReport } from '../../storage/knowledge/permissions/report.ts';
import { builder } from '../ground/builder/builder.ts';
import { reading } from '../ground/builder/members.ts';
import { DataSourceRef } from '../ground/refs.ts';

const access = { scope: 'DATA_SOURCES:READ' } as const;

const UnknownReasonType = builder.objectRef<PermissionReport['reasons'][number]>('UnknownPermissionsReason').implement({
  access,
  description: 'Why it is not known who may open some documents.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'For programs: INEXPRESSIBLE, UNREADABLE, INCOMPLETE or UNREPORTED.' }),
    message: t.exposeString('message', { description: 'For people: what is missing, and what may help.' }),
    count: t.exposeInt('count', { description: 'How many documents.' }),
  }),
});
const UnreadableGroupType = builder.objectRef<PermissionReport['unreadableGroups'][number]>('UnreadableGroup').implement({
  access,
  description: 'A group at a source whose members cannot be read.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Its id at the source.' }),
    name: t.exposeString('name', { nullable: true, description: 'What it is called; null where nobody said it.' }),
    message: t.exposeString('message', { description: 'Why, and which right would help.' }),
  }),
});

const PermissionReportType = builder.objectRef<PermissionReport>('SourcePermissionReport').implement({
  access,
  description: 'What is known of who may open the documents of a MIRRORED source.',
  fields: (t) => ({
    knownCount: t.exposeInt('knownCount', { description: 'Documents of which it is known who may open them.' }),
    unknownCount: t.exposeInt('unknownCount', { description: 'The others: nobody finds them.' }),
    reasons: t.field({
      type: [UnknownReasonType],
      description: 'Why it is not known; the most frequent first, at most 20.',
      resolve: ({ reasons }) => [...reasons],
    }),
    readAt: t.expose('readAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When permissions were last read; null before the first time, and where they are pushed.',
    }),
    fullAt: t.expose('fullAt', { type: 'DateTime', nullable: true, description: 'When all of them were last read.' }),
    missingRights: t.stringList({
      description: 'Rights that the account lacks, and what they are for.',
      resolve: ({ missingRights }) => [...missingRights],
    }),
    errorMessage: t.exposeString('errorMessage', {
      nullable: true,
      description: 'Why the last reading failed; null when it did not.',
    }),
    unreadableGroups: t.field({
      type: [UnreadableGroupType],
      description: 'Groups whose members cannot be read, at most 100.',
      resolve: ({ unreadableGroups }) => [...unreadableGroups],
    }),
    unidentifiedCount: t.exposeInt('unidentifiedCount', {
      description:
        'Persons of the organization without a verified e-mail and without an account at a source: they find what is open to all.',
    }),
  }),
});

builder.objectField(DataSourceRef, 'permissions', (t) =>
  t.loadable({
    extensions: reading<DataSource>('id', 'orgId', 'ownerUserId', 'orgVisible'),
    type: PermissionReportType,
    nullable: true,
    description:
      'What is known of who may open its documents, for its owner and administrators. Null for others, and for a source that is LENT.',
    load: (sources: DataSource[], { deps, caller }) =>
      findPermissionReports(deps, caller, sources).then((reports) => [...reports]),
    resolve: (source) => source,
  }),
);
