import { type AgentOptions, agentOptionList, type SamplingOptions } from '../../entities/agents/options.ts';

/** The first value of each option is the one used. */
export function toModelParameters(options: AgentOptions): SamplingOptions {
  const used = agentOptionList.flatMap(({ name, isOfService }) => {
    const value = isOfService === true ? undefined : options[name]?.[0];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(used);
}
