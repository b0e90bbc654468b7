import { getAuditEntries, listAuditEntries, namesOfTargets } from '../../domain/operations/audit/audit.ts';
import { type AuditChange, type AuditValue, auditKinds, auditOutcomes } from '../../entities/operations/audit.ts';
import { batched } from '../ground/builder/batched.ts';
import { builder } from '../ground/builder/builder.ts';
import { loadNode, registerNode, seenNode } from '../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../ground/pagination.ts';
import { ApiKeyRef, AuditEntryRef, OrganizationRef, UserRef } from '../ground/refs.ts';
import { createEnum } from '../ground/types/enums.ts';
import { NodeType } from '../ground/types/node.ts';

const AuditKindType = createEnum('AuditKind', 'The kind of an audit entry.', auditKinds, {
  CHANGE: 'Something was changed.',
  READ: 'An administrator, or a key of a higher level, read content of other people, or a caller exported something.',
  REFUSAL: 'A call was refused.',
});

const AuditOutcomeType = createEnum('AuditOutcome', 'How a call ended.', auditOutcomes, {
  SUCCEEDED: 'As it was asked for.',
  FAILED: 'With an error, after it had changed something.',
  REFUSED: 'With a refusal; nothing was changed.',
});

const AuditChangeType = builder.objectRef<AuditChange>('AuditChange').implement({
  access: { scope: 'ADMIN:READ' },
  description: 'A member that was given with a change.',
  fields: (t) => ({
    member: t.exposeString('member', { description: 'Its name; within objects its path: `options.temperature`.' }),
    values: t.field({
      type: t.listRef('PlainValue', { nullable: true }),
      nullable: true,
      description:
        'What it was set to: one value, or those of a list. Null for null, and for what is never recorded: secrets, instructions, whatever people write.',
      resolve: ({ value }) => asList(value),
    }),
    isList: t.boolean({
      description: 'Whether it is a list; else `values` has one value.',
      resolve: ({ value }) => Array.isArray(value),
    }),
    before: t.field({
      type: t.listRef('PlainValue', { nullable: true }),
      nullable: true,
      description:
        'What it was before: one value, or those of a list. Null for null, for what is never recorded, for a new thing, and in entries of versions that did not record it.',
      resolve: ({ before }) => asList(before),
    }),
  }),
});

function asList(value: AuditValue | undefined) {
  if (value === undefined || value === null) return null;
  return typeof value === 'object' ? [...value] : [value];
}

const targetNameOf = batched((ids: readonly string[], { deps }, orgId: string) => namesOfTargets(deps, ids, orgId));

const AuditEntryType = AuditEntryRef.implement({
  access: { scope: 'ADMIN:READ' },
  description: 'One call: who did what to what, when, and from where.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the entry.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'The time of the call.' }),
    orgId: t.exposeID('orgId', { description: 'The organization in which it was done.' }),
    organization: t.field({
      type: OrganizationRef,
      nullable: true,
      description: 'The organization; null when it was deleted.',
      resolve: ({ orgId }, _args, context) => loadNode(context, 'organization', orgId),
    }),
    actorUserId: t.exposeID('actorUserId', { description: "The user who did it; '' for what the service did by itself." }),
    actor: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user who did it; null for one who left, and for a user of elsewhere. `actorEmail` stays.',
      resolve: ({ actorUserId }, _args, context) => loadNode(context, 'user', actorUserId),
    }),
    actorEmail: t.exposeString('actorEmail', { description: 'The e-mail of that user at the time.' }),
    actorKeyId: t.exposeID('actorKeyId', { description: "The key of the call; '' for what the service did by itself." }),
    key: t.field({
      type: ApiKeyRef,
      nullable: true,
      description: 'The key of the call, also a revoked one; null for one that the caller may not see.',
      resolve: ({ actorKeyId }, _args, context) => loadNode(context, 'apiKey', actorKeyId),
    }),
    action: t.exposeString('action', {
      description: 'The operation: `createAgent`. Of reads, every root field of the request: `agents, chats`.',
    }),
    kind: t.expose('kind', { type: AuditKindType, description: 'The kind of the entry.' }),
    outcome: t.expose('outcome', { type: AuditOutcomeType, description: 'How the call ended.' }),
    count: t.exposeInt('count', {
      description: 'How many calls the entry stands for: more than one where a key was refused very often within a minute.',
    }),
    targetKind: t.exposeString('targetKind', {
      nullable: true,
      description: 'The kind of the changed thing: `agent`, `group`, …',
    }),
    targetId: t.exposeID('targetId', {
      nullable: true,
      description: 'The id of the changed thing, which may be deleted by now.',
    }),
    targetIds: t.idList({
      description: 'Everything that the call named, made or showed, the target first; at most 100.',
      resolve: ({ targetIds }) => [...targetIds],
    }),
    target: t.field({
      type: NodeType,
      nullable: true,
      description: 'The changed thing; null when it was deleted, and for what the caller may not see.',
      resolve: ({ targetId }, _args, context) => (targetId === null ? null : seenNode(context, targetId)),
    }),
    targetName: t.string({
      nullable: true,
      description:
        "What the changed thing is called now. Null when it was deleted, for what has no name, and for people's own things such as chats. The names of a page cost one statement, where `target` reads each kind of things.",
      resolve: ({ targetId, orgId }, _args, context) => (targetId === null ? null : targetNameOf(context, targetId, orgId)),
    }),
    targets: t.field({
      type: [NodeType],
      description: 'The things of `targetIds` that are still there and that the caller may see.',
      resolve: async ({ targetIds }, _args, context) => {
        const foundTargets = await Promise.all(targetIds.map((id) => seenNode(context, id)));
        return foundTargets.filter((thing) => thing !== null);
      },
    }),
    address: t.exposeString('address', { nullable: true, description: 'The network address of the client.' }),
    changes: t.field({
      type: [AuditChangeType],
      description: 'The members that were given; of a refusal, its code.',
      resolve: ({ changes }) => [...changes],
    }),
    requestId: t.exposeString('requestId', { description: 'Finds the request in the logs.' }),
  }),
});

registerNode('auditEntry', {
  typeName: 'AuditEntry',
  operation: 'Query.auditLog',
  loadMany: (ids, { deps, caller }) => getAuditEntries(deps, caller, ids),
});

const AuditEntryConnection = makeConnection(AuditEntryType, 'AuditEntry', 'Changes');

const AuditFilterInput = builder.inputType('AuditFilter', {
  description: 'Entries that fit all its members.',
  fields: (t) => ({
    orgId: t.id({ required: false, description: "The organization. Default: the caller's." }),
    actorUserId: t.id({ required: false, description: 'Only what this user did.' }),
    targetId: t.id({ required: false, description: 'Only what was done to this.' }),
    action: t.string({ required: false, description: 'Only this operation, also beside others in one request.' }),
    kind: t.field({ type: AuditKindType, required: false, description: 'Only entries of this kind.' }),
    from: t.field({ type: 'DateTime', required: false, description: 'Entries from this moment on.' }),
    to: t.field({ type: 'DateTime', required: false, description: 'Entries before this moment.' }),
  }),
});

builder.queryField('auditLog', (t) =>
  t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: AuditEntryConnection,
    description:
      'Who changed what in an organization, which administrator read what others have, and what was refused; newest first, for its administrators.',
    args: {
      filter: t.arg({ type: AuditFilterInput, required: false, description: 'Which entries; default: all of the organization.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { filter, ...page }, context) =>
      listAuditEntries(
        context.deps,
        context.caller,
        {
          orgId: filter?.orgId ?? undefined,
          actorUserId: filter?.actorUserId ?? undefined,
          targetId: filter?.targetId ?? undefined,
          action: filter?.action ?? undefined,
          kind: filter?.kind ?? undefined,
          from: filter?.from ?? undefined,
          to: filter?.to ?? undefined,
        },
        pageRequest(context, page),
      ),
  }),
);
