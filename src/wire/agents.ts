import { z } from 'zod';
import type { AgentCatalog } from '../entities/agents/agent.ts';
import { flag, list } from './ground/schema.ts';
import { memberShape } from './ground/shape.ts';

/** Agents, as REST shows them. */

/** GraphQL lists the catalogs that list an agent. Sample conversations are shown as they came, whatever their members are called. */
export const agentShapes = {
  conversations: memberShape(
    'AgentProfile.conversations',
    list('Sample conversations, each an object.', z.unknown()),
    (conversations: readonly unknown[]) => conversations,
  ),
  listInOrgCatalog: catalogFlag('listInOrgCatalog', 'ORGANIZATION', "Whether the organization's catalog lists it."),
  listInPublicCatalog: catalogFlag('listInPublicCatalog', 'PUBLIC', 'Whether the public catalog lists it.'),
  listInTenantCatalog: catalogFlag('listInTenantCatalog', 'TENANT', "Whether the tenant's catalog lists it."),
} as const;

function catalogFlag(name: string, catalog: AgentCatalog, description: string) {
  return memberShape(`Agent.${name}`, flag(description), (catalogs: readonly AgentCatalog[]) => catalogs.includes(catalog));
}
