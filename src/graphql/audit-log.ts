import { listAuditEntries } from '../domain/audit.ts';
import type { AuditChange, AuditEntry } from '../entities/audit.ts';
import { builder } from './builder.ts';
import { connectionOf, pageArgs, pageRequest } from './connection.ts';

const AuditChangeType = builder.objectRef<AuditChange>('AuditChange').implement({
  description: 'A member that was given with a change.',
  fields: (t) => ({
    member: t.exposeString('member', { description: 'Its name; within objects its path: `options.temperature`.' }),
    value: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'What it was set to; null for null, and for what is never recorded: secrets, instructions, whatever people write.',
      resolve: ({ value }) => value ?? null,
    }),
  }),
});

const AuditEntryType = builder.objectRef<AuditEntry>('AuditEntry').implement({
  description: 'One change: who did what to what, and when.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the entry.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was done.' }),
    orgId: t.exposeID('orgId', { description: 'The organization it was done in.' }),
    actorUserId: t.exposeID('actorUserId', { description: 'The user who did it.' }),
    actorEmail: t.exposeString('actorEmail', { description: 'The e-mail of that user at the time.' }),
    actorKeyId: t.exposeID('actorKeyId', { description: 'The key it was done with.' }),
    action: t.exposeString('action', { description: 'The mutation: `createAgent`.' }),
    targetKind: t.exposeString('targetKind', { nullable: true, description: 'What was changed: `agent`, `group`, …' }),
    targetId: t.exposeID('targetId', { nullable: true, description: 'The id of what was changed; it may be gone by now.' }),
    changes: t.field({
      type: [AuditChangeType],
      description: 'The members that were given.',
      resolve: ({ changes }) => [...changes],
    }),
    requestId: t.exposeString('requestId', { description: 'Finds the request in the logs.' }),
  }),
});

const AuditEntryConnection = connectionOf(AuditEntryType, 'AuditEntry', 'Changes');

builder.queryField('auditLog', (t) =>
  t.field({
    type: AuditEntryConnection,
    description: 'Who changed what in an organization, newest first, for its administrators.',
    args: {
      orgId: t.arg.id({ required: false, description: "The organization. Default: the caller's." }),
      actorUserId: t.arg.id({ required: false, description: 'Only what this user did.' }),
      targetId: t.arg.id({ required: false, description: 'Only what was done to this.' }),
      action: t.arg.string({ required: false, description: 'Only this mutation.' }),
      from: t.arg({ type: 'DateTime', required: false, description: 'From this moment on.' }),
      to: t.arg({ type: 'DateTime', required: false, description: 'Before this moment.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { first, after, ...filter }, context) =>
      listAuditEntries(
        context.deps,
        context.caller,
        {
          orgId: filter.orgId ?? undefined,
          actorUserId: filter.actorUserId ?? undefined,
          targetId: filter.targetId ?? undefined,
          action: filter.action ?? undefined,
          from: filter.from ?? undefined,
          to: filter.to ?? undefined,
        },
        pageRequest(context, { first, after }),
      ),
  }),
);
