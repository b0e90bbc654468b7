import type { CreateAgentInput as CreateShape } from '../../domain/agents/agents.ts';
import type { AgentInput as UpdateShape } from '../../domain/agents/input.ts';
import type { AgentCatalog } from '../../entities/agents/agent.ts';
import { agentChangesBody, newAgentBody } from '../../wire/agents.ts';
import { describe } from '../../wire/ground/body.ts';
import { builder, type InputBuilder } from '../ground/builder/builder.ts';
import { flatInput, listOfOne } from '../ground/builder/flat-inputs.ts';
import { AgentCatalogType, AgentVisibilityType, PublicCategoryType } from './enums.ts';
import { EnabledToolInput } from './tools/inputs.ts';

export const RestAgentOptionsInput = builder.inputType('RestAgentOptionsInput', {
  description: 'How the model samples: arrays of at most 16 numbers, the first of which is used.',
  fields: (t) => ({
    temperature: t.floatList({ required: false, description: '0 to 2.' }),
    topP: t.floatList({ required: false, description: '0 to 1.' }),
    topK: t.floatList({ required: false, description: 'Whole numbers from 1 to 1,000.' }),
    maxTokens: t.floatList({ required: false, description: 'Most tokens of an answer.' }),
    maxInputTokens: t.floatList({ required: false, description: 'Most tokens given to the model.' }),
    frequencyPenalty: t.floatList({ required: false, description: '-2 to 2.' }),
    presencePenalty: t.floatList({ required: false, description: '-2 to 2.' }),
  }),
});

const AgentOptionsInput = flatInput(
  builder.inputType('AgentOptionsInput', {
    description: 'How the model samples. Absent members are left to the model.',
    fields: (t) => ({
      temperature: t.float({ required: false, description: '0 to 2.' }),
      topP: t.float({ required: false, description: '0 to 1.' }),
      topK: t.int({ required: false, description: '1 to 1,000.' }),
      maxOutputTokens: t.int({ required: false, description: 'Most tokens of an answer.' }),
      maxInputTokens: t.int({ required: false, description: 'Most tokens given to the model.' }),
      frequencyPenalty: t.float({ required: false, description: '-2 to 2.' }),
      presencePenalty: t.float({ required: false, description: '-2 to 2.' }),
    }),
  }),
  {
    rest: RestAgentOptionsInput,
    members: {
      ...{ temperature: listOfOne, topP: listOfOne, topK: listOfOne, maxInputTokens: listOfOne },
      ...{ frequencyPenalty: listOfOne, presencePenalty: listOfOne, maxOutputTokens: { name: 'maxTokens', ...listOfOne } },
    },
  },
);

const FeatureInput = builder.inputType('AgentProfileFeatureInput', {
  description: 'Something an agent is good at.',
  fields: (t) => ({
    title: t.string({ description: 'The feature in a few words.' }),
    description: t.string({ description: 'The feature in a sentence.' }),
  }),
});

const SampleConversationInput = builder.inputType('SampleConversationInput', {
  description: 'What a user may ask, and what the agent answers then.',
  fields: (t) => ({
    question: t.string({ description: 'The question.' }),
    answer: t.string({ description: 'The answer.' }),
  }),
});

export const RestAgentProfileInput = builder.inputType('RestAgentProfileInput', {
  description: 'How an agent is presented. The profile is replaced whole.',
  fields: (t) => ({
    ...profileFields(t),
    conversations: t.field({
      type: ['JsonObject'],
      required: false,
      description: 'Sample conversations, at most 100: any objects.',
    }),
  }),
});
const AgentProfileInput = flatInput(
  builder.inputType('AgentProfileInput', {
    description: 'How an agent is presented. The profile is replaced whole.',
    fields: (t) => ({
      ...profileFields(t),
      conversations: t.field({
        type: [SampleConversationInput],
        required: false,
        description: 'Sample conversations, at most 100.',
      }),
    }),
  }),
  { rest: RestAgentProfileInput },
);

function profileFields(t: InputBuilder) {
  return {
    headline: t.string({ required: false, description: 'A headline of one line.' }),
    description: t.string({ required: false, description: 'A description of one paragraph.' }),
    trainingDescription: t.string({ required: false, description: 'A description of its knowledge.' }),
    features: t.field({ type: [FeatureInput], required: false, description: 'What it is good at; at most 50.' }),
    showCharacter: t.boolean({ required: false, description: 'Whether its character is shown.' }),
    showTraining: t.boolean({ required: false, description: 'Whether its training is shown.' }),
    showPersonality: t.boolean({ required: false, description: 'Whether its personality is shown.' }),
    showSpeaker: t.boolean({ required: false, description: 'Whether its speaker is shown.' }),
    showVideo: t.boolean({ required: false, description: 'Whether its video is shown.' }),
    socialImage: t.string({ required: false, description: 'The preview image of links.' }),
    idleVideo: t.string({ required: false, description: 'A video shown while the agent waits.' }),
    idleVideoError: t.string({ required: false, description: 'Why that video could not be made.' }),
    voice: t.string({ required: false, description: 'The voice it speaks with.' }),
    voiceEngine: t.string({ required: false, description: 'The engine that makes the voice.' }),
    videoModel: t.string({ required: false, description: 'The model that makes its videos.' }),
  };
}

const AgentEditorInput = builder.inputType('AgentEditorInput', {
  description: 'A member of the organization, by id or else by e-mail.',
  fields: (t) => ({
    id: t.id({ required: false, description: 'The id of the user.' }),
    email: t.string({ required: false, description: 'Used when there is no id.' }),
    name: t.string({ required: false, description: 'Ignored: users name themselves.' }),
  }),
});

/** The members that create and update share, all optional. */
function optionalFields(t: InputBuilder) {
  return {
    introduction: t.string({ required: false, description: describe(agentChangesBody, 'introduction') }),
    seed: t.string({ required: false, description: describe(agentChangesBody, 'seed') }),
    modelId: t.string({ required: false, description: describe(agentChangesBody, 'modelId') }),
    visibility: t.field({ type: AgentVisibilityType, required: false, description: describe(agentChangesBody, 'visibility') }),
    generateCitations: t.boolean({
      required: false,
      description: describe(agentChangesBody, 'generateCitations'),
    }),
    chatLogsVisible: t.boolean({
      required: false,
      description: describe(agentChangesBody, 'chatLogsVisible'),
    }),
    intermediateStepsVisible: t.boolean({
      required: false,
      description: describe(agentChangesBody, 'intermediateStepsVisible'),
    }),
    enabledTools: t.field({
      type: [EnabledToolInput],
      required: false,
      description: describe(agentChangesBody, 'enabledTools'),
    }),
    groups: t.field({ type: ['ID'], required: false, description: describe(agentChangesBody, 'groups') }),
    profile: t.field({ type: AgentProfileInput, required: false, description: describe(agentChangesBody, 'profile') }),
    editors: t.field({
      type: [AgentEditorInput],
      required: false,
      description: describe(agentChangesBody, 'editors'),
    }),
    publicCategories: t.field({
      type: [PublicCategoryType],
      required: false,
      description: describe(agentChangesBody, 'publicCategories'),
    }),
    orgCategoryIds: t.stringList({ required: false, description: describe(agentChangesBody, 'orgCategoryIds') }),
  };
}

/** Those of GraphQL alone. */
function graphFields(t: InputBuilder) {
  return {
    pictureUrl: t.string({ required: false, description: 'Its picture: an address, or a data URL. Null: none.' }),
    catalogs: t.field({
      type: [AgentCatalogType],
      required: false,
      description: 'The catalogs that list it. Replaced whole; null: none.',
    }),
    options: t.field({ type: AgentOptionsInput, required: false, description: 'How the model samples. Replaced whole.' }),
  };
}

function requiredTexts(t: InputBuilder) {
  return {
    name: t.string({ description: describe(newAgentBody, 'name') }),
    description: t.string({ description: describe(newAgentBody, 'description') }),
    instructions: t.string({ description: describe(newAgentBody, 'instructions') }),
  };
}

function changedTexts(t: InputBuilder) {
  return {
    name: t.string({ required: false, description: describe(agentChangesBody, 'name') }),
    description: t.string({ required: false, description: describe(agentChangesBody, 'description') }),
    instructions: t.string({ required: false, description: describe(agentChangesBody, 'instructions') }),
  };
}

/** `[PUBLIC]` → one flag a catalog, as REST has them. */
const members = {
  pictureUrl: { name: 'src', ofNull: '' },
  catalogs: {
    isSpread: true,
    ofNull: toFlags([]),
    flatten: (catalogs: unknown) => toFlags(catalogs as readonly AgentCatalog[]),
    place: () => [],
  },
} as const;

function toFlags(catalogs: readonly AgentCatalog[]) {
  return {
    listInOrgCatalog: catalogs.includes('ORGANIZATION'),
    listInTenantCatalog: catalogs.includes('TENANT'),
    listInPublicCatalog: catalogs.includes('PUBLIC'),
  };
}

export const CreateAgentInput = flatInput<CreateShape>(
  builder.inputType('CreateAgentInput', {
    description: 'A new agent.',
    fields: (t) => ({ ...requiredTexts(t), ...graphFields(t), ...optionalFields(t) }),
  }),
  {
    body: newAgentBody,
    members,
  },
);

export const UpdateAgentInput = flatInput<UpdateShape>(
  builder.inputType('UpdateAgentInput', {
    description: 'Changes of an agent: absent members are kept, null clears what can be empty.',
    fields: (t) => ({ ...changedTexts(t), ...graphFields(t), ...optionalFields(t) }),
  }),
  {
    body: agentChangesBody,
    members,
  },
);

export const ApproveAgentInput = builder.inputType('ApproveAgentInput', {
  description: 'Whether an organization has approved an agent.',
  fields: (t) => ({
    isApproved: t.boolean({ required: false, description: 'False removes the approval. Default true.' }),
  }),
});

export const RateAgentInput = builder.inputType('RateAgentInput', {
  description: 'What a user thinks of an agent.',
  fields: (t) => ({
    rating: t.int({ required: false, description: '1 to 5; null removes an earlier rating.' }),
  }),
});
