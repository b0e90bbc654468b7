import { listRunSteps, listSearchedQuestions, type RunStepView } from '../../../domain/conversations/runs/steps.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import { findModel } from '../../agents/models.ts';
import { builder } from '../../ground/builder/builder.ts';
import { loaded } from '../../ground/builder/loaded.ts';
import { loadNode } from '../../ground/builder/nodes.ts';
import { AgentRef, ModelRef, RunRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { LexicalReasonType, RetrievalModeType, storedLexicalReason } from '../../knowledge/retrieval.ts';
import { FlowStepKindType } from './flow-steps.ts';
import { FoundPassageType } from './history.ts';
import { UsageType } from './parts.ts';
import { findRow } from './source.ts';

type StepOf<Type extends RunStepView['type']> = Extract<RunStepView, { readonly type: Type }>;

const stepsOf = loaded((runs: readonly Run[], { deps, caller }) => listRunSteps(deps, caller, runs));
const questionsOf = loaded((runs: readonly Run[], { deps, caller }) => listSearchedQuestions(deps, caller, runs));

const typeNames = {
  retrieval: 'RetrievalStep',
  model_call: 'ModelCallStep',
  tool_call: 'ToolCallStep',
  subagent: 'SubagentStep',
  flow: 'FlowRunStep',
} as const satisfies Record<RunStepView['type'], string>;

const stepStatuses = ['in_progress', 'completed', 'failed', 'cancelled', 'skipped', 'awaited'] as const;
const RunStepStatusType = createEnum('RunStepStatus', 'The state of a step of a run.', stepStatuses, {
  in_progress: 'It is not over.',
  completed: 'It came to its end.',
  failed: 'It failed. The run may have gone on without it.',
  cancelled: 'It was stopped.',
  skipped: 'A branch of the flow passed it over.',
  awaited: 'The caller is asked to make the call.',
});

function findStatus(step: RunStepView): (typeof stepStatuses)[number] {
  switch (step.type) {
    case 'retrieval':
      return step.mode === null ? 'failed' : 'completed';
    case 'model_call':
      if (step.errorCode === null) return 'completed';
      return step.errorCode === 'CLIENT_CLOSED_REQUEST' ? 'cancelled' : 'failed';
    case 'tool_call':
      return step.outcome;
    case 'subagent':
    case 'flow':
      return step.status;
  }
}

const RunStepType = builder.interfaceRef<RunStepView>('RunStep').implement({
  access: { scope: 'CHATS:READ' },
  description: 'Something that a run did between question and answer, with its place in time. No contents.',
  fields: (t) => ({
    offsetMs: t.exposeInt('offsetMs', {
      nullable: true,
      description: 'Milliseconds from the start of the run to that of the step; null where it is not known.',
    }),
    durationMs: t.exposeInt('durationMs', {
      nullable: true,
      description: 'Milliseconds that it took; null while it goes on, and where it is not known.',
    }),
    status: t.field({ type: RunStepStatusType, description: 'How it ended, or that it has not.', resolve: findStatus }),
    errorCode: t.string({
      nullable: true,
      description: 'Of a call of a model or a tool that failed: the code of its error. Null for every other step.',
      resolve: (step) => ('errorCode' in step ? step.errorCode : null),
    }),
    subagentId: t.id({
      nullable: true,
      description: 'The subagent that took the step: the `id` of a SubagentStep. Null: the run itself did.',
      resolve: ({ subagentId }) => subagentId ?? null,
    }),
  }),
  resolveType: ({ type }) => typeNames[type],
});

builder.objectRef<StepOf<'retrieval'>>('RetrievalStep').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A search for passages.',
  interfaces: [RunStepType],
  fields: (t) => ({
    question: t.string({
      nullable: true,
      description:
        'What was searched for. Null where the caller may not read what was said, of a run that is not stored, and when its events are no longer kept.',
      resolve: async ({ run, startedAtMs }, _args, context) =>
        startedAtMs === null ? null : ((await questionsOf(context, run)).get(startedAtMs) ?? null),
    }),
    mode: t.expose('mode', { type: RetrievalModeType, nullable: true, description: 'How; null when the search failed.' }),
    reason: t.field({
      type: LexicalReasonType,
      nullable: true,
      description: 'Why meaning took no part although vectors are switched on; null otherwise.',
      resolve: storedLexicalReason,
    }),
    passageCount: t.exposeInt('passageCount', { description: 'How many passages the model got.' }),
    passages: t.field({
      type: [FoundPassageType],
      description: 'The first of those that were found, best first; at most 100.',
      resolve: ({ passages }) => [...passages],
    }),
  }),
});

builder.objectRef<StepOf<'model_call'>>('ModelCallStep').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A call of a model, with its retries and fallbacks.',
  interfaces: [RunStepType],
  fields: (t) => ({
    modelId: t.exposeString('modelId', { description: 'The model that answered, else the one that was asked.' }),
    model: t.field({
      type: ModelRef,
      nullable: true,
      description: 'The same; null when the installation does not have it any more.',
      resolve: ({ modelId }, _args, context) => findModel(context, modelId),
    }),
    firstTokenMs: t.exposeInt('firstTokenMs', {
      nullable: true,
      description: 'Milliseconds from the request to the first token; null when none came, and where it is not known.',
    }),
    usage: t.field({
      type: UsageType,
      nullable: true,
      description: 'Its tokens; null when the model refused before its first token, which costs nothing.',
      resolve: ({ usage }) => usage,
    }),
    cost: t.float({
      nullable: true,
      description: 'What it cost, in the currency of COST_CURRENCY; null when the model has no price.',
      resolve: ({ cost }) => (cost === null ? null : Number(cost)),
    }),
  }),
});

builder.objectRef<StepOf<'tool_call'>>('ToolCallStep').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A call of a tool.',
  interfaces: [RunStepType],
  fields: (t) => ({
    itemId: t.exposeID('itemId', { description: 'The item of the output of the run that shows the call.' }),
    callId: t.exposeString('callId', { description: 'The id of the call.' }),
    name: t.exposeString('name', { description: 'The name of the function.' }),
  }),
});

builder.objectRef<StepOf<'subagent'>>('SubagentStep').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A subagent from its start to its end. Its own steps name it in `subagentId`.',
  interfaces: [RunStepType],
  fields: (t) => ({
    id: t.exposeString('id', { description: 'Its id within the run.' }),
    name: t.exposeString('name', { description: 'What it is called.' }),
    agentId: t.exposeID('agentId', { nullable: true, description: 'The agent that it answers as; null for a bare model.' }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'The same; null when it is gone or the caller may not see it.',
      resolve: ({ agentId }, _args, context) => loadNode(context, 'agent', agentId),
    }),
    depth: t.exposeInt('depth', { description: '1 below the run itself.' }),
    usage: t.field({
      type: UsageType,
      nullable: true,
      description: 'Its tokens, a part of those of the run; null when its process died.',
      resolve: ({ usage }) => usage,
    }),
    cost: t.float({
      nullable: true,
      description: 'What it cost, a part of the cost of the run; null when one of its models has no price.',
      resolve: ({ cost }) => (cost === null ? null : Number(cost)),
    }),
  }),
});

builder.objectRef<StepOf<'flow'>>('FlowRunStep').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A step of the flow that answers.',
  interfaces: [RunStepType],
  fields: (t) => ({
    stepId: t.exposeString('stepId', { description: 'Its id in the flow, else `step_` and its place from 1.' }),
    does: t.expose('does', { type: FlowStepKindType, description: 'What it does.' }),
  }),
});

builder.objectField(RunRef, 'steps', (t) =>
  t.field({
    type: [RunStepType],
    description:
      'What it did, in the order in which it began; at most 100 steps. Searches, and steps of a flow, only where the agent shows its steps or the caller may edit it.',
    resolve: async (run, _args, context) => {
      const row = await findRow(run, context);
      return row === null ? [] : [...(await stepsOf(context, row))];
    },
  }),
);
