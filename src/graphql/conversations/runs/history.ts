import { listRuns, pageRunsOfAgents } from '../../../domain/conversations/runs/history.ts';
import { runsThatShowSteps } from '../../../domain/conversations/runs/steps.ts';
import { findOpenItems } from '../../../domain/knowledge/permissions/open-items.ts';
import type { AgentView } from '../../../entities/agents/agent.ts';
import { runFeedbacks } from '../../../entities/conversations/runs/history.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import type { FoundPassage, RetrievalSummary } from '../../../entities/conversations/runs/step.ts';
import type { PageRequest } from '../../../entities/ground/page.ts';
import { hiddenTitle } from '../../../entities/knowledge/citation.ts';
import { findModel } from '../../agents/models.ts';
import { batched } from '../../ground/builder/batched.ts';
import { builder } from '../../ground/builder/builder.ts';
import type { GraphContext } from '../../ground/builder/context.ts';
import { loaded } from '../../ground/builder/loaded.ts';
import { reading } from '../../ground/builder/members.ts';
import { loadNode } from '../../ground/builder/nodes.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { AgentRef, ApiKeyRef, DataSourceRef, ModelRef, RunRef, UserRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { LexicalReasonType, RetrievalModeType, storedLexicalReason } from '../../knowledge/retrieval.ts';
import { RunKindType, RunStatusType } from './parts.ts';
import { findKeyId, findRow } from './source.ts';

const isOpenTo = batched((passages: readonly FoundPassage[], { deps, caller }) => findOpenItems(deps, caller, passages));

/** Costs no statement where the source is known to be LENT. */
async function isHidden(context: GraphContext, passage: FoundPassage): Promise<boolean> {
  const { dataSourceId } = passage;
  if (typeof dataSourceId === 'string' && context.deps.storage.knowledge.permissions.gates.isLent(dataSourceId)) return false;
  return !(await isOpenTo(context, passage));
}

export const FoundPassageType = builder.objectRef<FoundPassage>('FoundPassage').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A passage as a search found it: where it is, never its text.',
  fields: (t) => ({
    title: t.string({
      description: 'The title of its document; `Hidden from you` where the caller may not open it.',
      resolve: async (passage, _args, context) => ((await isHidden(context, passage)) ? hiddenTitle : passage.title),
    }),
    isHidden: t.boolean({
      description: 'Whether the caller may not open the document: then nothing is shown of it but how well it fits.',
      resolve: (passage, _args, context) => isHidden(context, passage),
    }),
    score: t.exposeFloat('score', { description: 'How well it fits; higher is closer.' }),
    knowledgeItemId: t.exposeID('knowledgeItemId', { nullable: true, description: 'Its document; null in old runs.' }),
    dataSourceId: t.exposeID('dataSourceId', { nullable: true, description: 'The source of its document; null in old runs.' }),
    dataSource: t.field({
      type: DataSourceRef,
      nullable: true,
      description: 'The source of its document; null when it is gone or the caller may not see it.',
      resolve: ({ dataSourceId }, _args, context) => loadNode(context, 'dataSource', dataSourceId),
    }),
  }),
});

const RetrievalSummaryType = builder.objectRef<RetrievalSummary>('RunRetrieval').implement({
  access: { scope: 'CHATS:READ' },
  description: 'How the knowledge of a run was searched, all its own searches together.',
  fields: (t) => ({
    mode: t.expose('mode', { type: RetrievalModeType, nullable: true, description: 'How; null when the search failed.' }),
    reason: t.field({
      type: LexicalReasonType,
      nullable: true,
      description: 'Why meaning took no part although vectors are switched on; null otherwise.',
      resolve: storedLexicalReason,
    }),
    passageCount: t.exposeInt('passageCount', { description: 'How many passages the model got.' }),
    bestScore: t.exposeFloat('bestScore', {
      nullable: true,
      description: 'The score of the best one; null when there was none.',
    }),
    nearPassages: t.field({
      type: [FoundPassageType],
      description: 'Of a run that got none: those that were near, best first; at most 8.',
      resolve: ({ near }) => [...(near ?? [])],
    }),
  }),
});

/** Whether the caller may see the steps of a run. */
const showsSteps = loaded(async (runs: readonly Run[], { deps, caller }) => {
  const showing = await runsThatShowSteps(deps, caller, runs);
  return runs.map(({ id }) => showing.has(id));
});

const ofRow = 'Of a run that is not stored, half a second after its end at the latest.';

builder.objectFields(RunRef, (t) => ({
  user: t.field({
    type: UserRef,
    nullable: true,
    description: 'Who asked for it; null when the person is gone or the caller may not see it.',
    resolve: async (run, _args, context) => loadNode(context, 'user', (await findRow(run, context))?.userId),
  }),
  key: t.field({
    type: ApiKeyRef,
    nullable: true,
    description: 'The key that asked for it; null when it is gone or the caller may not see it.',
    resolve: async (run, _args, context) => loadNode(context, 'apiKey', await findKeyId(run, context)),
  }),
  isStored: t.boolean({
    description: 'Whether its messages and events are kept. Of any other run, only what stands here is.',
    resolve: async (run, _args, context) => (await findRow(run, context))?.isStored ?? false,
  }),
  answeredModelId: t.string({
    nullable: true,
    description: 'The model that answered last, where it is another than the one that was asked for too. Null while none has.',
    resolve: async (run, _args, context) => (await findRow(run, context))?.answeredModelId ?? null,
  }),
  answeredModel: t.field({
    type: ModelRef,
    nullable: true,
    description: 'The same; null when the installation does not have it any more.',
    resolve: async (run, _args, context) => findModel(context, (await findRow(run, context))?.answeredModelId),
  }),
  firstTokenMs: t.int({
    nullable: true,
    description: `Milliseconds from the start of the work to the first token of a model; null when none came. ${ofRow}`,
    resolve: async (run, _args, context) => (await findRow(run, context))?.firstTokenMs ?? null,
  }),
  durationMs: t.int({
    nullable: true,
    description: `Milliseconds that it was worked on, without pauses; null until it is over. ${ofRow}`,
    resolve: async (run, _args, context) => (await findRow(run, context))?.durationMs ?? null,
  }),
  cost: t.float({
    nullable: true,
    description: `What its model calls cost by the prices of the models file when it ran, in the currency of COST_CURRENCY; null when one of its models has no price. ${ofRow}`,
    resolve: async (run, _args, context) => (await findRow(run, context))?.cost ?? null,
  }),
  retrieval: t.field({
    type: RetrievalSummaryType,
    nullable: true,
    description: 'How its knowledge was searched. Null when it was not, and where the agent hides its steps from the caller.',
    resolve: async (run, _args, context) => {
      const row = await findRow(run, context);
      return row === null || row.retrieval === null || !(await showsSteps(context, row)) ? null : row.retrieval;
    },
  }),
  ratedUpCount: t.int({
    description: 'How many of its answers are rated good.',
    resolve: async (run, _args, context) => (await findRow(run, context))?.ratedUp ?? 0,
  }),
  ratedDownCount: t.int({
    description: 'How many of its answers are rated bad.',
    resolve: async (run, _args, context) => (await findRow(run, context))?.ratedDown ?? 0,
  }),
}));

const RunFeedbackType = createEnum('RunFeedback', 'How the answers of a run are rated.', runFeedbacks, {
  UP: 'At least one is rated good.',
  DOWN: 'At least one is rated bad.',
  ANY: 'At least one is rated.',
});

export const RunFilterInput = builder.inputType('RunFilter', {
  description: 'Runs that fit all members. A thing that the caller may not see has no runs.',
  fields: (t) => ({
    agentId: t.id({ required: false, description: 'Runs of this agent.' }),
    userId: t.id({ required: false, description: 'Runs of this person.' }),
    keyId: t.id({ required: false, description: 'Runs that this key asked for.' }),
    modelId: t.string({ required: false, description: 'Runs that asked for this model: `provider/name`.' }),
    status: t.field({ type: RunStatusType, required: false, description: 'Runs in this state.' }),
    kind: t.field({ type: RunKindType, required: false, description: 'Runs of this kind.' }),
    since: t.field({ type: 'DateTime', required: false, description: 'Asked for at this time or later.' }),
    until: t.field({ type: 'DateTime', required: false, description: 'Asked for before this time.' }),
    feedback: t.field({ type: RunFeedbackType, required: false, description: 'Runs with such ratings.' }),
    tag: t.string({ required: false, description: 'Runs with this tag.' }),
    search: t.string({
      required: false,
      description:
        'The id of a run, an agent, a chat, a person or a key; else words in the name of the agent, in the model, or in the question, as far as the caller may read it: of the newest 200 chats of the caller, and of agents that show theirs. At most 200 characters.',
    }),
  }),
});

const RunOrderType = createEnum('RunOrder', 'The order of runs.', ['newest_first', 'oldest_first'], {
  newest_first: 'The run that was asked for last first.',
  oldest_first: 'The run that was asked for first first.',
});

const RunConnection = makeConnection(RunRef, 'Run', 'Runs');

const runsOf = batched((agentIds: readonly string[], { deps, caller }, page: PageRequest) =>
  pageRunsOfAgents(deps, caller, agentIds, page),
);

builder.objectField(AgentRef, 'runs', (t) =>
  t.field({
    extensions: reading<AgentView>('id'),
    type: RunConnection,
    description:
      "Its runs in the caller's organization, newest first: all of them for administrators and for who may edit it, the caller's own for others. `runs` narrows them further.",
    args: pageArgs(t.arg),
    resolve: ({ id }, args, context) => runsOf(context, id, pageRequest(context, args)),
  }),
);

builder.queryField('runs', (t) =>
  t.field({
    authScopes: { key: 'CHATS:READ' },
    type: RunConnection,
    description:
      'Runs of every kind and API, those that are not stored too: chats, completions, responses, embeddings, searches. Administrators see all of their organization, others their own and those of agents that they may edit. What was said follows the rules of chats: an administrator sees that a run was, not what it said.',
    args: {
      filter: t.arg({ type: RunFilterInput, required: false, description: 'Which runs; default: all.' }),
      orderBy: t.arg({ type: RunOrderType, required: false, description: 'Default NEWEST_FIRST.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { filter, orderBy, ...page }, context) =>
      listRuns(context.deps, context.caller, filter ?? {}, {
        ...pageRequest(context, page),
        isOldestFirst: orderBy === 'oldest_first',
      }),
  }),
);
