import type { ArgBuilder } from '../ground/pagination.ts';

/** The arguments that name a part of an agent. Paths of REST name the agent too, and a part of another agent is not there. */
export function partArgs(arg: ArgBuilder, id: { readonly description: string }) {
  return {
    id: arg.id(id),
    agentId: arg.id({ required: false, description: 'The id of the agent that the part must be of. Default: any.' }),
  };
}
