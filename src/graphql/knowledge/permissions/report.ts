import {
  findPermissionReadings,
  findPermissionReports,
  type PermissionReading,
} from '../../../domain/knowledge/permissions/report.ts';
import type { DataSource } from '../../../entities/knowledge/data-source.ts';
import type { PermissionReport } from '../../../storage/knowledge/permissions/report.ts';
import { builder } from '../../ground/builder/builder.ts';
import { reading } from '../../ground/builder/members.ts';
import { DataSourceRef } from '../../ground/refs.ts';

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
        'Persons of the organization who are known at the source neither by an account nor, where e-mails count, by a verified one: they find what is open to all.',
    }),
  }),
});

const ReadingType = builder.objectRef<PermissionReading>('SourcePermissionReading').implement({
  access,
  description: 'How far the reading of the permissions of a MIRRORED source is, and how late it is.',
  fields: (t) => ({
    isRunning: t.exposeBoolean('isRunning', { description: 'Whether permissions are read now.' }),
    startedAt: t.expose('startedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the reading began that goes on; also one that was cut off and goes on later. Null when there is none.',
    }),
    itemCount: t.exposeInt('itemCount', { description: 'Documents that it has told of so far.' }),
    readAt: t.expose('readAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last one ended well; null before the first time, and where permissions are pushed.',
    }),
    failedAt: t.expose('failedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last one failed; null when it did not.',
    }),
    latenessMs: t.exposeInt('latenessMs', {
      description:
        'How much later than at the source a change of permissions counts here at most, while readings succeed; 0 where they are pushed.',
    }),
    closesAt: t.expose('closesAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When nobody finds anything of the source any more, unless its permissions are read before. Null before the first reading, and where they are pushed.',
    }),
  }),
});

const reported = reading<DataSource>('id', 'orgId', 'ownerUserId', 'orgVisible', 'type', 'access');

builder.objectField(DataSourceRef, 'permissionReading', (t) =>
  t.loadable({
    extensions: reported,
    type: ReadingType,
    nullable: true,
    description:
      'How far the reading of its permissions is, for its owner and administrators. Null for others, and for a source that is LENT.',
    load: (sources: DataSource[], { deps, caller }) =>
      findPermissionReadings(deps, caller, sources).then((readings) => [...readings]),
    resolve: (source) => source,
  }),
);

builder.objectField(DataSourceRef, 'permissions', (t) =>
  t.loadable({
    extensions: reported,
    type: PermissionReportType,
    nullable: true,
    description:
      'What is known of who may open its documents, for its owner and administrators. Null for others, and for a source that is LENT.',
    load: (sources: DataSource[], { deps, caller }) =>
      findPermissionReports(deps, caller, sources).then((reports) => [...reports]),
    resolve: (source) => source,
  }),
);
