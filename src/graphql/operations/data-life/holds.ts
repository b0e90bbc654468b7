import { endLegalHold, getLegalHolds, listLegalHolds, setLegalHold } from '../../../domain/operations/data-life/holds.ts';
import { builder } from '../../ground/builder/builder.ts';
import { loadNode, registerNode } from '../../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { LegalHoldRef, OrganizationRef, UserRef } from '../../ground/refs.ts';
import { NodeType } from '../../ground/types/node.ts';

const LegalHoldType = LegalHoldRef.implement({
  access: { scope: 'ADMIN:READ' },
  description: 'Keeps what an organization, or one person in it, has from being deleted, by retention, by erasure and by people.',
  interfaces: [NodeType],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the hold.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it began.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When it was ended; null while it lasts.' }),
    reason: t.exposeString('reason', { description: 'Why it was set.' }),
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
    createdByUserId: t.exposeID('createdByUserId', { description: 'Who set it.' }),
    createdBy: t.field({
      type: UserRef,
      nullable: true,
      description: 'Who set it; null for one that the caller may not see.',
      resolve: ({ createdByUserId }, _args, context) => loadNode(context, 'user', createdByUserId),
    }),
    endedByUserId: t.exposeID('endedByUserId', { nullable: true, description: 'Who ended it; null while it lasts.' }),
    endedBy: t.field({
      type: UserRef,
      nullable: true,
      description: 'Who ended it; null while it lasts, and for one that the caller may not see.',
      resolve: ({ endedByUserId }, _args, context) => (endedByUserId === null ? null : loadNode(context, 'user', endedByUserId)),
    }),
  }),
});

registerNode('legalHold', {
  typeName: 'LegalHold',
  operation: 'Query.legalHolds',
  loadMany: (ids, { deps, caller }) => getLegalHolds(deps, caller, ids),
});

const LegalHoldConnection = makeConnection(LegalHoldType, 'LegalHold', 'Legal holds');

const LegalHoldFilterInput = builder.inputType('LegalHoldFilter', {
  description: 'Holds that fit all its members.',
  fields: (t) => ({
    orgId: t.id({ required: false, description: "The organization. Default: the caller's." }),
    userId: t.id({ required: false, description: 'Only those on this person.' }),
    isLasting: t.boolean({ required: false, description: 'Only those that last, or only those that have ended.' }),
  }),
});

builder.queryField('legalHolds', (t) =>
  t.field({
    authScopes: { key: 'ADMIN:READ' },
    type: LegalHoldConnection,
    description: 'Legal holds of an organization, newest first, for its administrators.',
    args: {
      filter: t.arg({
        type: LegalHoldFilterInput,
        required: false,
        description: 'Which holds; default: all of the organization.',
      }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { filter, ...args }, context) =>
      listLegalHolds(context.deps, context.caller, filter ?? {}, pageRequest(context, args)),
  }),
);

const SetLegalHoldInput = builder.inputType('SetLegalHoldInput', {
  description: 'A new legal hold.',
  fields: (t) => ({
    orgId: t.id({ required: false, description: "Default: the caller's organization. Others need a TENANT or INSTANCE key." }),
    userId: t.id({
      required: false,
      description: 'Only what this person has in the organization. Default: the whole organization.',
    }),
    reason: t.string({ description: '1 to 2,000 characters. Administrators of the organization read it.' }),
  }),
});

builder.mutationFields((t) => ({
  setLegalHold: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: LegalHoldType,
    description:
      'Keeps what an organization, or one person in it, has from being deleted: by retention, by erasure, and by people, whose deletions are refused meanwhile.',
    args: { input: t.arg({ type: SetLegalHoldInput, description: 'What to keep, and why.' }) },
    resolve: (_root, { input }, { deps, caller }) => setLegalHold(deps, caller, input),
  }),
  endLegalHold: t.field({
    authScopes: { key: 'ADMIN:WRITE' },
    type: LegalHoldType,
    description: 'Ends a legal hold. What is older than the organization keeps it is deleted within the next hour or two.',
    args: { id: t.arg.id({ description: 'The id of the hold.' }) },
    resolve: (_root, { id }, { deps, caller }) => endLegalHold(deps, caller, id),
  }),
}));
