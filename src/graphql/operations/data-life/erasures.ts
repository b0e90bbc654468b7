import { erasePerson, getErasures, listErasures } from '../../../domain/operations/data-life/erasures.ts';
import {
  type ErasureAction,
  type ErasureLine,
  type ErasureStatus,
  erasureActions,
  erasureStatuses,
} from '../../../entities/operations/data-life/jobs.ts';
import { builder } from '../../ground/builder/builder.ts';
import { loadNode, registerNode } from '../../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { ErasureRef, OrganizationRef, UserRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { NodeType } from '../../ground/types/node.ts';

const ErasureStatusType = createEnum('ErasureStatus', 'How far an erasure is.', erasureStatuses, {
  PENDING: 'It waits for its turn. The membership, keys and sessions have ended.',
  RUNNING: 'It goes on; `report` says what is done.',
  DONE: 'All is done.',
  STOPPED: 'A legal hold was set meanwhile. `report` says what was erased before; after the end of the hold, erase again.',
} satisfies Record<ErasureStatus, string>);

const ErasureActionType = createEnum('ErasureAction', 'What an erasure did with rows.', erasureActions, {
  ERASED: 'They are gone.',
  TRANSFERRED: 'Another person has them now.',
  PSEUDONYMISED: 'They stay without what says who the person is.',
  STAYS: 'They stay.',
} satisfies Record<ErasureAction, string>);

const ErasureLineType = builder.objectRef<ErasureLine>('ErasureLine').implement({
  access: { scope: 'ADMIN:READ' },
  description:
    'What an erasure did with the rows of one table. Rows that belong to others, such as messages to their chat, go with them.',
  fields: (t) => ({
    table: t.exposeString('table', { description: 'The table, as an export calls it.' }),
    action: t.expose('action', { type: ErasureActionType, description: 'What was done.' }),
    count: t.exposeInt('count', { description: 'The rows.' }),
    reason: t.string({
      nullable: true,
      description: 'Why they were not simply erased.',
      resolve: ({ reason }) => reason ?? null,
    }),
  }),
});

const ErasureType = ErasureRef.implement({
  access: { scope: 'ADMIN:READ' },
  description: 'The erasure of a person in an organization, and its report. It has ids and numbers, and no text of the person.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the erasure.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was asked for.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
    status: t.expose('status', { type: ErasureStatusType, description: 'How far it is.' }),
    report: t.field({
      type: [ErasureLineType],
      description: 'What was erased, handed over, or stays, and why; until now, while it goes on.',
      resolve: ({ report }) => [...report],
    }),
    orgId: t.exposeID('orgId', { description: 'The organization.' }),
    organization: t.field({
      type: OrganizationRef,
      nullable: true,
      description: 'The organization; null when it was deleted.',
      resolve: ({ orgId }, _args, context) => loadNode(context, 'organization', orgId),
    }),
    userId: t.exposeID('userId', { description: 'The person.' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The person; null once it is erased, and for one that the caller may not see.',
      resolve: ({ userId }, _args, context) => loadNode(context, 'user', userId),
    }),
    transferToUserId: t.exposeID('transferToUserId', { description: 'Who got what others use too.' }),
    transferTo: t.field({
      type: UserRef,
      nullable: true,
      description: 'Who got what others use too; null for one that the caller may not see.',
      resolve: ({ transferToUserId }, _args, context) => loadNode(context, 'user', transferToUserId),
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

registerNode('erasure', {
  typeName: 'Erasure',
  operation: 'Query.erasures',
  loadMany: (ids, { deps, caller }) => getErasures(deps, caller, ids),
});

const ErasureConnection = makeConnection(ErasureType, 'Erasure', 'Erasures');

builder.queryField('erasures', (t) =>
  t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: ErasureConnection,
    description: 'Erasures of people in an organization, newest first, for its administrators.',
    args: { orgId: t.arg.id({ required: false, description: "Default: the caller's organization." }), ...pageArgs(t.arg) },
    resolve: (_root, { orgId, ...args }, context) =>
      listErasures(context.deps, context.caller, orgId, pageRequest(context, args)),
  }),
);

const ErasePersonInput = builder.inputType('ErasePersonInput', {
  description: 'Whom to erase.',
  fields: (t) => ({
    userId: t.id({ description: 'The person: a member, or a former one.' }),
    orgId: t.id({ required: false, description: "Default: the caller's organization. Others need a TENANT or INSTANCE key." }),
    transferToUserId: t.id({
      required: false,
      description: "A member who gets agents, sources and groups that others use too. Default: the caller's user.",
    }),
  }),
});

builder.mutationField('erasePerson', (t) =>
  t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: ErasureType,
    description:
      'Erases a person in an organization: membership, keys and sessions end at once, the rest goes behind the reply, for good. The user goes with the last membership. What others use is handed over.',
    args: { input: t.arg({ type: ErasePersonInput, description: 'Whom, and who takes over.' }) },
    resolve: (_root, { input }, { deps, caller }) => erasePerson(deps, caller, input),
  }),
);
