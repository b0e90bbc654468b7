import { getUsage, getUsageDays } from '../../domain/usage/usage.ts';
import type { AgentUsage, UsageDay, UsageReport } from '../../entities/usage.ts';
import { builder } from '../builder/builder.ts';

const OrganizationUsageType = builder.objectRef<UsageReport>('OrganizationUsage').implement({
  access: { scope: 'USAGE:READ' },
  description: 'The tokens that an organization used.',
  fields: (t) => ({
    orgId: t.exposeID('orgId', { description: 'The id of the organization.' }),
    dataTokensUsed: t.expose('dataTokensUsed', { type: 'Count', description: 'Tokens of embedding and indexing.' }),
    dataUsageTokenLimit: t.expose('dataUsageTokenLimit', {
      type: 'Count',
      nullable: true,
      description: 'Tokens that embedding and indexing may use in all; null: no limit.',
    }),
    apiTokensUsed: t.expose('apiTokensUsed', { type: 'Count', description: 'Tokens of runs.' }),
    apiUsageTokenLimit: t.expose('apiUsageTokenLimit', {
      type: 'Count',
      nullable: true,
      description: 'Tokens that runs may use in all; null: no limit.',
    }),
  }),
});

const AgentUsageType = builder.objectRef<AgentUsage>('AgentUsage').implement({
  access: { scope: 'USAGE:READ' },
  description: 'The tokens that one agent used.',
  fields: (t) => ({
    agentId: t.exposeID('agentId', { description: 'The id of the agent, which may be deleted by now.' }),
    dataTokensUsed: t.expose('dataTokensUsed', { type: 'Count', description: 'Tokens of embedding and indexing.' }),
    apiTokensUsed: t.expose('apiTokensUsed', { type: 'Count', description: 'Tokens of runs.' }),
  }),
});

export const UsageReportType = builder.objectRef<UsageReport>('UsageReport').implement({
  access: { scope: 'USAGE:READ' },
  description: 'The tokens that an organization and its agents used: the sum of the ledger.',
  fields: (t) => ({
    organization: t.field({
      type: OrganizationUsageType,
      description: 'All of it, calls without an agent included.',
      resolve: (report) => report,
    }),
    agents: t.field({
      type: [AgentUsageType],
      description: 'By agent, most tokens first, at most 1,000. Administrators see all of them, others those that they may use.',
      resolve: ({ agents }) => [...agents],
    }),
  }),
});

const UsageDayType = builder.objectRef<UsageDay>('UsageDay').implement({
  access: { scope: 'USAGE:READ' },
  description: 'The tokens used on one day.',
  fields: (t) => ({
    day: t.exposeString('day', { description: 'The UTC day: `2026-01-31`.' }),
    dataTokensUsed: t.expose('dataTokensUsed', { type: 'Count', description: 'Tokens of embedding and indexing.' }),
    apiTokensUsed: t.expose('apiTokensUsed', { type: 'Count', description: 'Tokens of runs.' }),
  }),
});

builder.queryFields((t) => ({
  usage: t.field({
    authScopes: { key: 'USAGE:READ' },
    type: UsageReportType,
    description: "The tokens that the caller's organization used, in total or in a period.",
    args: {
      from: t.arg({ type: 'DateTime', required: false, description: 'From this moment on. Default: the beginning.' }),
      to: t.arg({ type: 'DateTime', required: false, description: 'Before this moment. Default: now.' }),
    },
    resolve: (_root, period, { deps, caller }) => getUsage(deps, caller, period),
  }),
  usageDays: t.field({
    authScopes: { key: 'USAGE:READ' },
    type: [UsageDayType],
    description: "What the caller's organization used on each UTC day, days without use included: at most 366 days.",
    args: {
      from: t.arg({ type: 'DateTime', required: false, description: 'Its day is the first. Default: 30 days back.' }),
      to: t.arg({ type: 'DateTime', required: false, description: 'The day before this moment is the last. Default: today.' }),
      agentId: t.arg.id({ required: false, description: 'Only the use of this agent.' }),
    },
    resolve: async (_root, input, { deps, caller }) => [...(await getUsageDays(deps, caller, input))],
  }),
}));
