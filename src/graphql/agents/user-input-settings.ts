import type { ObjectFieldsShape } from '@pothos/core';
import type { AgentUserInput, UserInputType } from '../../entities/agents/part.ts';
import { readString } from '../../lib/json/json.ts';
import { type BuilderTypes, builder, type InputBuilder } from '../ground/builder/builder.ts';
import { flatInput, held } from '../ground/builder/flat-inputs.ts';

/** What a user input takes: one type for each type of its value, and one input. REST has them as the members `type` and `configuration`. */
const access = { scope: 'AGENTS:READ' } as const;

type Settings = Pick<AgentUserInput, 'type' | 'configuration'>;
type SettingsFields = PothosSchemaTypes.ObjectFieldBuilder<BuilderTypes, Settings>;

const typeNames: Readonly<Record<UserInputType, string>> = {
  SHORT_TEXT: 'ShortTextSettings',
  LONG_TEXT: 'LongTextSettings',
  NUMBER: 'NumberSettings',
  SELECT: 'SelectSettings',
  BOOLEAN: 'BooleanSettings',
  DATE: 'DateSettings',
};

export const UserInputSettingsType = builder.interfaceRef<Settings>('UserInputSettings').implement({
  access,
  description: 'How a variable is asked, and what values it takes: one type for each type of its value.',
  fields: (t) => ({
    isRequired: t.boolean({
      description: 'Whether a chat cannot begin without it.',
      resolve: ({ configuration }) => configuration.required === true,
    }),
    placeholder: t.string({
      nullable: true,
      description: 'Shown where the value is written.',
      resolve: ({ configuration }) => configuration.placeholder ?? null,
    }),
  }),
  resolveType: ({ type }) => typeNames[type],
});

function settingsType(type: UserInputType, description: string, fields: ObjectFieldsShape<BuilderTypes, Settings>): void {
  builder.objectRef<Settings>(typeNames[type]).implement({
    access,
    description,
    interfaces: [UserInputSettingsType],
    fields,
  });
}

function textFields(t: SettingsFields) {
  return {
    maxLength: t.int({
      nullable: true,
      description: 'Most characters; null: the most that its type allows.',
      resolve: ({ configuration }) => configuration.maxLength ?? null,
    }),
    defaultText: defaultText(t),
  };
}
function defaultText(t: SettingsFields) {
  return t.string({
    nullable: true,
    description: defaultValue,
    resolve: ({ configuration }) => readString(configuration.default) ?? null,
  });
}
const defaultValue = 'Its value when the user gives none.';

settingsType('SHORT_TEXT', 'One line of text is asked: at most 500 characters.', textFields);
settingsType('LONG_TEXT', 'A text is asked: at most 20,000 characters.', textFields);
settingsType('NUMBER', 'A number is asked.', (t) => ({
  min: t.float({ nullable: true, description: 'The least value.', resolve: ({ configuration }) => toNumber(configuration.min) }),
  max: t.float({
    nullable: true,
    description: 'The greatest value.',
    resolve: ({ configuration }) => toNumber(configuration.max),
  }),
  defaultNumber: t.float({
    nullable: true,
    description: defaultValue,
    resolve: ({ configuration }) => toNumber(configuration.default),
  }),
}));
settingsType('SELECT', 'One of some texts is chosen.', (t) => ({
  options: t.stringList({
    description: 'The texts to choose from, at most 200.',
    resolve: ({ configuration }) => [...(configuration.options ?? [])],
  }),
  defaultOption: defaultText(t),
}));
settingsType('BOOLEAN', 'Yes or no is asked.', (t) => ({
  defaultAnswer: t.boolean({
    nullable: true,
    description: defaultValue,
    resolve: ({ configuration }) => (typeof configuration.default === 'boolean' ? configuration.default : null),
  }),
}));
settingsType('DATE', 'A day is asked: `2026-01-31`.', (t) => ({
  earliestDay: t.string({
    nullable: true,
    description: 'The first day.',
    resolve: ({ configuration }) => readString(configuration.min) ?? null,
  }),
  latestDay: t.string({
    nullable: true,
    description: 'The last day.',
    resolve: ({ configuration }) => readString(configuration.max) ?? null,
  }),
  defaultDay: defaultText(t),
}));

function toNumber(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function commonMembers(t: InputBuilder) {
  return {
    isRequired: t.boolean({ required: false, description: 'Whether a chat cannot begin without it. Default false.' }),
    placeholder: t.string({ required: false, description: 'Shown where the value is written; at most 500 characters.' }),
  };
}
function defaultTextMember(t: InputBuilder) {
  return t.string({ required: false, description: defaultValue });
}
function settingsInput(
  name: string,
  description: string,
  fields: (t: InputBuilder) => object,
  members: Readonly<Record<string, string>>,
) {
  const type = builder.inputType(name, { description, fields: (t) => ({ ...commonMembers(t), ...fields(t) }) });
  return flatInput<object>(type, { members: { isRequired: 'required', ...members } });
}
function maxLength(t: InputBuilder, most: string) {
  return t.int({ required: false, description: `Most characters: 1 to ${most}.` });
}

const ShortTextSettingsInput = settingsInput(
  'ShortTextSettingsInput',
  'One line of text is asked.',
  (t) => ({
    maxLength: maxLength(t, '500'),
    defaultText: defaultTextMember(t),
  }),
  { defaultText: 'default' },
);
const LongTextSettingsInput = settingsInput(
  'LongTextSettingsInput',
  'A text is asked.',
  (t) => ({
    maxLength: maxLength(t, '20,000'),
    defaultText: defaultTextMember(t),
  }),
  { defaultText: 'default' },
);
const NumberSettingsInput = settingsInput(
  'NumberSettingsInput',
  'A number is asked.',
  (t) => ({
    min: t.float({ required: false, description: 'The least value.' }),
    max: t.float({ required: false, description: 'The greatest value.' }),
    defaultNumber: t.float({ required: false, description: defaultValue }),
  }),
  { defaultNumber: 'default' },
);
const SelectSettingsInput = settingsInput(
  'SelectSettingsInput',
  'One of some texts is chosen.',
  (t) => ({
    options: t.stringList({ description: 'The texts to choose from: 1 to 200 different ones.' }),
    defaultOption: defaultTextMember(t),
  }),
  { defaultOption: 'default' },
);
const BooleanSettingsInput = settingsInput(
  'BooleanSettingsInput',
  'Yes or no is asked.',
  (t) => ({
    defaultAnswer: t.boolean({ required: false, description: defaultValue }),
  }),
  { defaultAnswer: 'default' },
);
const DateSettingsInput = settingsInput(
  'DateSettingsInput',
  'A day is asked: `2026-01-31`.',
  (t) => ({
    earliestDay: t.string({ required: false, description: 'The first day.' }),
    latestDay: t.string({ required: false, description: 'The last day.' }),
    defaultDay: defaultTextMember(t),
  }),
  { earliestDay: 'min', latestDay: 'max', defaultDay: 'default' },
);

/** Its flat form is the members `type` and `configuration`. */
export const UserInputSettingsInput = flatInput<object>(
  builder.inputType('UserInputSettingsInput', {
    description: 'The type of the value of a variable, and how it is asked.',
    isOneOf: true,
    fields: (t) => ({
      shortText: t.field({ type: ShortTextSettingsInput, required: false, description: 'One line of text is asked.' }),
      longText: t.field({ type: LongTextSettingsInput, required: false, description: 'A text is asked.' }),
      number: t.field({ type: NumberSettingsInput, required: false, description: 'A number is asked.' }),
      select: t.field({ type: SelectSettingsInput, required: false, description: 'One of some texts is chosen.' }),
      boolean: t.field({ type: BooleanSettingsInput, required: false, description: 'Yes or no is asked.' }),
      date: t.field({ type: DateSettingsInput, required: false, description: 'A day is asked.' }),
    }),
  }),
  {
    choices: {
      shortText: held('configuration', { type: 'SHORT_TEXT' }),
      longText: held('configuration', { type: 'LONG_TEXT' }),
      number: held('configuration', { type: 'NUMBER' }),
      select: held('configuration', { type: 'SELECT' }),
      boolean: held('configuration', { type: 'BOOLEAN' }),
      date: held('configuration', { type: 'DATE' }),
    },
  },
);
