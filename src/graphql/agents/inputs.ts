import type { CreateAgentInput as CreateShape } from '../../domain/agents/agents.ts';
import type { AgentInput as UpdateShape } from '../../domain/agents/input.ts';
import type { AgentCatalog } from '../../entities/agents/agent.ts';
import { agentOptionList } from '../../entities/agents/options.ts';
import { agentChangesBody, newAgentBody } from '../../wire/agents/agents.ts';
import { agentOptionsBody } from '../../wire/agents/options.ts';
import { agentProfileBody } from '../../wire/agents/profile.ts';
import { describe } from '../../wire/ground/body.ts';
import { builder, type InputBuilder } from '../ground/builder/builder.ts';
import { flatInput, listOfOne } from '../ground/builder/flat-inputs.ts';
import { AgentCatalogType, AgentVisibilityType, PublicCategoryType } from './enums.ts';
import { EnabledToolInput } from './tools/inputs.ts';

const AgentOptionsInput = flatInput(
  builder.inputType('AgentOptionsInput', {
    description: 'How the model samples. Absent members are left to the model.',
    fields: (t) => optionMembers(t, agentOptionList),
  }),
  {
    body: agentOptionsBody,
    members: Object.fromEntries(agentOptionList.map(({ name, graphName = name }) => [graphName, { name, ...listOfOne }])),
  },
);

/** One number for each option. */
export function optionMembers(
  t: InputBuilder,
  options: readonly Pick<(typeof agentOptionList)[number], 'name' | 'graphName' | 'description' | 'isWhole'>[],
) {
  return Object.fromEntries(
    options.map(({ name, graphName = name, description, isWhole }) => [
      graphName,
      isWhole ? t.int({ required: false, description }) : t.float({ required: false, description }),
    ]),
  );
}

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

const AgentProfileInput = flatInput(
  builder.inputType('AgentProfileInput', {
    description: 'How an agent is presented. The profile is replaced whole.',
    fields: (t) => ({
      ...texts(t, ['headline', 'description', 'trainingDescription']),
      features: t.field({ type: [FeatureInput], required: false, description: describe(agentProfileBody, 'features') }),
      ...flags(t, ['showCharacter', 'showTraining', 'showPersonality', 'showSpeaker', 'showVideo']),
      conversations: t.field({
        type: [SampleConversationInput],
        required: false,
        description: 'Sample conversations, at most 100.',
      }),
      ...texts(t, ['socialImage', 'idleVideo', 'idleVideoError', 'voice', 'voiceEngine', 'videoModel']),
    }),
  }),
  { body: agentProfileBody },
);

type ProfileMember = keyof typeof agentProfileBody.shape;
function texts(t: InputBuilder, names: readonly ProfileMember[]) {
  return Object.fromEntries(
    names.map((name) => [name, t.string({ required: false, description: describe(agentProfileBody, name) })]),
  );
}
function flags(t: InputBuilder, names: readonly ProfileMember[]) {
  return Object.fromEntries(
    names.map((name) => [name, t.boolean({ required: false, description: describe(agentProfileBody, name) })]),
  );
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
