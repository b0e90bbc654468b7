import type { Text } from '../../../../text/text.ts';
import { splitLines } from '../parts/words.ts';
import type { AgentInputsQuery, UserInputSettingsInput, UserInputType } from './documents.ts';

export type AgentInput = NonNullable<AgentInputsQuery['agent']>['userInputs'][number];

export const inputTypes: readonly UserInputType[] = ['SHORT_TEXT', 'LONG_TEXT', 'NUMBER', 'SELECT', 'DATE', 'BOOLEAN'];

export function inputTypeName(t: Text['t'], type: UserInputType): string {
  return {
    SHORT_TEXT: t('One line of text'),
    LONG_TEXT: t('Text'),
    NUMBER: t('Number'),
    SELECT: t('Choice'),
    DATE: t('Day'),
    BOOLEAN: t('Yes or no'),
  }[type];
}

/** What the form of an input holds: texts as they are typed. */
export interface InputValues {
  readonly type: UserInputType;
  readonly label: string;
  readonly variableName: string;
  readonly showOnChatCreate: boolean;
  readonly isRequired: boolean;
  readonly placeholder: string;
  readonly defaultValue: string;
  readonly options: string;
  readonly min: string;
  readonly max: string;
}

export function readValues(input: AgentInput | undefined): InputValues {
  if (input === undefined) {
    const texts = { placeholder: '', defaultValue: '', options: '', min: '', max: '' };
    return { type: 'SHORT_TEXT', label: '', variableName: '', showOnChatCreate: true, isRequired: false, ...texts };
  }
  const { settings, type, label, variableName, showOnChatCreate } = input;
  const base = {
    type,
    label,
    variableName,
    showOnChatCreate,
    isRequired: settings.isRequired,
    placeholder: settings.placeholder ?? '',
  };
  const empty = { ...base, options: '', min: '', max: '' };
  switch (settings.__typename) {
    case 'BooleanSettings':
      return { ...empty, defaultValue: getText(settings.defaultAnswer) };
    case 'DateSettings':
      return {
        ...empty,
        defaultValue: getText(settings.defaultDay),
        min: getText(settings.earliestDay),
        max: getText(settings.latestDay),
      };
    case 'NumberSettings':
      return { ...empty, defaultValue: getText(settings.defaultNumber), min: getText(settings.min), max: getText(settings.max) };
    case 'SelectSettings':
      return { ...empty, defaultValue: getText(settings.defaultOption), options: settings.options.join('\n') };
    default:
      return { ...empty, defaultValue: getText(settings.defaultText), max: getText(settings.maxLength) };
  }
}

const getText = (value: string | number | boolean | null) => (value === null ? '' : String(value));
const orNull = (text: string) => (text.trim() === '' ? null : text);
const numberOrNull = (text: string) => (text.trim() === '' ? null : Number(text));

export function toSettingsInput(values: InputValues): UserInputSettingsInput {
  const { isRequired, defaultValue, min, max } = values;
  const base = { isRequired, placeholder: orNull(values.placeholder) };
  switch (values.type) {
    case 'BOOLEAN':
      return { boolean: { ...base, defaultAnswer: defaultValue === '' ? null : defaultValue === 'true' } };
    case 'DATE':
      return { date: { ...base, defaultDay: orNull(defaultValue), earliestDay: orNull(min), latestDay: orNull(max) } };
    case 'NUMBER':
      return { number: { ...base, defaultNumber: numberOrNull(defaultValue), min: numberOrNull(min), max: numberOrNull(max) } };
    case 'SELECT':
      return { select: { ...base, defaultOption: orNull(defaultValue), options: splitLines(values.options) } };
    case 'LONG_TEXT':
      return { longText: { ...base, defaultText: orNull(defaultValue), maxLength: numberOrNull(max) } };
    case 'SHORT_TEXT':
      return { shortText: { ...base, defaultText: orNull(defaultValue), maxLength: numberOrNull(max) } };
  }
}

/** The member of the settings that a type has, as places of faults name it. */
export function settingsMember(type: UserInputType): string {
  const names = {
    BOOLEAN: 'boolean',
    DATE: 'date',
    NUMBER: 'number',
    SELECT: 'select',
    LONG_TEXT: 'longText',
    SHORT_TEXT: 'shortText',
  };
  return `input.settings.${names[type]}`;
}
