import {
  getUsage,
  getUsageDays,
  listAgentUsage,
  listSubjectUsage,
  listUsageDays,
  pageOfDays,
  usageDaysMax,
  usedAgentsMax,
} from '../../../domain/operations/usage.ts';
import type { AgentUsage, SubjectUsage, UsageDay, UsageReport, UsageSums } from '../../../entities/operations/usage.ts';
import { loadAgent } from '../../agents/agent-edge.ts';
import { findModel } from '../../agents/models.ts';
import { builder } from '../../ground/builder/builder.ts';
import { loadNode } from '../../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest, wholeRequest } from '../../ground/pagination.ts';
import { AgentRef, ApiKeyRef, ModelRef, OrganizationRef, UserRef } from '../../ground/refs.ts';

const access = { scope: 'USAGE:READ' } as const;

const UsageSumsType = builder.interfaceRef<UsageSums>('UsageSums').implement({
  access,
  description: 'Tokens used, and what they cost: of an organization, or of a part of what it used.',
  fields: (t) => ({
    dataTokensUsed: t.expose('dataTokensUsed', { type: 'Count', description: 'Tokens of embedding and indexing.' }),
    apiTokensUsed: t.expose('apiTokensUsed', { type: 'Count', description: 'Tokens of runs.' }),
    cost: t.float({
      description:
        'What the calls cost whose cost is known, those of embedding and indexing too, in the currency of COST_CURRENCY. It stays when chats and their runs are deleted.',
      resolve: ({ costBillionths }) => costBillionths / 1_000_000_000,
    }),
  }),
});

export const AgentUsageType = builder.objectRef<AgentUsage>('AgentUsage').implement({
  access,
  description: 'The tokens that one agent used.',
  interfaces: [UsageSumsType],
  fields: (t) => ({
    agentId: t.exposeID('agentId', { description: 'The id of the agent, which may be deleted by now.' }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'The agent; null when it was deleted, and for one that the caller may not see.',
      resolve: ({ agentId }, _args, context, info) => loadAgent(context, agentId, info),
    }),
  }),
});

export const UserUsageType = builder.objectRef<SubjectUsage>('UserUsage').implement({
  access,
  description: 'The tokens that one user used.',
  interfaces: [UsageSumsType],
  fields: (t) => ({
    userId: t.exposeID('id', { description: 'The id of the user, who may be deleted by now.' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user; null for one who left the organization.',
      resolve: ({ id }, _args, context) => loadNode(context, 'user', id),
    }),
  }),
});

export const ApiKeyUsageType = builder.objectRef<SubjectUsage>('ApiKeyUsage').implement({
  access,
  description: 'The tokens that one key used.',
  interfaces: [UsageSumsType],
  fields: (t) => ({
    keyId: t.exposeID('id', { description: 'The id of the key, which may be revoked or deleted by now.' }),
    key: t.field({
      type: ApiKeyRef,
      nullable: true,
      description: 'The key; null when it was deleted, and for one that the caller may not see.',
      resolve: ({ id }, _args, context) => loadNode(context, 'apiKey', id),
    }),
  }),
});

const ModelUsageType = builder.objectRef<SubjectUsage>('ModelUsage').implement({
  access,
  description: 'The tokens that one model used.',
  interfaces: [UsageSumsType],
  fields: (t) => ({
    modelId: t.exposeString('id', { description: 'The id of the model, which may be gone by now: `provider/name`.' }),
    model: t.field({
      type: ModelRef,
      nullable: true,
      description: 'The same; null when the installation does not have it any more.',
      resolve: ({ id }, _args, context) => findModel(context, id),
    }),
  }),
});

const UsageDayType = builder.objectRef<UsageDay>('UsageDay').implement({
  access,
  description: 'The tokens used on one day.',
  interfaces: [UsageSumsType],
  fields: (t) => ({
    day: t.exposeString('day', { description: 'The day, by the clock of the organization: `2026-01-31`.' }),
  }),
});

const AgentUsageConnection = makeConnection(AgentUsageType, 'AgentUsage', 'Agents with what they used');
const UserUsageConnection = makeConnection(UserUsageType, 'UserUsage', 'Users with what they used');
const ApiKeyUsageConnection = makeConnection(ApiKeyUsageType, 'ApiKeyUsage', 'Keys with what they used');
const ModelUsageConnection = makeConnection(ModelUsageType, 'ModelUsage', 'Models with what they used');
const UsageDayConnection = makeConnection(UsageDayType, 'UsageDay', 'Days with what was used');

/** Of lists by tokens. */
const tokensKey = ['number', 'text'] as const;

export const UsageReportType = builder.objectRef<UsageReport>('UsageReport').implement({
  access,
  description: 'The tokens that an organization and its agents used: the sum of the ledger.',
  interfaces: [UsageSumsType],
  fields: (t) => ({
    orgId: t.exposeID('orgId', { description: 'The id of the organization.' }),
    organization: t.field({
      type: OrganizationRef,
      nullable: true,
      description: 'The organization; null for one that the caller may not see.',
      resolve: ({ orgId }, _args, context) => loadNode(context, 'organization', orgId),
    }),
    from: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The first moment of the period; null: the beginning.',
      resolve: ({ period }) => period.from ?? null,
    }),
    to: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The moment before which the period ends; null: now.',
      resolve: ({ period }) => period.to ?? null,
    }),
    dataUsageTokenLimit: t.expose('dataUsageTokenLimit', {
      type: 'Count',
      nullable: true,
      description: 'Tokens that embedding and indexing may use in all; null: no limit.',
    }),
    apiUsageTokenLimit: t.expose('apiUsageTokenLimit', {
      type: 'Count',
      nullable: true,
      description: 'Tokens that runs may use in all; null: no limit.',
    }),
    days: t.field({
      type: UsageDayConnection,
      description: `Each day of the period by the clock of the organization, days without use included, the first day first; the last 30 days where the period has no beginning. At most ${usageDaysMax} days.`,
      args: pageArgs(t.arg),
      resolve: (report, args, context) => listUsageDays(context.deps, report, pageRequest(context, args, ['text'])),
    }),
    agents: t.field({
      type: AgentUsageConnection,
      description: `By agent, most tokens first, at most ${usedAgentsMax.toLocaleString('en')}. Administrators see all of them, others those that they may use.`,
      args: pageArgs(t.arg),
      resolve: (report, args, context) =>
        listAgentUsage(context.deps, context.caller, report, wholeRequest(context, args, usedAgentsMax, tokensKey)),
    }),
    users: t.field({
      type: UserUsageConnection,
      description: 'By user, most tokens first. Administrators see everybody, others themselves.',
      args: pageArgs(t.arg),
      resolve: (report, args, context) =>
        listSubjectUsage(context.deps, context.caller, report, 'user', pageRequest(context, args, tokensKey)),
    }),
    keys: t.field({
      type: ApiKeyUsageConnection,
      description: 'By key, most tokens first. Administrators see all of them, others their own.',
      args: pageArgs(t.arg),
      resolve: (report, args, context) =>
        listSubjectUsage(context.deps, context.caller, report, 'key', pageRequest(context, args, tokensKey)),
    }),
    models: t.field({
      type: ModelUsageConnection,
      description: 'By model, most tokens first.',
      args: pageArgs(t.arg),
      resolve: (report, args, context) =>
        listSubjectUsage(context.deps, context.caller, report, 'model', pageRequest(context, args, tokensKey)),
    }),
  }),
});

builder.objectField(OrganizationRef, 'usage', (t) =>
  t.field({
    type: UsageReportType,
    nullable: true,
    description: 'The tokens that it used, in total or in a period.',
    args: {
      from: t.arg({ type: 'DateTime', required: false, description: 'From this moment on. Default: the beginning.' }),
      to: t.arg({ type: 'DateTime', required: false, description: 'Before this moment. Default: now.' }),
    },
    resolve: ({ id }, period, { deps, caller }) => getUsage(deps, caller, { orgId: id, ...period }),
  }),
);

builder.queryFields((t) => ({
  usage: t.field({
    authScopes: { key: 'USAGE:READ' },
    type: UsageReportType,
    description: 'The tokens that an organization used, in total or in a period.',
    args: {
      orgId: t.arg.id({
        required: false,
        description: "Default: the caller's organization. Another one is for who administers it.",
      }),
      from: t.arg({ type: 'DateTime', required: false, description: 'From this moment on. Default: the beginning.' }),
      to: t.arg({ type: 'DateTime', required: false, description: 'Before this moment. Default: now.' }),
    },
    resolve: (_root, input, { deps, caller }) => getUsage(deps, caller, input),
  }),
  usageDays: t.field({
    authScopes: { key: 'USAGE:READ' },
    type: UsageDayConnection,
    description: `What the caller's organization used on each day by its clock, days without use included: at most ${usageDaysMax} days.`,
    args: {
      from: t.arg({ type: 'DateTime', required: false, description: 'Its day is the first. Default: 30 days back.' }),
      to: t.arg({ type: 'DateTime', required: false, description: 'The day before this moment is the last. Default: today.' }),
      agentId: t.arg.id({ required: false, description: 'Only the use of this agent.' }),
      userId: t.arg.id({
        required: false,
        description: 'Only the use of this user: oneself, for administrators anybody. Not together with agentId.',
      }),
      ...pageArgs(t.arg),
    },
    resolve: async (_root, { from, to, agentId, userId, ...args }, context) => {
      const page = wholeRequest(context, args, usageDaysMax, ['text']);
      return pageOfDays(await getUsageDays(context.deps, context.caller, { from, to, agentId, userId }), page);
    },
  }),
}));
