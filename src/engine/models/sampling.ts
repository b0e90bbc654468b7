import { type ModelForm, type SamplingOptionName, samplingOptionList } from '../../entities/agents/options.ts';
import type { Warning } from '../../entities/ground/warning.ts';
import type { ModelParameters } from './port.ts';

/** The options of a request as members of one form. Those that the form does not have are left out. */
export function samplingMembers(parameters: ModelParameters, form: ModelForm): Readonly<Record<string, number>> {
  const members = samplingOptionList.flatMap(({ name, formNames = {} }) => {
    const value = parameters[name];
    const member = formNames[form] === undefined ? defaultName(name, form) : formNames[form];
    return value === undefined || member === null ? [] : [[member, value] as const];
  });
  return Object.fromEntries(members);
}

/** A warning for each option of a request that the form does not have. */
export function unservedSampling(parameters: ModelParameters, form: ModelForm): readonly Warning[] {
  const unserved = samplingOptionList.filter(
    ({ name, formNames = {} }) => parameters[name] !== undefined && formNames[form] === null,
  );
  return unserved.map(({ name }) => unservedOption(toSnakeCase(name)));
}

/** @param param  the member of the request that has no effect. */
export function unservedOption(param: string): Warning {
  return { code: 'option_not_supported', message: `${param} has no effect: the model provider does not take it`, param };
}

export function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function defaultName(name: SamplingOptionName, form: ModelForm): string {
  return form === 'aiSdk' ? name : toSnakeCase(name);
}
