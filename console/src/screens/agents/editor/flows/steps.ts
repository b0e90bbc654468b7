import type { Text } from '../../../../text/text.ts';
import type { AgentFlowsQuery, FlowOperator, FlowStepFieldsFragment, FlowStepInput, FlowVersionInput } from './documents.ts';

export type Flow = NonNullable<AgentFlowsQuery['agent']>['flows'][number];
export type Version = NonNullable<Flow['versions']>[number];

/** What the steps of a flow may name. */
export interface KnownNames {
  readonly tools: readonly string[];
  readonly models: readonly string[];
}

/** What a step does, as its input names it. */
export type StepKind = 'prompt' | 'retrieve' | 'model' | 'tool' | 'branch';
export const stepKinds: readonly StepKind[] = ['prompt', 'retrieve', 'model', 'tool', 'branch'];

export function kindName(t: Text['t'], kind: StepKind): string {
  return {
    prompt: t('Make a text'),
    retrieve: t('Search knowledge'),
    model: t('Ask the model'),
    tool: t('Call a tool'),
    branch: t('Choose the next step'),
  }[kind];
}

export const operators: readonly FlowOperator[] = [
  'EQUALS',
  'NOT_EQUALS',
  'CONTAINS',
  'NOT_CONTAINS',
  'GREATER_THAN',
  'LESS_THAN',
  'IS_EMPTY',
  'IS_NOT_EMPTY',
];

export function operatorName(t: Text['t'], operator: FlowOperator): string {
  return {
    EQUALS: t('is'),
    NOT_EQUALS: t('is not'),
    CONTAINS: t('contains'),
    NOT_CONTAINS: t('does not contain'),
    GREATER_THAN: t('is greater than'),
    LESS_THAN: t('is less than'),
    IS_EMPTY: t('is empty'),
    IS_NOT_EMPTY: t('is not empty'),
  }[operator];
}

/** A step as the service takes it. */
export function toStepInput(step: FlowStepFieldsFragment): FlowStepInput {
  // An id that is null is refused.
  const id = step.stepId === null ? {} : { stepId: step.stepId };
  switch (step.__typename) {
    case 'BranchStep': {
      const { left, operator, right } = step.condition;
      return { branch: { ...id, condition: { left, operator, right }, onTrue: step.onTrue, onFalse: step.onFalse } };
    }
    case 'ModelStep':
      return { model: { ...id, prompt: step.prompt, modelId: step.modelId } };
    case 'PromptStep':
      return { prompt: { ...id, text: step.text } };
    case 'RetrieveStep':
      return { retrieve: { ...id, query: step.query, limit: step.limit, dataSourceIds: step.dataSourceIds } };
    case 'ToolStep':
      return { tool: { ...id, tool: step.tool, arguments: step.arguments } };
  }
}

export function toVersionInput({ version, active, description, steps }: Version): FlowVersionInput {
  return { version, active, description, steps: steps.map(toStepInput) };
}

/** The kind of a step: the one member that it has. */
export function getKind(step: FlowStepInput): StepKind {
  return stepKinds.find((kind) => step[kind] !== undefined) ?? 'prompt';
}

export function newStep(kind: StepKind): FlowStepInput {
  switch (kind) {
    case 'prompt':
      return { prompt: { text: '' } };
    case 'retrieve':
      return { retrieve: {} };
    case 'model':
      return { model: {} };
    case 'tool':
      return { tool: { tool: '', arguments: {} } };
    case 'branch':
      return { branch: { condition: { left: '', operator: 'CONTAINS', right: '' }, onTrue: '' } };
  }
}

/** A step in one sentence. */
export function stepSentence(t: Text['t'], step: FlowStepInput): string {
  if (step.prompt !== undefined) return shortened(step.prompt.text);
  if (step.retrieve !== undefined) {
    const { query } = step.retrieve;
    return query == null || query === '' ? t('for what the user said') : t('for {query}', { query: shortened(query) });
  }
  if (step.model !== undefined) {
    const { prompt, modelId } = step.model;
    const words = prompt == null || prompt === '' ? t('what the user said') : shortened(prompt);
    return modelId == null ? words : t('{words} (by {model})', { words, model: modelId });
  }
  if (step.tool !== undefined) return step.tool.tool;
  const { condition, onTrue, onFalse } = step.branch;
  const values = {
    left: shortened(condition.left),
    operator: operatorName(t, condition.operator),
    right: condition.right ?? '',
    yes: onTrue,
    no: onFalse ?? t('the next step'),
  };
  return t('If {left} {operator} {right}: {yes}, else {no}', values);
}

function shortened(text: string): string {
  return text.length > 140 ? `${text.slice(0, 139)}…` : text;
}
