import type { Chat_AgentFragment } from '../documents.ts';

export type UserInput = Chat_AgentFragment['userInputs'][number];
/** By variable name, as they stand in the fields. */
export type Values = Readonly<Record<string, string | boolean>>;

/** The inputs that are asked for before a chat begins. */
export const askedInputs = (inputs: readonly UserInput[]) => inputs.filter(({ showOnChatCreate }) => showOnChatCreate);

export function startValues(inputs: readonly UserInput[]): Values {
  return Object.fromEntries(askedInputs(inputs).map((input) => [input.variableName, startValue(input)]));
}

function startValue({ type, settings }: UserInput): string | boolean {
  if ('defaultAnswer' in settings) return settings.defaultAnswer ?? false;
  if ('defaultNumber' in settings) return settings.defaultNumber === null ? '' : String(settings.defaultNumber);
  if ('defaultOption' in settings) return settings.defaultOption ?? '';
  if ('defaultDay' in settings) return settings.defaultDay ?? '';
  if ('defaultText' in settings) return settings.defaultText ?? '';
  return type === 'BOOLEAN' ? false : '';
}

/** The names of inputs that a chat cannot begin without and that have no value. */
export function inputFaults(inputs: readonly UserInput[], values: Values): ReadonlyMap<string, true> {
  const emptyInputs = askedInputs(inputs).filter(
    ({ settings, variableName }) => settings.isRequired && values[variableName] === '',
  );
  return new Map(emptyInputs.map(({ variableName }) => [variableName, true]));
}

/** The values as the service takes them. An empty one is left out: the agent does without. */
export function givenValues(inputs: readonly UserInput[], values: Values): { name: string; value: string | number | boolean }[] {
  return askedInputs(inputs).flatMap(({ variableName: name, type }) => {
    const value = values[name];
    if (value === undefined || value === '') return [];
    return [{ name, value: type === 'NUMBER' ? Number(value) : value }];
  });
}
