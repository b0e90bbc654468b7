import { type ModelForm, type SamplingOptionName, samplingOptionList } from '../../entities/agents/options.ts';
import type { Warning } from '../../entities/ground/warning.ts';
import { toSnakeCase } from '../../lib/text/text.ts';
import type { ModelParameters } from './port.ts';

interface SamplingMember {
  readonly option: SamplingOptionName;
  /** Null: the form does not have it. */
  readonly member: string | null;
}

/** What each form calls the options. Each request asks. */
const membersByForm: Readonly<Record<ModelForm, readonly SamplingMember[]>> = {
  openai: nameMembers('openai'),
  compatible: nameMembers('compatible'),
  aiSdk: nameMembers('aiSdk'),
};

function nameMembers(form: ModelForm): readonly SamplingMember[] {
  return samplingOptionList.map(({ name, formNames = {} }) => ({
    option: name,
    member: formNames[form] === undefined ? defaultName(name, form) : formNames[form],
  }));
}

/** The options of a request as members of one form. Those that the form does not have are left out. */
export function samplingMembers(parameters: ModelParameters, form: ModelForm): Readonly<Record<string, number>> {
  const members: Record<string, number> = {};
  for (const { option, member } of membersByForm[form]) {
    const value = parameters[option];
    if (value !== undefined && member !== null) members[member] = value;
  }
  return members;
}

/** A warning for each option of a request that the form does not have. */
export function unservedSampling(parameters: ModelParameters, form: ModelForm): readonly Warning[] {
  return membersByForm[form].flatMap(({ option, member }) =>
    member === null && parameters[option] !== undefined ? [unservedOption(toSnakeCase(option))] : [],
  );
}

/** @param param  the member of the request that has no effect. */
export function unservedOption(param: string): Warning {
  return { code: 'option_not_supported', message: `${param} has no effect: the model provider does not take it`, param };
}

function defaultName(name: SamplingOptionName, form: ModelForm): string {
  return form === 'aiSdk' ? name : toSnakeCase(name);
}
