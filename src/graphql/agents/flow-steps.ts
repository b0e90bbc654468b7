import { type FlowCondition, type FlowStep, flowOperators } from '../../entities/agents/flow.ts';
import { builder, type InputBuilder } from '../ground/builder/builder.ts';
import { type Conversion, flatInput, tagged } from '../ground/builder/flat-inputs.ts';
import { loadNodes } from '../ground/builder/nodes.ts';
import { DataSourceRef } from '../ground/refs.ts';
import { createEnum } from '../ground/types/enums.ts';

/** The steps of a flow: one type a step, and one input. REST has them as JSON: `{id, type, …}`. */
const access = { scope: 'AGENTS:READ' } as const;

const FlowOperatorType = createEnum('FlowOperator', 'How a branch compares two texts.', flowOperators, {
  equals: 'They are equal.',
  notEquals: 'They are not equal.',
  contains: 'The first holds the second.',
  notContains: 'The first does not hold the second.',
  greaterThan: 'The first is the greater number.',
  lessThan: 'The first is the smaller number.',
  isEmpty: 'The first is blank.',
  isNotEmpty: 'The first is not blank.',
});

const typeNames = {
  retrieve: 'RetrieveStep',
  prompt: 'PromptStep',
  tool: 'ToolStep',
  model: 'ModelStep',
  branch: 'BranchStep',
} as const;
type Step<Type extends FlowStep['type']> = Extract<FlowStep, { readonly type: Type }>;

export const AgentFlowStepType = builder.interfaceRef<FlowStep>('AgentFlowStep').implement({
  access,
  description: 'A step of a flow. Texts of steps may name outputs of earlier ones: `{{steps.find}}`.',
  fields: (t) => ({
    stepId: t.string({
      nullable: true,
      description: 'The name of the step in its flow, by which texts and branches name it.',
      resolve: ({ id }) => (id === '' ? null : id),
    }),
  }),
  resolveType: ({ type }) => typeNames[type],
});

const interfaces = [AgentFlowStepType];
const isA =
  (type: FlowStep['type']) =>
  (step: unknown): boolean =>
    (step as FlowStep).type === type;

builder.objectRef<Step<'retrieve'>>(typeNames.retrieve).implement({
  access,
  interfaces,
  isTypeOf: isA('retrieve'),
  description: 'Searches the knowledge of the agent.',
  fields: (t) => ({
    query: t.exposeString('query', { description: 'What is searched.' }),
    dataSourceIds: t.idList({
      nullable: true,
      description: 'Only these data sources; null: all of the agent.',
      resolve: ({ dataSourceIds }) => (dataSourceIds === undefined ? null : [...dataSourceIds]),
    }),
    dataSources: t.field({
      type: [DataSourceRef],
      nullable: true,
      description: 'Those, as far as the caller may see them.',
      resolve: ({ dataSourceIds }, _args, context) => loadNodes(context, 'dataSource', dataSourceIds),
    }),
    limit: t.int({ nullable: true, description: 'Most passages, 1 to 50.', resolve: ({ limit }) => limit ?? null }),
  }),
});
builder.objectRef<Step<'prompt'>>(typeNames.prompt).implement({
  access,
  interfaces,
  isTypeOf: isA('prompt'),
  description: 'Makes a text, without a model.',
  fields: (t) => ({ text: t.exposeString('text', { description: 'The text.' }) }),
});
builder.objectRef<Step<'tool'>>(typeNames.tool).implement({
  access,
  interfaces,
  isTypeOf: isA('tool'),
  description: 'Calls a tool.',
  fields: (t) => ({
    tool: t.exposeString('tool', { description: 'The name of the tool.' }),
    arguments: t.field({
      type: 'JSON',
      description: 'Its arguments, whose texts may name outputs of earlier steps. JSON: each tool has arguments of its own.',
      resolve: (step) => step.arguments,
    }),
  }),
});
builder.objectRef<Step<'model'>>(typeNames.model).implement({
  access,
  interfaces,
  isTypeOf: isA('model'),
  description: 'Asks a model.',
  fields: (t) => ({
    modelId: t.string({
      nullable: true,
      description: 'The model; null: that of the agent.',
      resolve: (step) => step.modelId ?? null,
    }),
    prompt: t.exposeString('prompt', { description: 'What it is asked.' }),
  }),
});
const FlowConditionType = builder.objectRef<FlowCondition>('FlowCondition').implement({
  access,
  description: 'Compares two texts.',
  fields: (t) => ({
    left: t.exposeString('left', { description: 'The first text.' }),
    operator: t.expose('operator', { type: FlowOperatorType, description: 'How they are compared.' }),
    right: t.exposeString('right', { description: 'The second text.' }),
  }),
});
builder.objectRef<Step<'branch'>>(typeNames.branch).implement({
  access,
  interfaces,
  isTypeOf: isA('branch'),
  description: 'Goes on at one of two steps, which come later.',
  fields: (t) => ({
    condition: t.field({ type: FlowConditionType, description: 'What decides.', resolve: ({ condition }) => condition }),
    onTrue: t.exposeString('onTrue', { description: 'The step that follows when it holds.' }),
    onFalse: t.string({
      nullable: true,
      description: 'The step that follows when it does not hold; null: the next one.',
      resolve: ({ onFalse }) => onFalse ?? null,
    }),
  }),
});

const stepId = (t: InputBuilder) => ({
  stepId: t.string({
    required: false,
    description: 'Its name in the flow: a letter, then at most 63 letters, digits, `_` or `-`.',
  }),
});
const members = { stepId: 'id' } as const;

const RetrieveStepInput = flatInput<object>(
  builder.inputType('RetrieveStepInput', {
    description: 'Searches the knowledge of the agent.',
    fields: (t) => ({
      ...stepId(t),
      query: t.string({ required: false, description: 'What is searched. Default: what the user said.' }),
      dataSourceIds: t.idList({ required: false, description: 'Only these data sources. Default: all of the agent.' }),
      limit: t.int({ required: false, description: 'Most passages, 1 to 50.' }),
    }),
  }),
  { members },
);
const PromptStepInput = flatInput<object>(
  builder.inputType('PromptStepInput', {
    description: 'Makes a text, without a model.',
    fields: (t) => ({ ...stepId(t), text: t.string({ description: 'The text: at most 20,000 characters.' }) }),
  }),
  { members },
);
const ToolStepInput = flatInput<object>(
  builder.inputType('ToolStepInput', {
    description: 'Calls a tool.',
    fields: (t) => ({
      ...stepId(t),
      tool: t.string({ description: 'The name of the tool.' }),
      arguments: t.field({
        type: 'JSON',
        required: false,
        description: 'Its arguments, whose texts may name outputs of earlier steps. JSON: each tool has arguments of its own.',
      }),
    }),
  }),
  { members },
);
const ModelStepInput = flatInput<object>(
  builder.inputType('ModelStepInput', {
    description: 'Asks a model.',
    fields: (t) => ({
      ...stepId(t),
      modelId: t.string({ required: false, description: 'The model. Default: that of the agent.' }),
      prompt: t.string({ required: false, description: 'What it is asked. Default: what the user said.' }),
    }),
  }),
  { members },
);
const FlowConditionInput = builder.inputType('FlowConditionInput', {
  description: 'Compares two texts.',
  fields: (t) => ({
    left: t.string({ description: 'The first text.' }),
    operator: t.field({ type: FlowOperatorType, description: 'How they are compared.' }),
    right: t.string({ required: false, description: 'The second text; none for IS_EMPTY and IS_NOT_EMPTY.' }),
  }),
});
const BranchStepInput = flatInput<object>(
  builder.inputType('BranchStepInput', {
    description: 'Goes on at one of two steps, which come later.',
    fields: (t) => ({
      ...stepId(t),
      condition: t.field({ type: FlowConditionInput, description: 'What decides.' }),
      onTrue: t.string({ description: 'The step that follows when it holds.' }),
      onFalse: t.string({ required: false, description: 'The step that follows when it does not hold. Default: the next one.' }),
    }),
  }),
  { members },
);

export const FlowStepInput = flatInput<object>(
  builder.inputType('FlowStepInput', {
    description: 'A step of a flow.',
    isOneOf: true,
    fields: (t) => ({
      retrieve: t.field({ type: RetrieveStepInput, required: false, description: 'Searches the knowledge of the agent.' }),
      prompt: t.field({ type: PromptStepInput, required: false, description: 'Makes a text, without a model.' }),
      tool: t.field({ type: ToolStepInput, required: false, description: 'Calls a tool.' }),
      model: t.field({ type: ModelStepInput, required: false, description: 'Asks a model.' }),
      branch: t.field({ type: BranchStepInput, required: false, description: 'Goes on at one of two steps.' }),
    }),
  }),
  {
    choices: {
      retrieve: step('retrieve'),
      prompt: step('prompt'),
      tool: step('tool'),
      model: step('model'),
      branch: step('branch'),
    },
  },
);

/** REST takes no null for the name of a step, which GraphQL shows of a step without one. */
function step(type: FlowStep['type']): Conversion {
  const { flatten, place } = tagged('type', type);
  return {
    place,
    flatten: (value) => {
      const { id, ...others } = value as { readonly id?: string | null };
      return flatten(id === null ? others : value);
    },
  };
}
