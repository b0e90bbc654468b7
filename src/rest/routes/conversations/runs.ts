import { pageInfo, pageQuery } from '../../paging.ts';
import type { DeclaredRoute } from '../../route.ts';

const tag = 'Runs';
const period = {
  since: 'Asked for at this time or later.',
  until: 'Asked for before this time.',
};
const which = {
  agentId: 'Runs of this agent.',
  userId: 'Runs of this person.',
  keyId: 'Runs that this key asked for.',
  modelId: 'Runs that asked for this model: `provider/name`.',
  status: '`in_progress`, `completed`, `failed`, `incomplete` or `cancelled`.',
  kind: '`CHAT`, `COMPLETION`, `RESPONSE`, `EMBEDDING`, `SEARCH`, `COMPACTION` or `PROFILE`.',
  ...period,
  feedback: '`UP`, `DOWN`, or `ANY`: runs with such ratings.',
  search:
    'The id of a run, an agent, a chat, a person or a key; else words in the name of the agent, in the model, or in the question.',
};
const variables = `$agentId: ID, $userId: ID, $keyId: ID, $modelId: String, $status: RunStatus, $kind: RunKind, $since: DateTime, $until: DateTime,
  $feedback: RunFeedback, $search: String`;
const filter = `filter: { agentId: $agentId, userId: $userId, keyId: $keyId, modelId: $modelId, status: $status, kind: $kind, since: $since,
  until: $until, feedback: $feedback, search: $search }`;

const usage = 'usage { inputTokens outputTokens cachedTokens reasoningTokens isEstimated }';
const passages = 'title score knowledgeItemId dataSourceId';
const runFields = `id kind isStored createdAt startedAt endedAt status incompleteReason error { code message } userId keyId agentId chatId modelId
  answeredModelId firstTokenMs durationMs ${usage} cost
  retrieval { mode reason passageCount bestScore nearPassages { ${passages} } } ratedUpCount ratedDownCount`;
const stepFields = `type: __typename offsetMs durationMs status errorCode subagentId
  ... on RetrievalStep { question mode reason passageCount passages { ${passages} } }
  ... on ModelCallStep { modelId firstTokenMs ${usage} cost }
  ... on ToolCallStep { itemId callId name }
  ... on SubagentStep { id name agentId depth ${usage} cost }
  ... on FlowRunStep { stepId does }`;
const figures = `runCount completedCount failedCount incompleteCount cancelledCount activeCount firstTokenMs { p50 p95 } durationMs { p50 p95 }
  inputTokens outputTokens cachedTokens reasoningTokens cost unpricedCount ratedUpCount ratedDownCount nothingFoundCount`;

export const runRoutes: readonly DeclaredRoute[] = [
  {
    operationId: 'listRuns',
    method: 'get',
    path: '/api/v1/runs',
    summary: 'List runs',
    description:
      'Runs of every kind and API, newest first, those that are not stored too. Administrators see all of their organization, others their own and those of AIs that they may edit. No contents.',
    tag,
    document: `query (${variables}, $limit: Int = 100, $cursor: String) {
      runs(${filter}, first: $limit, after: $cursor) { nodes { ${runFields} } ${pageInfo} }
    }`,
    query: { ...which, ...pageQuery },
    wrap: 'data',
    page: 'cursor',
    schemas: { Run: 'RunRow', Usage: 'RunUsage' },
  },
  {
    operationId: 'getRunStatistics',
    method: 'get',
    path: '/api/v1/runs/statistics',
    summary: 'Get statistics of runs',
    description:
      'What runs took and cost, in all and in groups: counts, errors, percentiles of times, tokens, cost, ratings. Default: the last 30 days, by HOUR the last one. At most 92 days, by HOUR four.',
    tag,
    document: `query (${variables}, $by: RunGrouping!) {
      runStatistics(${filter}, by: $by) { since until isComplete total { ${figures} } groups { key figures { ${figures} } } }
    }`,
    query: { ...which, by: 'What they are counted by: `AGENT`, `USER`, `KEY`, `MODEL`, `DAY` or `HOUR`.' },
  },
  {
    operationId: 'listUnansweredQuestions',
    method: 'get',
    path: '/api/v1/runs/unanswered',
    summary: 'List questions without an answer',
    description:
      'Runs whose knowledge was searched and gave nothing, or whose answer is rated bad, newest first: with the question, as far as the caller may read it, and the passages that were near.',
    tag,
    document: `query ($agentId: ID, $since: DateTime, $until: DateTime, $limit: Int = 100, $cursor: String) {
      unansweredQuestions(agentId: $agentId, since: $since, until: $until, first: $limit, after: $cursor) {
        nodes { run { id createdAt kind agentId userId chatId } question reason reasons passages { ${passages} } }
        ${pageInfo}
      }
    }`,
    query: { agentId: 'Of this agent; default: of all.', ...period, ...pageQuery },
    wrap: 'data',
    page: 'cursor',
    schemas: { Run: 'UnansweredRun' },
  },
  {
    operationId: 'getRun',
    method: 'get',
    path: '/api/v1/runs/{runId}',
    summary: 'Get run',
    description: 'One run of any kind, by the id that the API gave which it was asked for with, and what it did. No contents.',
    tag,
    document: `query ($runId: ID!) { run(id: $runId) { ${runFields} steps { ${stepFields} } } }`,
    schemas: { Run: 'RunDetail', Usage: 'RunUsage' },
  },
];
