import {
  deleteDataExport,
  exportOrganizationData,
  exportPersonData,
  exportUrl,
  getDataExports,
  listDataExports,
} from '../../../domain/operations/data-life/exports.ts';
import { type ExportStatus, exportStatuses } from '../../../entities/operations/data-life/jobs.ts';
import { builder } from '../../ground/builder/builder.ts';
import { loadNode, registerNode } from '../../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { DataExportRef, OrganizationRef, UserRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { NodeType } from '../../ground/types/node.ts';

const DataExportStatusType = createEnum('DataExportStatus', 'How far an export is.', exportStatuses, {
  PENDING: 'It waits for its turn.',
  RUNNING: 'It is being written.',
  READY: 'It can be downloaded.',
  FAILED: 'It could not be written within two days.',
} satisfies Record<ExportStatus, string>);

interface RowCount {
  readonly table: string;
  readonly count: number;
}

const RowCountType = builder.objectRef<RowCount>('RowCount').implement({
  access: { scope: null },
  description: 'How many rows of a table an export has.',
  fields: (t) => ({
    table: t.exposeString('table', { description: 'The table, as its file in the export is called.' }),
    count: t.exposeInt('count', { description: 'The rows.' }),
  }),
});

const DataExportType = DataExportRef.implement({
  access: { scope: null },
  description:
    "A ZIP of what a person has in an organization, or of all that the organization has: a file of JSON lines for each table, the files, and `about.json`, which says what is left out. One that a person made of its own data is that person's, and administrators see that it is there. Every other one is the organization's: its administrators of today see and open it, whoever asked for it.",
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the export.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was asked for.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When it was written or given up.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When it is deleted.' }),
    status: t.expose('status', { type: DataExportStatusType, description: 'How far it is.' }),
    counts: t.field({
      type: [RowCountType],
      description: 'How many rows of each table are in it so far.',
      resolve: ({ counts }) => listCounts(counts),
    }),
    sizeBytes: t.expose('sizeBytes', { type: 'Count', nullable: true, description: 'The bytes of the file.' }),
    url: t.string({
      nullable: true,
      description:
        'A link that downloads it without a key, for an hour; select it again for a new one. It ends with the key or the session that selected it, and when its person may not read the export any more. Null before it is ready, and for everybody but those who may read it now: the person of an own export, by a key that may read all that the person has; else administrators, by a key with all scopes that read and ADMIN:WRITE.',
      resolve: (dataExport, _args, { deps, caller }) => exportUrl(deps, caller, dataExport),
    }),
    orgId: t.exposeID('orgId', { description: 'The organization.' }),
    organization: t.field({
      type: OrganizationRef,
      nullable: true,
      description: 'The organization; null when it was deleted.',
      resolve: ({ orgId }, _args, context) => loadNode(context, 'organization', orgId),
    }),
    userId: t.exposeID('userId', { nullable: true, description: 'The person; null: the whole organization.' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The person; null for the whole organization, and for one that the caller may not see.',
      resolve: ({ userId }, _args, context) => (userId === null ? null : loadNode(context, 'user', userId)),
    }),
    requestedByUserId: t.exposeID('requestedByUserId', { description: 'Who asked for it.' }),
    requestedBy: t.field({
      type: UserRef,
      nullable: true,
      description: 'Who asked for it; null for one that the caller may not see.',
      resolve: ({ requestedByUserId }, _args, context) => loadNode(context, 'user', requestedByUserId),
    }),
  }),
});

registerNode('dataExport', {
  typeName: 'DataExport',
  operation: 'Query.dataExports',
  loadMany: (ids, { deps, caller }) => getDataExports(deps, caller, ids),
});

const DataExportConnection = makeConnection(DataExportType, 'DataExport', 'Exports');

builder.queryField('dataExports', (t) =>
  t.field({
    authScopes: { anyKey: true },
    type: DataExportConnection,
    description:
      "Exports of the caller's organization, newest first: those that the caller made of its own data; for administrators with the scope ADMIN:READ, all.",
    args: { ...pageArgs(t.arg) },
    resolve: (_root, args, context) => listDataExports(context.deps, context.caller, pageRequest(context, args)),
  }),
);

const ExportPersonDataInput = builder.inputType('ExportPersonDataInput', {
  description: 'Whose data to export.',
  fields: (t) => ({
    userId: t.id({ required: false, description: "The person. Default: the caller's user. Others need ADMIN:WRITE." }),
    orgId: t.id({ required: false, description: "Default: the caller's organization. Others need a TENANT or INSTANCE key." }),
  }),
});

builder.mutationFields((t) => ({
  exportPersonData: t.field({
    authScopes: { anyKey: true },
    type: DataExportType,
    description:
      'Begins to write what a person has in an organization into a ZIP, which is kept for seven days. A key needs all scopes that read, but ADMIN:READ, for its own person.',
    args: { input: t.arg({ type: ExportPersonDataInput, description: 'Whose data.' }) },
    resolve: (_root, { input }, { deps, caller }) => exportPersonData(deps, caller, input),
  }),
  exportOrganizationData: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: DataExportType,
    description: 'Begins to write all that an organization has into a ZIP, which is kept for seven days, for its administrators.',
    args: { orgId: t.arg.id({ required: false, description: "Default: the caller's organization." }) },
    resolve: (_root, { orgId }, { deps, caller }) => exportOrganizationData(deps, caller, orgId),
  }),
  deleteDataExport: t.field({
    authScopes: { anyKey: true },
    type: DataExportType,
    description:
      "Deletes the caller's own export, also one that is being written; with ADMIN:WRITE, administrators delete any of the organization.",
    args: { id: t.arg.id({ description: 'The id of the export.' }) },
    resolve: (_root, { id }, { deps, caller }) => deleteDataExport(deps, caller, id),
  }),
}));

function listCounts(counts: Readonly<Record<string, number>>): RowCount[] {
  return Object.entries(counts).map(([table, count]) => ({ table, count }));
}
