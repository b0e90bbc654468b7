import type { z } from 'zod';
import { extractSecrets } from '../../../engine/tools/secrets/secrets-in-data.ts';
import { flowOperators } from '../../../entities/agents/flow.ts';
import { type FlowStepType, type FlowVersion, flowStepTypes, type JsonObject } from '../../../entities/agents/part.ts';
import { isObject } from '../../../lib/json/json.ts';
import { partCountsMax } from '../../../storage/agents/parts/shapes.ts';
import type { flowVersionBody } from '../../../wire/agents/parts.ts';
import { flowVersionMax } from '../../../wire/ground/schema.ts';
import type { Faults } from '../../ground/faults.ts';
import { checkTemplates } from './flow-templates.ts';
import { checkMembers, readJsonObject } from './json.ts';
import { toolNamePattern } from './tool-data.ts';

export type FlowVersionInput = Readonly<z.output<typeof flowVersionBody>>;

const stepsMax = 200;
const textLengthMax = 20_000;
const stepIdPattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/**
 * Validates the versions of a flow: unique numbers, at most one active, and every step complete and of a known type.
 *
 * @param userInputs  names of the agent's user inputs, which texts may name; undefined: the texts are stored already and are not checked again.
 */
export function readFlowVersions(
  param: string,
  versionInputs: readonly FlowVersionInput[],
  faults: Faults,
  userInputs: ReadonlySet<string> | undefined,
): readonly FlowVersion[] {
  faults.requireCount(param, versionInputs, partCountsMax.flowVersions);
  const versionNumbers = new Set<number>();
  let activeAt: number | undefined;
  return versionInputs.slice(0, partCountsMax.flowVersions).map(({ version, active, description, data }, index) => {
    const at = `${param}[${index}]`;
    faults.requireRange(`${at}.version`, version, { min: 1, max: flowVersionMax, isWhole: true });
    if (versionNumbers.has(version)) faults.add(`${at}.version`, `${at}.version stands there twice`);
    versionNumbers.add(version);
    if (active === true && activeAt !== undefined)
      faults.add(`${at}.active`, `${at}.active: ${param}[${activeAt}] is active, and one is at most`);
    if (active === true) activeAt = index;
    faults.requireLength(`${at}.description`, description ?? '', textLengthMax);
    const read = readFlowData(`${at}.data`, data, faults, userInputs);
    return { version, active: active ?? false, description: description ?? '', data: read };
  });
}

/** `{steps: [{id, type, …}]}`. Branches lead only forward, so that every flow ends. */
function readFlowData(param: string, input: unknown, faults: Faults, userInputs: ReadonlySet<string> | undefined): JsonObject {
  const data = readJsonObject(param, input, faults);
  const steps = data.steps ?? [];
  if (!Array.isArray(steps) || steps.length > stepsMax) {
    faults.add(`${param}.steps`, `${param}.steps must be an array of at most ${stepsMax} steps`);
    return data;
  }
  if (extractSecrets('flow', data, () => false).secrets.length > 0) {
    faults.add(param, `${param} must not hold secrets: they belong to tools`);
    return {};
  }
  // Steps that are stored already are not checked again.
  if (userInputs !== undefined) checkFlowMembers(param, data, steps, faults);
  const places = new Map<string, number>();
  for (const [index, step] of steps.entries()) {
    const id: unknown = isObject(step) ? step.id : undefined;
    const at = `${param}.steps[${index}].id`;
    if (id === undefined) continue;
    if (typeof id !== 'string' || !stepIdPattern.test(id)) faults.add(at, `${at} must be 1 to 64 letters, digits, _ or -`);
    else if (places.has(id)) faults.add(at, `${at} stands there twice`);
    else places.set(id, index);
  }
  for (const [index, step] of steps.entries()) {
    const at = `${param}.steps[${index}]`;
    readStep(at, step, { index, places, faults });
    if (userInputs !== undefined && isObject(step)) checkTemplates(at, step, { userInputs, places, index }, faults);
  }
  return data;
}

const ofEveryStep = ['id', 'type'];
const stepMembers: Readonly<Record<FlowStepType, readonly string[]>> = {
  retrieve: [...ofEveryStep, 'query', 'dataSourceIds', 'limit'],
  prompt: [...ofEveryStep, 'text'],
  tool: [...ofEveryStep, 'tool', 'arguments'],
  model: [...ofEveryStep, 'modelId', 'prompt'],
  branch: [...ofEveryStep, 'condition', 'onTrue', 'onFalse'],
};

function checkFlowMembers(param: string, data: JsonObject, steps: readonly unknown[], faults: Faults): void {
  checkMembers(param, 'the data of a flow', data, ['steps'], faults);
  for (const [index, step] of steps.entries()) {
    if (!isObject(step)) continue;
    const at = `${param}.steps[${index}]`;
    const type = flowStepTypes.find((candidate) => candidate === step.type);
    if (type !== undefined) checkMembers(at, `a step of the type ${type}`, step, stepMembers[type], faults);
    if (isObject(step.condition)) {
      checkMembers(`${at}.condition`, 'a condition', step.condition, ['left', 'operator', 'right'], faults);
    }
  }
}

interface StepContext {
  readonly index: number;
  readonly places: ReadonlyMap<string, number>;
  readonly faults: Faults;
}
type StepReader = (at: string, step: JsonObject, context: StepContext) => void;

const readers: Readonly<Record<FlowStepType, StepReader>> = {
  retrieve(at, step, { faults }) {
    text(`${at}.query`, step.query, faults, 'optional');
    list(`${at}.dataSourceIds`, step.dataSourceIds, faults);
    const { limit } = step;
    if (limit === undefined || limit === null) return;
    const count = typeof limit === 'number' ? limit : Number.NaN;
    faults.requireRange(`${at}.limit`, count, { min: 1, max: 50, isWhole: true }, 'a whole number');
  },
  prompt: (at, step, { faults }) => text(`${at}.text`, step.text, faults, 'required'),
  tool(at, step, { faults }) {
    if (typeof step.tool !== 'string' || !toolNamePattern.test(step.tool))
      faults.add(`${at}.tool`, `${at}.tool must be the name of a tool`);
    if (step.arguments !== undefined && step.arguments !== null && !isObject(step.arguments)) {
      faults.add(`${at}.arguments`, `${at}.arguments must be an object`, 'INVALID_TYPE');
    }
  },
  model(at, step, { faults }) {
    text(`${at}.modelId`, step.modelId, faults, 'optional');
    text(`${at}.prompt`, step.prompt, faults, 'optional');
  },
  branch(at, step, { index, places, faults }) {
    const condition = isObject(step.condition) ? step.condition : {};
    text(`${at}.condition.left`, condition.left, faults, 'required');
    faults.requireOneOf(`${at}.condition.operator`, condition.operator, flowOperators);
    if (!isPlain(condition.right)) {
      faults.add(
        `${at}.condition.right`,
        `${at}.condition.right must be a text of at most ${textLengthMax} characters, a number, true or false`,
      );
    }
    for (const name of ['onTrue', 'onFalse'] as const) {
      const target = step[name];
      if (target === undefined || target === null) {
        if (name === 'onTrue') faults.add(`${at}.onTrue`, `${at}.onTrue is required`, 'MISSING_REQUIRED_PARAMETER');
        continue;
      }
      const place = typeof target === 'string' ? places.get(target) : undefined;
      if (place === undefined || place <= index) faults.add(`${at}.${name}`, `${at}.${name} must be the id of a later step`);
    }
  },
};

function readStep(at: string, step: unknown, context: StepContext): void {
  if (!isObject(step)) {
    context.faults.add(at, `${at} must be an object`, 'INVALID_TYPE');
    return;
  }
  const type = context.faults.requireOneOf(`${at}.type`, step.type, flowStepTypes);
  if (type !== undefined) readers[type](at, step, context);
}

function text(param: string, value: unknown, faults: Faults, presence: 'required' | 'optional'): void {
  if (presence === 'optional' && (value === undefined || value === null)) return;
  if (typeof value !== 'string' || value.length > textLengthMax || (presence === 'required' && value.trim() === '')) {
    faults.add(param, `${param} must be a text of ${presence === 'required' ? '1' : '0'} to ${textLengthMax} characters`);
  }
}

/** A text, a number, a truth value, or nothing. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= textLengthMax;
  return value === undefined || value === null || typeof value === 'number' || typeof value === 'boolean';
}

function list(param: string, value: unknown, faults: Faults): void {
  if (value === undefined || value === null) return;
  const isFit = Array.isArray(value) && value.length <= 100 && value.every((one) => typeof one === 'string' && one.length <= 100);
  if (!isFit) faults.add(param, `${param} must be an array of at most 100 ids`);
}
