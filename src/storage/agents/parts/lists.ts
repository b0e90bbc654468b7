// Raw SQL: one statement reads parts of many tables, and none of them when they are too large together.
import type { AgentFlow, AgentPart, AgentPartKind } from '../../../entities/agents/part.ts';
import type { Database } from '../../ground/database.ts';
import { requireShortList } from '../../ground/lists/paging.ts';
import type { PartShape } from './shapes.ts';

/** Parts of one kind: those of agents, or those with ids. */
export interface PartSelection {
  readonly shape: PartShape;
  readonly by: 'agentId' | 'id';
  readonly ids: readonly string[];
}

/**
 * Reads parts of several kinds by one statement. The database sums their sizes first, and gives the parts only when all of them fit one reply.
 *
 * Rows come as `json`, not as `jsonb`: the members of a JSON Schema keep their order.
 *
 * @returns the rows of each kind; those of agents in their order, flows with their versions.
 * @throws DomainError REPLY_TOO_LARGE
 */
export async function readPartLists(
  db: Database,
  selections: readonly PartSelection[],
): Promise<ReadonlyMap<AgentPartKind, readonly AgentPart[]>> {
  const nonEmptySelections = selections.filter(({ ids }) => ids.length > 0);
  if (nonEmptySelections.length === 0) return new Map();
  const text = `
    with size as materialized (select coalesce(sum(bytes), 0)::float8 as bytes from (${nonEmptySelections.map(sizesSql).join(' union all ')}) sizes)
    select null as kind, bytes, null::json as part from size
    union all ${nonEmptySelections.map((selection, index) => partsSql(selection, index, nonEmptySelections.length + 1)).join(' union all ')}`;
  const rows = await db.query<ListRow>(text, [...nonEmptySelections.map(({ ids }) => [...ids]), db.listMaxBytes]);
  const parts = new Map<AgentPartKind, AgentPart[]>(nonEmptySelections.map(({ shape }) => [shape.kind, []]));
  for (const row of rows) {
    if (row.kind === null) requireShortList(db, row.bytes);
    else parts.get(row.kind)?.push(toPart(row.part));
  }
  for (const { shape } of nonEmptySelections) parts.get(shape.kind)?.sort(toOrder(shape));
  return parts;
}

/** The size of all rows, or a part. */
type ListRow =
  | { readonly kind: null; readonly bytes: number; readonly part: null }
  | { readonly kind: AgentPartKind; readonly bytes: null; readonly part: PartRow };
type PartRow = Readonly<Record<'id' | 'agentId' | 'createdAt' | 'updatedAt', string>> & {
  readonly rowBytes?: number;
  readonly versions?: readonly (AgentFlow['versions'][number] & { readonly flowId: string; readonly rowBytes: number })[];
};

const versionsTable = 'agent_flow_versions';

function sizesSql({ shape: { kind, table }, by }: PartSelection, index: number): string {
  const rows =
    kind === 'flows'
      ? `${versionsTable} sized join ${table} part on part.id = sized."flowId"`
      : `${table} part cross join lateral (select part."rowBytes") sized`;
  return `select sized."rowBytes" as bytes from ${rows} where part."${by}" = any($${index + 1}::text[])`;
}

function partsSql({ shape: { kind, table }, by }: PartSelection, index: number, limitAt: number): string {
  const versions = `(select coalesce(json_agg(v order by v.version), '[]') from ${versionsTable} v where v."flowId" = part.id) as versions`;
  const columns = kind === 'flows' ? `part.*, ${versions}` : 'part.*';
  return `select '${kind}', null, to_json(found) from (
      select ${columns} from ${table} part
      where part."${by}" = any($${index + 1}::text[]) and (select bytes from size) <= $${limitAt}
    ) found`;
}

function toPart({ rowBytes: _bytes, versions, ...part }: PartRow): AgentPart {
  const datedPart = { ...part, createdAt: new Date(part.createdAt), updatedAt: new Date(part.updatedAt) };
  if (versions === undefined) return datedPart;
  return {
    ...datedPart,
    versions: versions.map(({ flowId: _flow, rowBytes: _versionBytes, ...version }) => version),
  } as AgentPart;
}

/** By code point, whatever the collation of the database is. */
function toOrder({ orderedBy, unique }: PartShape): (a: AgentPart, b: AgentPart) => number {
  const readMember = (part: AgentPart, name: string) =>
    (part as unknown as Readonly<Record<string, string | number>>)[name] ?? '';
  const compare = (a: string | number, b: string | number) => (a < b ? -1 : Number(a > b));
  return (a, b) =>
    (orderedBy === undefined ? 0 : compare(readMember(a, orderedBy), readMember(b, orderedBy))) ||
    compare(readMember(a, unique), readMember(b, unique));
}
