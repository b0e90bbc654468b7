import type { AgentCatalog } from '../../entities/agents/agent.ts';
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
    introduction: t.string({ required: false, description: 'How it greets at the start of a chat.' }),
    seed: t.string({ required: false, description: 'Text that new chats begin from.' }),
    modelId: t.string({ required: false, description: '`provider/name`, or a unique bare name. Null: the default model.' }),
    visibility: t.field({ type: AgentVisibilityType, required: false, description: 'Who may use it. Default PRIVATE.' }),
    generateCitations: t.boolean({
      required: false,
      description: 'Whether answers cite passages. Default true.',
    }),
    chatLogsVisible: t.boolean({
      required: false,
      description: 'Whether its editors may read chats of its organization: those that begin while this is on.',
    }),
    intermediateStepsVisible: t.boolean({
      required: false,
      description: 'Whether users see the steps between question and answer.',
    }),
    enabledTools: t.field({
      type: [EnabledToolInput],
      required: false,
      description: 'Tools of the service that all its runs may use; at most 20. Replaced whole.',
    }),
    groups: t.field({ type: ['ID'], required: false, description: 'Ids of the groups it is shared with; at most 100.' }),
    profile: t.field({ type: AgentProfileInput, required: false, description: 'How it is presented. Replaced whole.' }),
    editors: t.field({
      type: [AgentEditorInput],
      required: false,
      description: 'Users who may edit it besides the owner; at most 100.',
    }),
    publicCategories: t.field({
      type: [PublicCategoryType],
      required: false,
      description: 'Where the public catalog lists it.',
    }),
    orgCategoryIds: t.stringList({ required: false, description: "Where the organization's catalog lists it; at most 100." }),
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

/** Those of REST alone. */
function restFields(t: InputBuilder) {
  return {
    listInOrgCatalog: t.boolean({ required: false, description: "Whether the organization's catalog lists it." }),
    listInPublicCatalog: t.boolean({ required: false, description: 'Whether the public catalog lists it.' }),
    listInTenantCatalog: t.boolean({ required: false, description: "Whether the tenant's catalog lists it." }),
    options: t.field({ type: RestAgentOptionsInput, required: false, description: 'How the model samples. Replaced whole.' }),
  };
}

function requiredTexts(t: InputBuilder) {
  return {
    name: t.string({ description: 'Shown to users; 1 to 200 characters.' }),
    description: t.string({ description: 'What it is for; at most 10,000 characters.' }),
    instructions: t.string({ description: 'The instructions for the model; at most 400,000 characters.' }),
  };
}

function changedTexts(t: InputBuilder) {
  return {
    name: t.string({ required: false, description: 'Shown to users; 1 to 200 characters.' }),
    description: t.string({ required: false, description: 'What it is for; at most 10,000 characters.' }),
    instructions: t.string({ required: false, description: 'The instructions for the model; at most 400,000 characters.' }),
  };
}

/** `[PUBLIC]` → one flag a catalog, as REST has them. */
const members = {
  pictureUrl: { name: 'src', ofNull: '' },
  catalogs: {
    isSpread: true,
    ofNull: flagsOf([]),
    flatten: (catalogs: unknown) => flagsOf(catalogs as readonly AgentCatalog[]),
    place: () => [],
  },
} as const;

function flagsOf(catalogs: readonly AgentCatalog[]) {
  return {
    listInOrgCatalog: catalogs.includes('ORGANIZATION'),
    listInTenantCatalog: catalogs.includes('TENANT'),
    listInPublicCatalog: catalogs.includes('PUBLIC'),
  };
}

export const CreateAgentInput = flatInput(
  builder.inputType('CreateAgentInput', {
    description: 'A new agent.',
    fields: (t) => ({ ...requiredTexts(t), ...graphFields(t), ...optionalFields(t) }),
  }),
  {
    rest: builder.inputType('RestCreateAgentInput', {
      description: 'A new agent.',
      fields: (t) => ({
        src: t.string({ description: 'Its picture: an address, or a data URL.' }),
        ...requiredTexts(t),
        ...restFields(t),
        ...optionalFields(t),
      }),
    }),
    members,
  },
);

const changesOfAgent = 'Changes of an agent: absent members are kept, null clears what can be empty.';

export const UpdateAgentInput = flatInput(
  builder.inputType('UpdateAgentInput', {
    description: changesOfAgent,
    fields: (t) => ({ ...changedTexts(t), ...graphFields(t), ...optionalFields(t) }),
  }),
  {
    rest: builder.inputType('RestUpdateAgentInput', {
      description: changesOfAgent,
      fields: (t) => ({
        src: t.string({ required: false, description: 'Its picture: an address, or a data URL.' }),
        ...changedTexts(t),
        ...restFields(t),
        ...optionalFields(t),
      }),
    }),
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
