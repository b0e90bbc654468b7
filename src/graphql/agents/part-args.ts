import { restOnly } from '../ground/builder/one-api.ts';
import type { ArgBuilder } from '../ground/pagination.ts';

/** The arguments that name a part of an agent: its id. Paths of REST name the agent too, and a part of another agent is not there. */
export function partArgs(arg: ArgBuilder, id: { readonly description: string }) {
  return {
    id: arg.id(id),
    agentId: arg.id({ extensions: restOnly, required: false, description: 'The id of the agent.' }),
  };
}
