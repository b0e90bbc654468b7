import {
  getRunTrace,
  type RunTraceView,
  type TracedModelCall,
  type TracedSkill,
  type TracedToolCall,
} from '../../../domain/conversations/runs/trace.ts';
import type { RetrievalRecord } from '../../../entities/conversations/runs/event.ts';
import { builder } from '../../ground/builder/builder.ts';
import { createEnum, ofFormat, textOnRest } from '../../ground/types/enums.ts';
import { LexicalReasonType, RetrievalModeType, storedLexicalReason } from '../../knowledge/retrieval.ts';
import { SubagentType } from './events/subagent-events.ts';
import { FlowStepType } from './flow-steps.ts';
import { RunStatusType } from './parts.ts';

const TracedPassageType = builder.objectRef<RetrievalRecord['passages'][number]>('TracedPassage').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A passage that a search found.',
  fields: (t) => ({
    title: t.exposeString('title', { description: 'The title of its document.' }),
    score: t.exposeFloat('score', { description: 'How well it fits; higher is closer.' }),
  }),
});

const RetrievalType = builder.objectRef<RetrievalRecord>('TracedRetrieval').implement({
  access: { scope: 'CHATS:READ' },
  description: 'One search for passages.',
  fields: (t) => ({
    question: t.exposeString('question', { description: 'What was searched for.' }),
    mode: t.field({
      type: RetrievalModeType,
      description: 'How it was searched.',
      extensions: { restDescription: '`hybrid`: by words and by meaning; `lexical`: by words alone.' },
      resolve: ({ mode }) => mode as 'hybrid' | 'lexical',
    }),
    reason: t.field({
      type: LexicalReasonType,
      nullable: true,
      description: 'Why meaning took no part although vectors are switched on; null otherwise.',
      resolve: storedLexicalReason,
    }),
    passages: t.field({
      type: [TracedPassageType],
      description: 'What it found, best first.',
      resolve: ({ passages }) => [...passages],
    }),
  }),
});

const ModelCallType = builder.objectRef<TracedModelCall>('TracedModelCall').implement({
  access: { scope: 'CHATS:READ' },
  description: 'One call of a model, those of subagents included.',
  fields: (t) => ({
    modelId: t.exposeString('modelId', { description: 'The model that answered.' }),
    inputTokens: t.exposeInt('inputTokens', { description: 'Input tokens.' }),
    outputTokens: t.exposeInt('outputTokens', { description: 'Output tokens.' }),
    durationMs: t.exposeInt('durationMs', {
      nullable: true,
      description: 'Milliseconds that it took; null where that is not known.',
    }),
  }),
});

const outcomes = ['completed', 'failed', 'in_progress', 'awaited'] as const;
const outcomeTexts = {
  completed: 'It gave an output.',
  failed: 'It failed.',
  in_progress: 'It is not over.',
  awaited: 'The caller makes it.',
};
const OutcomeType = createEnum('TracedCallOutcome', 'What became of a call.', outcomes, outcomeTexts, {
  ...ofFormat,
  ...textOnRest,
});

const ToolCallTraceType = builder.objectRef<TracedToolCall>('TracedToolCall').implement({
  access: { scope: 'CHATS:READ' },
  description: 'One call of a tool.',
  fields: (t) => ({
    callId: t.exposeString('callId', { description: 'The id of the call.' }),
    name: t.exposeString('name', { description: 'The function that was called.' }),
    outcome: t.expose('outcome', {
      type: OutcomeType,
      description: 'What became of it.',
      extensions: { restDescription: '`completed`, `failed`, `in_progress`, or `awaited`: the caller makes it.' },
    }),
    error: t.exposeString('error', { nullable: true, description: 'The code of its error; null for a good call.' }),
    durationMs: t.exposeInt('durationMs', {
      nullable: true,
      description: 'Milliseconds that it took; null where that is not known.',
    }),
  }),
});

const SkillType = builder.objectRef<TracedSkill>('TracedSkill').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A skill that the model read.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name that the model called.' }),
    content: t.exposeString('content', {
      nullable: true,
      description: 'What it read; null for callers who may not edit the agent, and for keys without the scope SKILLS:READ.',
    }),
  }),
});

export const RunTraceType = builder.objectRef<RunTraceView>('RunTrace').implement({
  access: { scope: 'CHATS:READ' },
  description: 'What a stored run did between question and answer.',
  fields: (t) => ({
    runId: t.exposeID('runId', { description: 'The run.' }),
    status: t.expose('status', { type: RunStatusType, description: 'Its status.' }),
    showsSteps: t.exposeBoolean('showsSteps', {
      description: 'Whether the caller sees steps and searches: the agent shows them, or the caller may edit the agent.',
    }),
    instructions: t.exposeString('instructions', {
      nullable: true,
      description:
        'What the model was told first, skills of the agent included; null for callers who may not edit the agent, and for keys without the scopes AGENTS:READ and SKILLS:READ.',
    }),
    steps: t.field({
      type: [FlowStepType],
      description: 'The steps of the flow that answered.',
      resolve: ({ steps }) => [...steps],
    }),
    retrieval: t.field({
      type: RetrievalType,
      nullable: true,
      description: 'The last search for passages; null when there was none, or it is not shown.',
      resolve: ({ retrievals }) => retrievals.at(-1) ?? null,
    }),
    retrievals: t.field({
      type: [RetrievalType],
      description: 'All searches for passages.',
      resolve: ({ retrievals }) => [...retrievals],
    }),
    modelCalls: t.field({
      type: [ModelCallType],
      description: 'The calls of models, in order.',
      resolve: ({ modelCalls }) => [...modelCalls],
    }),
    toolCalls: t.field({
      type: [ToolCallTraceType],
      description: 'The calls of tools, in order.',
      resolve: ({ toolCalls }) => [...toolCalls],
    }),
    subagents: t.field({
      type: [SubagentType],
      description: 'The subagents that it started.',
      resolve: ({ subagents }) => [...subagents],
    }),
    skills: t.field({ type: [SkillType], description: 'The skills that its model read.', resolve: ({ skills }) => [...skills] }),
  }),
});

builder.queryField('runTrace', (t) =>
  t.field({
    authScopes: { key: 'CHATS:READ' },
    type: RunTraceType,
    nullable: true,
    description:
      'The trace of a run of a chat, or of a stored response. Null for runs that are not stored, or whose chat the caller may not read.',
    args: { runId: t.arg.id({ description: 'The id of the run or response.' }) },
    resolve: (_root, { runId }, { deps, caller }) => getRunTrace(deps, caller, runId),
  }),
);
