import { type IdKind, idAs, kindOfId } from '../../../entities/ground/ids.ts';
import { membersOf } from '../../../lib/json/json.ts';
import type { Database } from '../../ground/database.ts';

/** What a thing was before a change, by the names of the members of inputs; members of objects by their path. */
export type ThingState = Readonly<Record<string, unknown>>;

type Reader = (id: string, prisma: Database['prisma']) => Promise<object | null>;

const connectionReader: Reader = (id, { connection }) =>
  connection.findUnique({ where: { id }, select: { scopes: true, expiresAt: true } });

/** Columns whose names are those of the members of inputs. No secret and no text that people write is among them. */
const readers: Readonly<Partial<Record<IdKind, Reader>>> = {
  agent: async (id, { agent }) => {
    const shares = { groups: { select: { groupId: true }, orderBy: { groupId: 'asc' } } } as const;
    const lists = {
      listInOrgCatalog: true,
      listInTenantCatalog: true,
      listInPublicCatalog: true,
      publicCategories: true,
    } as const;
    const shows = { chatLogsVisible: true, generateCitations: true, intermediateStepsVisible: true } as const;
    const select = { name: true, modelId: true, visibility: true, options: true, ...lists, ...shows, ...shares };
    const row = await agent.findUnique({ where: { id }, select });
    if (row === null) return null;
    const options = Object.entries(membersOf(row.options)).map(([name, value]) => [`options.${name}`, value]);
    return { ...row, ...Object.fromEntries(options), groups: row.groups.map(({ groupId }) => groupId) };
  },
  agentTool: (id, { agentTool }) => agentTool.findUnique({ where: { id }, select: { name: true } }),
  agentSkill: (id, { agentSkill }) => agentSkill.findUnique({ where: { id }, select: { name: true, enabled: true } }),
  agentFlow: (id, { agentFlow }) => agentFlow.findUnique({ where: { id }, select: { name: true, enabled: true } }),
  agentUserInput: (id, { agentUserInput }) =>
    agentUserInput.findUnique({ where: { id }, select: { orderIndex: true, showOnChatCreate: true } }),
  agentCategory: (id, { agentCategory }) => agentCategory.findUnique({ where: { id }, select: { name: true } }),
  dataSource: async (id, { dataSource }) => {
    const agents = { select: { agentId: true }, orderBy: { agentId: 'asc' } } as const;
    const select = { name: true, refreshPeriod: true, cite: true, orgVisible: true, agents };
    const row = await dataSource.findUnique({ where: { id }, select });
    return row === null ? null : { ...row, agentIds: row.agents.map(({ agentId }) => agentId) };
  },
  knowledgeItem: (id, { knowledgeItem }) => knowledgeItem.findUnique({ where: { id }, select: { cite: true } }),
  vectorStore: async (id, { vectorStore }) => {
    const select = { expiresAfterDays: true, dataSource: { select: { name: true } } } as const;
    const row = await vectorStore.findUnique({ where: { dataSourceId: idAs('dataSource', id) }, select });
    return row === null ? null : { expiresAfterDays: row.expiresAfterDays, name: row.dataSource.name };
  },
  oauthToken: connectionReader,
  mcpServer: connectionReader,
  repoHostInstallation: connectionReader,
  group: (id, { group }) => group.findUnique({ where: { id }, select: { name: true, availability: true } }),
  membership: (id, { membership }) => membership.findUnique({ where: { id }, select: { role: true } }),
  user: (id, { user }) => user.findUnique({ where: { id }, select: { name: true, email: true, isOperator: true } }),
  tenant: (id, { tenant }) => tenant.findUnique({ where: { id }, select: { name: true } }),
  organization: (id, { organization }) => {
    const select = { name: true, dataUsageTokenLimit: true, apiUsageTokenLimit: true, timeZone: true } as const;
    return organization.findUnique({ where: { id }, select });
  },
  budget: (id, { budget }) => budget.findUnique({ where: { id }, select: { amount: true, allowsUnpricedModels: true } }),
  mcpOauthClient: (id, { mcpOauthClient }) => {
    const select = { url: true, issuer: true, clientId: true, scopes: true } as const;
    return mcpOauthClient.findUnique({ where: { id }, select });
  },
  savedDocument: (id, { savedDocument }) => savedDocument.findUnique({ where: { id }, select: { name: true } }),
  webhook: (id, { webhook }) => webhook.findUnique({ where: { id }, select: { events: true, agentIds: true, isEnabled: true } }),
  schedule: (id, { schedule }) => {
    const select = { name: true, agentId: true, chatMode: true, webhookId: true, isEnabled: true } as const;
    return schedule.findUnique({ where: { id }, select });
  },
};

/** Of things without an id of their own: by the mutation, and the organization that it changes. */
const ofOrganization: Readonly<Record<string, Reader>> = {
  updateDataRetention: async (orgId, { dataRetention }) => {
    const select = { chatDays: true, runDays: true, eventDays: true, usageDays: true, auditDays: true } as const;
    return (await dataRetention.findUnique({ where: { orgId }, select })) ?? { ...nothingSet };
  },
};
/** An organization that never said how long it keeps what. */
const nothingSet = { chatDays: null, runDays: null, eventDays: null, usageDays: null, auditDays: null };

/** What a mutation changes. */
export interface ChangedThing {
  readonly action: string;
  /** Of the argument `id`. */
  readonly id: string | undefined;
  readonly orgId: string;
}

/** What a mutation is about to change, as it is now. Undefined for what is not there. Cost: one statement, two with members of lists. */
export async function stateBefore(
  { prisma }: Pick<Database, 'prisma'>,
  { action, id, orgId }: ChangedThing,
): Promise<ThingState | undefined> {
  const own = ofOrganization[action];
  const row = own === undefined ? await findReader(id)?.(id ?? '', prisma) : await own(orgId, prisma);
  return row === null || row === undefined ? undefined : { ...row };
}

function findReader(id: string | undefined): Reader | undefined {
  const kind = id === undefined ? undefined : kindOfId(id);
  return kind === undefined ? undefined : readers[kind];
}
