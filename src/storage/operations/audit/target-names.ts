// Raw SQL: the names of things of many kinds by one statement.
import { type IdKind, kindOfId } from '../../../entities/ground/ids.ts';
import type { Database } from '../../ground/database.ts';

/** How the names of one kind of things of an organization (`$1`) are found. */
interface NameTable {
  /** The table, which has the id of the thing as `thing.id`. */
  readonly from: string;
  readonly name: string;
  readonly orgId: string;
}

const ofOrganization = (table: string): NameTable => ({ from: `${table} thing`, name: 'thing.name', orgId: 'thing."orgId"' });
const ofAgent = (table: string, name: string): NameTable => ({
  from: `${table} thing join agents on agents.id = thing."agentId" and not agents."isDeleted"`,
  name: `thing."${name}"`,
  orgId: 'agents."orgId"',
});

/** What administrators of an organization may read by name. People's own things, such as chats, are not among them. */
const tables: Readonly<Partial<Record<IdKind, NameTable>>> = {
  agent: { ...ofOrganization('agents'), from: '(select * from agents where not "isDeleted") thing' },
  agentTool: ofAgent('agent_tools', 'name'),
  agentSkill: ofAgent('agent_skills', 'name'),
  agentFlow: ofAgent('agent_flows', 'name'),
  agentUserInput: ofAgent('agent_user_inputs', 'label'),
  agentSecret: ofAgent('agent_secrets', 'key'),
  agentCategory: ofOrganization('agent_categories'),
  dataSource: { ...ofOrganization('data_sources'), from: '(select * from data_sources where "deletingAt" is null) thing' },
  knowledgeItem: ofOrganization('knowledge_items'),
  group: ofOrganization('groups'),
  apiKey: ofOrganization('api_keys'),
  organization: { from: 'organizations thing', name: 'thing.name', orgId: 'thing.id' },
  user: {
    from: 'users thing join memberships on memberships."userId" = thing.id',
    name: 'thing.name',
    orgId: 'memberships."orgId"',
  },
  membership: {
    from: 'memberships thing join users on users.id = thing."userId"',
    name: 'users.name',
    orgId: 'thing."orgId"',
  },
};

const tableEntries = Object.entries(tables);
/** One text, whichever kinds are asked for: each connection plans it once. */
const namesSql = tableEntries
  .map(
    ([, { from, name, orgId }], index) =>
      `select thing.id, ${name} as name from ${from} where thing.id = any($${index + 2}::text[]) and ${orgId} = $1`,
  )
  .join(' union all ');

/**
 * What things of an organization are called now. Things that are gone, that have no name, and people's own things are left out.
 *
 * Cost: one statement.
 */
export async function targetNames(db: Database, orgId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const byKind = Map.groupBy(ids, (id): string | undefined => kindOfId(id));
  const values = tableEntries.map(([kind]) => byKind.get(kind) ?? []);
  const rows = await db.query<{ readonly id: string; readonly name: string }>(namesSql, [orgId, ...values]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
