import { agentRunFigures, getRunStatistics, getVersionFigures } from '../../../domain/conversations/runs/statistics.ts';
import { canEditAgent } from '../../../domain/ground/access/access.ts';
import type { AgentView } from '../../../entities/agents/agent.ts';
import {
  type RunFigures,
  type RunGroup,
  type RunPercentiles,
  type RunStatistics,
  runGroupings,
} from '../../../entities/conversations/runs/history.ts';
import type { VersionFigures } from '../../../storage/conversations/runs/version-figures.ts';
import { loadAgent } from '../../agents/agent-edge.ts';
import { findModel } from '../../agents/models.ts';
import { batched } from '../../ground/builder/batched.ts';
import { builder } from '../../ground/builder/builder.ts';
import { reading } from '../../ground/builder/members.ts';
import { loadNode } from '../../ground/builder/nodes.ts';
import { AgentRef, ApiKeyRef, ModelRef, UserRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { RunFilterInput } from './history.ts';

const PercentilesType = builder.objectRef<RunPercentiles>('RunPercentiles').implement({
  access: { scope: 'CHATS:READ' },
  description: 'Nearest-rank percentiles of a time, in milliseconds.',
  fields: (t) => ({
    p50: t.exposeInt('p50', { description: 'Half of the runs took no longer.' }),
    p95: t.exposeInt('p95', { description: '95 of 100 runs took no longer.' }),
  }),
});

export const RunFiguresType = builder.objectRef<RunFigures>('RunFigures').implement({
  access: { scope: 'CHATS:READ' },
  description: 'What runs took and cost together.',
  fields: (t) => ({
    runCount: t.exposeInt('runCount', { description: 'How many runs.' }),
    completedCount: t.exposeInt('completedCount', { description: 'Those that completed.' }),
    failedCount: t.exposeInt('failedCount', { description: 'Those that failed.' }),
    incompleteCount: t.exposeInt('incompleteCount', { description: 'Those that were cut, or are paused.' }),
    cancelledCount: t.exposeInt('cancelledCount', { description: 'Those that were cancelled.' }),
    activeCount: t.exposeInt('activeCount', { description: 'Those that are not over.' }),
    firstTokenMs: t.expose('firstTokenMs', {
      type: PercentilesType,
      nullable: true,
      description: 'Time to the first token; null when no run has one.',
    }),
    durationMs: t.expose('durationMs', {
      type: PercentilesType,
      nullable: true,
      description: 'Time to the end; null when no run is over. Not computed where figures are members of an agent.',
    }),
    inputTokens: t.expose('inputTokens', { type: 'Count', description: 'Input tokens.' }),
    outputTokens: t.expose('outputTokens', { type: 'Count', description: 'Output tokens.' }),
    cachedTokens: t.expose('cachedTokens', { type: 'Count', description: 'Input tokens that providers read from their caches.' }),
    cacheWriteTokens: t.expose('cacheWriteTokens', {
      type: 'Count',
      description: 'Input tokens that providers wrote to their caches.',
    }),
    reasoningTokens: t.expose('reasoningTokens', { type: 'Count', description: 'Output tokens spent on thinking.' }),
    cost: t.exposeFloat('cost', {
      description: 'What the runs cost whose cost is known, in the currency of COST_CURRENCY: an exact sum of decimal numbers.',
    }),
    unpricedCount: t.exposeInt('unpricedCount', { description: 'Runs that used tokens of a model without a price.' }),
    ratedUpCount: t.exposeInt('ratedUp', { description: 'Answers that are rated good.' }),
    ratedDownCount: t.exposeInt('ratedDown', { description: 'Answers that are rated bad.' }),
    nothingFoundCount: t.exposeInt('nothingFoundCount', {
      description: 'Runs whose knowledge was searched, and that got no passage.',
    }),
  }),
});

const figuresOfAgent = batched((agents: readonly AgentView[], { deps, caller }) =>
  agentRunFigures(
    deps,
    caller,
    agents.map((agent) => ({ id: agent.id, orgId: agent.orgId, canEdit: canEditAgent(caller, agent) })),
  ),
);

builder.objectField(AgentRef, 'runFigures', (t) =>
  t.field({
    extensions: reading<AgentView>('id', 'orgId', 'userId', 'editors'),
    type: RunFiguresType,
    nullable: true,
    description:
      'What its runs of the last 30 days took and cost, without percentiles. Null for callers who may neither edit it nor administer its organization.',
    resolve: (agent, _args, context) => figuresOfAgent(context, agent),
  }),
);

/** A group knows what it is a group of. */
type GroupView = RunGroup & { readonly by: RunStatistics['by'] };

const GroupType = builder.objectRef<GroupView>('RunGroup').implement({
  access: { scope: 'CHATS:READ' },
  description: 'The runs of one agent, person, key or model, or of one day or hour.',
  fields: (t) => ({
    key: t.exposeString('key', {
      nullable: true,
      description: 'The id of the agent, person or key, the model, or when the day or hour begins. Null: runs without one.',
    }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'By AGENT; null when it is gone or the caller may not see it.',
      resolve: ({ by, key }, _args, context, info) => (by === 'AGENT' ? loadAgent(context, key, info) : null),
    }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'By USER; null when it is gone or the caller may not see it.',
      resolve: ({ by, key }, _args, context) => (by === 'USER' ? loadNode(context, 'user', key) : null),
    }),
    apiKey: t.field({
      type: ApiKeyRef,
      nullable: true,
      description: 'By KEY; null when it is gone or the caller may not see it.',
      resolve: ({ by, key }, _args, context) => (by === 'KEY' ? loadNode(context, 'apiKey', key) : null),
    }),
    model: t.field({
      type: ModelRef,
      nullable: true,
      description: 'By MODEL; null when the installation does not have it any more.',
      resolve: ({ by, key }, _args, context) => (by === 'MODEL' ? findModel(context, key) : null),
    }),
    startsAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'By DAY and HOUR: when it begins, in UTC.',
      resolve: ({ by, key }) => ((by === 'DAY' || by === 'HOUR') && key !== null ? new Date(key) : null),
    }),
    figures: t.field({ type: RunFiguresType, description: 'What its runs took and cost.', resolve: (group) => group }),
  }),
});

const RunGroupingType = createEnum('RunGrouping', 'What runs are counted by.', runGroupings, {
  AGENT: 'By agent.',
  USER: 'By person.',
  KEY: 'By API key.',
  MODEL: 'By the model that was asked for.',
  DAY: 'By UTC day.',
  HOUR: 'By UTC hour.',
});

const StatisticsType = builder.objectRef<RunStatistics>('RunStatistics').implement({
  access: { scope: 'CHATS:READ' },
  description: 'What the runs that the caller sees took and cost.',
  fields: (t) => ({
    since: t.expose('since', { type: 'DateTime', description: 'Runs that were asked for from this time on are counted.' }),
    until: t.expose('until', { type: 'DateTime', description: 'Runs that were asked for before this time are counted.' }),
    total: t.expose('total', { type: RunFiguresType, description: 'All of them together.' }),
    groups: t.field({
      type: [GroupType],
      description:
        'By DAY and HOUR in the order of time, those with runs only; else those with the most runs first. At most 100.',
      resolve: ({ groups, by }) => groups.map((group) => ({ ...group, by })),
    }),
    isComplete: t.exposeBoolean('isComplete', {
      description:
        'False when only the newest runs were counted, a million of them, or 200,000 on the embedded database: ask for a shorter time, or for fewer runs.',
    }),
  }),
});

const VersionFiguresType = builder.objectRef<VersionFigures>('AgentVersionFigures').implement({
  access: { scope: 'CHATS:READ' },
  description: 'What the runs of one version of an agent took and cost.',
  fields: (t) => ({
    version: t.exposeInt('version', {
      nullable: true,
      description: 'The number of the version; 0: drafts that were tried. Null: runs of before versions.',
    }),
    figures: t.field({ type: RunFiguresType, description: 'What they took and cost.', resolve: (figures) => figures }),
    unansweredCount: t.exposeInt('unansweredCount', {
      description: 'Runs whose knowledge gave nothing, or whose answer is rated bad: see `unansweredRuns`.',
    }),
    toolErrorCount: t.exposeInt('toolErrorCount', { description: 'Calls of tools that failed.' }),
  }),
});

builder.queryField('agentVersionStatistics', (t) =>
  t.field({
    authScopes: { key: 'CHATS:READ' },
    type: [VersionFiguresType],
    description:
      'What the runs of an agent took and cost by its versions, the newest first: of a canary and the published version side by side. Of runs in its organization. For those who may edit it.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      since: t.arg({ type: 'DateTime', required: false, description: 'Runs from this time on. Default: the last 30 days.' }),
      until: t.arg({
        type: 'DateTime',
        required: false,
        description: 'Runs before this time, at most 92 days later. Default: now.',
      }),
    },
    resolve: async (_root, { agentId, ...span }, { deps, caller }) => [...(await getVersionFigures(deps, caller, agentId, span))],
  }),
);

builder.queryField('runStatistics', (t) =>
  t.field({
    authScopes: { key: 'CHATS:READ' },
    type: StatisticsType,
    description:
      'What the runs of `runs` took and cost, in all and in groups: counts, errors, percentiles of times, tokens, cost, ratings. Default: the last 30 days, by HOUR the last one. At most 92 days, by HOUR four.',
    args: {
      filter: t.arg({ type: RunFilterInput, required: false, description: 'Which runs; default: all.' }),
      by: t.arg({ type: RunGroupingType, description: 'What they are counted by.' }),
    },
    resolve: (_root, { filter, by }, { deps, caller }) => getRunStatistics(deps, caller, filter ?? {}, by),
  }),
);
