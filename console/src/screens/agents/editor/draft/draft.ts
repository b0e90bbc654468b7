import type { AgentFieldsFragment, UpdateAgentInput } from '../documents.ts';
import { type StandingTool, toToolInput } from '../tools/standing.ts';

/** The values that the sections of the editor change together. Texts that may be absent are empty. */
export interface AgentFields {
  readonly name: string;
  readonly description: string;
  readonly introduction: string;
  readonly seed: string;
  readonly pictureUrl: string;
  readonly instructions: string;
  readonly modelId: string;
  readonly options: AgentFieldsFragment['options'];
  readonly generateCitations: boolean;
  readonly intermediateStepsVisible: boolean;
  readonly chatLogsVisible: boolean;
  readonly visibility: AgentFieldsFragment['visibility'];
  readonly groups: AgentFieldsFragment['groups'];
  readonly editors: readonly EditorChoice[];
  readonly catalogs: AgentFieldsFragment['catalogs'];
  readonly orgCategoryIds: AgentFieldsFragment['orgCategoryIds'];
  readonly publicCategories: AgentFieldsFragment['publicCategories'];
  readonly profile: AgentFieldsFragment['profile'];
  readonly enabledTools: readonly StandingTool[];
}

/** A user who edits the agent: known by id, or named by e-mail until it is saved. */
export interface EditorChoice {
  readonly id: string | null;
  readonly name: string;
  readonly email: string | null;
}

export type FieldName = keyof AgentFields;

export const fieldNames: readonly FieldName[] = [
  ...(['name', 'description', 'introduction', 'seed', 'pictureUrl', 'instructions', 'modelId', 'options'] as const),
  ...(['generateCitations', 'intermediateStepsVisible', 'chatLogsVisible', 'visibility', 'groups', 'editors'] as const),
  ...(['catalogs', 'orgCategoryIds', 'publicCategories', 'profile', 'enabledTools'] as const),
];

export function readFields(agent: AgentFieldsFragment): AgentFields {
  return {
    name: agent.name,
    description: agent.description,
    introduction: agent.introduction ?? '',
    seed: agent.seed ?? '',
    pictureUrl: agent.pictureUrl ?? '',
    instructions: agent.instructions ?? '',
    modelId: agent.modelId,
    options: withoutTypename(agent.options),
    generateCitations: agent.generateCitations,
    intermediateStepsVisible: agent.intermediateStepsVisible,
    chatLogsVisible: agent.chatLogsVisible,
    visibility: agent.visibility,
    groups: agent.groups.map(({ id, name }) => ({ id, name })),
    editors: agent.editors.map(({ id, name, email }) => ({ id, name, email })),
    catalogs: agent.catalogs,
    orgCategoryIds: agent.orgCategoryIds,
    publicCategories: agent.publicCategories,
    profile: readProfile(agent.profile),
    enabledTools: agent.enabledTools,
  };
}

const emptyAsNull = (text: string) => (text === '' ? null : text);

/** The input of a change that has these fields alone. */
export function toInput(fields: AgentFields, names: readonly FieldName[]): UpdateAgentInput {
  const whole: { readonly [Name in FieldName]: UpdateAgentInput[Name] } = {
    ...fields,
    introduction: emptyAsNull(fields.introduction),
    seed: emptyAsNull(fields.seed),
    pictureUrl: emptyAsNull(fields.pictureUrl),
    options: fields.options,
    groups: fields.groups.map(({ id }) => id),
    editors: fields.editors.map(({ id, email }) => (id === null ? { email } : { id })),
    catalogs: [...fields.catalogs],
    orgCategoryIds: [...fields.orgCategoryIds],
    publicCategories: [...fields.publicCategories],
    enabledTools: fields.enabledTools.map(toToolInput),
    profile: toProfileInput(fields.profile),
  };
  return Object.fromEntries(names.map((name) => [name, whole[name]]));
}

function readProfile(profile: AgentFieldsFragment['profile']): AgentFields['profile'] {
  return {
    ...withoutTypename(profile),
    features: profile.features.map(({ title, description }) => ({ title, description })),
    conversations: profile.conversations.map(({ question, answer }) => ({ question, answer })),
  };
}

function toProfileInput(profile: AgentFields['profile']): NonNullable<UpdateAgentInput['profile']> {
  return {
    ...profile,
    conversations: profile.conversations.map(({ question, answer }) => ({ question: question ?? '', answer: answer ?? '' })),
  };
}

/** The cache of the client adds the names of types, which no input takes. */
function withoutTypename<Value extends object>(value: Value): Value {
  const { __typename: _name, ...rest } = value as Value & { readonly __typename?: string };
  return rest as Value;
}
