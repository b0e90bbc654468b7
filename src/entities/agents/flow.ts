import type { FlowStepType, JsonObject } from './part.ts';

/** How a branch compares its two texts. `greaterThan` and `lessThan` compare numbers; texts that are none are in neither order. */
export const flowOperators = [
  'equals',
  'notEquals',
  'contains',
  'notContains',
  'greaterThan',
  'lessThan',
  'isEmpty',
  'isNotEmpty',
] as const;
export type FlowOperator = (typeof flowOperators)[number];

export interface FlowCondition {
  readonly left: string;
  readonly operator: FlowOperator;
  readonly right: string;
}

/** One step of a flow, as a run reads it. `id` is '' for a step without one: no text can name its output. */
export type FlowStep = { readonly id: string } & (
  | {
      readonly type: 'retrieve';
      readonly query: string;
      /** Undefined: all sources of the agent. */
      readonly dataSourceIds?: readonly string[];
      readonly limit?: number;
    }
  | { readonly type: 'prompt'; readonly text: string }
  | { readonly type: 'tool'; readonly tool: string; readonly arguments: JsonObject }
  | { readonly type: 'model'; readonly modelId?: string; readonly prompt: string }
  | {
      readonly type: 'branch';
      readonly condition: FlowCondition;
      readonly onTrue: string;
      /** Undefined: the next step. */
      readonly onFalse?: string;
    }
);

/** The version of a flow that answers a turn. */
export interface FlowPlan {
  readonly flowId: string;
  readonly version: number;
  readonly steps: readonly FlowStep[];
  /** What the user said in this turn. */
  readonly input: string;
  /** The day, as `2026-11-22`. */
  readonly date: string;
  /** The values of the agent's user inputs, as texts. */
  readonly userInputs: Readonly<Record<string, string>>;
}

export const flowStepStatuses = ['completed', 'failed', 'skipped'] as const;

/** A finished step as people see it. */
export interface FlowStepRecord {
  /** The step's own id, else `step_<n>` by its place from 1. */
  readonly stepId: string;
  readonly type: FlowStepType;
  /** `failed`: the flow goes on with the error as its output. `skipped`: a branch passed it over. */
  readonly status: (typeof flowStepStatuses)[number];
  /** At most `stepTextBytesMax` bytes, like `output`. */
  readonly input: string;
  readonly output: string;
  readonly durationMs: number;
}

export const stepTextBytesMax = 4_096;

/** What later steps and later processes need of a finished step. */
export interface FlowStepResult {
  /** The place of the step, from 0. */
  readonly place: number;
  /** Its whole output. */
  readonly text: string;
  /** Its output as models read it, where foreign text stands in marks; absent: as `text`. */
  readonly marked?: string;
  /** Of `branch`: the place of the step that follows. */
  readonly next?: number;
  /** The output is in the answer already: it was streamed. */
  readonly isSaid?: true;
}

/** The steps of a stored version, which was validated when it was written. */
export function readFlowSteps(data: JsonObject): readonly FlowStep[] {
  const steps = Array.isArray(data.steps) ? (data.steps as readonly JsonObject[]) : [];
  return steps.map(readStep);
}

function readStep(step: JsonObject): FlowStep {
  const id = readText(step.id, '');
  switch (step.type as FlowStepType) {
    case 'retrieve':
      return {
        ...{ id, type: 'retrieve', query: readText(step.query, '{{input}}') },
        ...(Array.isArray(step.dataSourceIds) ? { dataSourceIds: step.dataSourceIds as readonly string[] } : {}),
        ...(typeof step.limit === 'number' ? { limit: step.limit } : {}),
      };
    case 'prompt':
      return { id, type: 'prompt', text: readText(step.text, '') };
    case 'tool':
      return { id, type: 'tool', tool: readText(step.tool, ''), arguments: readObject(step.arguments) };
    case 'model': {
      const modelId = readText(step.modelId, '');
      return { id, type: 'model', prompt: readText(step.prompt, '{{input}}'), ...(modelId === '' ? {} : { modelId }) };
    }
    case 'branch': {
      const { left, operator, right } = readObject(step.condition);
      const condition = { left: readText(left, ''), operator: operator as FlowOperator, right: readRight(right) };
      const onFalse = readText(step.onFalse, '');
      return { id, type: 'branch', condition, onTrue: readText(step.onTrue, ''), ...(onFalse === '' ? {} : { onFalse }) };
    }
  }
}

function readText(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value.trim() !== '' ? value : otherwise;
}

function readRight(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
}

function readObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
