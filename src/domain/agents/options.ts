import { type AgentOptions, type SamplingOptions, samplingOptionList } from '../../entities/agents/options.ts';

/** The first value of each option is the one used. */
export function toModelParameters(options: AgentOptions): SamplingOptions {
  const used = samplingOptionList.flatMap(({ name }) => {
    const value = options[name]?.[0];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(used);
}
