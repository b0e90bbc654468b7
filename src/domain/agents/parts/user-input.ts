import type {
  AgentRunParts,
  JsonObject,
  UserInputConfiguration,
  UserInputType,
  UserInputValue,
  UserInputValues,
} from '../../../entities/agents/part.ts';
import { storableText } from '../../../lib/text/text.ts';
import type { Faults } from '../../ground/faults.ts';
import { checkMembers, readJsonObject } from './json.ts';

type Asked = AgentRunParts['userInputs'][number];

const optionsMax = 200;
const optionLengthMax = 500;
const textLengthsMax = { SHORT_TEXT: 500, LONG_TEXT: 20_000 } as const;
const placeholderLengthMax = 500;
const members = ['required', 'options', 'min', 'max', 'maxLength', 'default', 'placeholder'];
const dayPattern = /^\d{4}-\d\d-\d\d$/;

/** Validates the configuration of a user input. Other members than those named here are refused. */
export function readConfiguration(param: string, type: UserInputType, input: unknown, faults: Faults): UserInputConfiguration {
  const object = readJsonObject(param, input ?? {}, faults);
  checkMembers(param, 'the configuration', object, members, faults);
  const own: JsonObject = Object.fromEntries(
    members.flatMap((name) => (object[name] === undefined || object[name] === null ? [] : [[name, object[name]]])),
  );
  const wrong = (name: string, what: string) => faults.add(`${param}.${name}`, `${param}.${name} must be ${what}`);
  if (own.required !== undefined && typeof own.required !== 'boolean') wrong('required', 'true or false');
  if (own.placeholder !== undefined && !isText(own.placeholder, placeholderLengthMax)) wrong('placeholder', 'a text');
  checkOptions(type, own.options, wrong);
  checkBounds(type, own, wrong);
  const configuration = own as UserInputConfiguration;
  if (own.default !== undefined) readValue(`${param}.default`, { type, configuration }, own.default, faults);
  return configuration;
}

function checkOptions(type: UserInputType, options: unknown, wrong: (name: string, what: string) => void): void {
  if (type !== 'SELECT') {
    if (options !== undefined) wrong('options', 'left out: only the type SELECT has options');
    return;
  }
  const isFit =
    Array.isArray(options) &&
    options.length > 0 &&
    options.length <= optionsMax &&
    new Set(options).size === options.length &&
    options.every((option) => isText(option, optionLengthMax) && option !== '');
  if (!isFit) wrong('options', `1 to ${optionsMax} different texts of at most ${optionLengthMax} characters`);
}

function checkBounds(
  type: UserInputType,
  { min, max, maxLength }: JsonObject,
  wrong: (name: string, what: string) => void,
): void {
  const isBound = (value: unknown) => (type === 'DATE' ? isDay(value) : type === 'NUMBER' && Number.isFinite(value));
  for (const [name, value] of [
    ['min', min],
    ['max', max],
  ] as const) {
    if (value !== undefined && !isBound(value))
      wrong(name, type === 'DATE' ? 'a day like 2026-01-31' : 'a number, and stand with the types NUMBER and DATE only');
  }
  if (isBound(min) && isBound(max) && (min as number) > (max as number)) wrong('max', 'at least min');
  if (maxLength === undefined) return;
  const most = type === 'SHORT_TEXT' || type === 'LONG_TEXT' ? textLengthsMax[type] : 0;
  const isFit = Number.isInteger(maxLength) && Number(maxLength) >= 1 && Number(maxLength) <= most;
  if (!isFit) wrong('maxLength', most === 0 ? 'left out: only texts have it' : `a whole number from 1 to ${most}`);
}

/**
 * Validates the values at the start of a chat and adds the defaults of missing ones.
 *
 * @param given  by variable name; every fault names its member as `userInputs.<name>`.
 */
export function readUserInputs(inputSpecs: readonly Asked[], valuesInput: unknown, faults: Faults): UserInputValues {
  const values = valuesInput === undefined || valuesInput === null ? {} : readJsonObject('userInputs', valuesInput, faults);
  const variableNames = new Set(inputSpecs.map(({ variableName }) => variableName));
  for (const name of Object.keys(values)) {
    if (!variableNames.has(name)) faults.add(`userInputs.${name}`, `userInputs.${name} is not asked by this agent`);
  }
  const read = inputSpecs.flatMap((input) => {
    const param = `userInputs.${input.variableName}`;
    const value = values[input.variableName] ?? input.configuration.default;
    const isMissing = value === undefined || (typeof value === 'string' && value.trim() === '');
    if (!isMissing) return [[input.variableName, readValue(param, input, value, faults)] as const];
    if (input.configuration.required === true && input.showOnChatCreate) {
      faults.add(param, `${param} is required`, 'MISSING_REQUIRED_PARAMETER');
    }
    return [];
  });
  return Object.fromEntries(read);
}

function readValue(
  param: string,
  { type, configuration }: Pick<Asked, 'type' | 'configuration'>,
  value: unknown,
  faults: Faults,
): UserInputValue {
  const wrong = (what: string) => {
    faults.add(param, `${param} must be ${what}`);
    return '';
  };
  switch (type) {
    case 'SHORT_TEXT':
    case 'LONG_TEXT': {
      const lengthMax = typeof configuration.maxLength === 'number' ? configuration.maxLength : textLengthsMax[type];
      if (!isText(value, lengthMax)) return wrong(`a text of at most ${lengthMax} characters`);
      if (type === 'SHORT_TEXT' && /[\r\n]/.test(value)) return wrong('a text of one line');
      return storableText(value);
    }
    case 'NUMBER': {
      const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = configuration;
      if (typeof value !== 'number' || !Number.isFinite(value)) return wrong('a number');
      return value >= Number(min) && value <= Number(max) ? value : wrong(`from ${min} to ${max}`);
    }
    case 'SELECT':
      return typeof value === 'string' && configuration.options?.includes(value) === true ? value : wrong('one of its options');
    case 'BOOLEAN':
      return typeof value === 'boolean' ? value : wrong('true or false');
    case 'DATE': {
      if (!isDay(value)) return wrong('a day like 2026-01-31');
      const { min = '', max = '9999-12-31' } = configuration;
      return value >= String(min) && value <= String(max) ? value : wrong(`from ${min === '' ? 'any day' : min} to ${max}`);
    }
  }
}

/** Inserts the values for `{{variable}}` in the instructions; unknown variables stay as they are. Variables inside values are not replaced. */
export function fillVariables(instructions: string, inputSpecs: readonly Asked[], values: UserInputValues): string {
  if (inputSpecs.length === 0) return instructions;
  const defaultsByName = new Map(inputSpecs.map(({ variableName, configuration }) => [variableName, configuration.default]));
  return instructions.replaceAll(/\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g, (all, name: string) => {
    if (!defaultsByName.has(name)) return all;
    return String((Object.hasOwn(values, name) ? values[name] : defaultsByName.get(name)) ?? '');
  });
}

function isText(value: unknown, lengthMax: number): value is string {
  return typeof value === 'string' && value.length <= lengthMax;
}

/** Whether it is an existing day: Date turns 30 February into 1 March. */
function isDay(value: unknown): value is string {
  if (typeof value !== 'string' || !dayPattern.test(value)) return false;
  const date = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
}
