import type { PoolClient } from 'pg';
import type { AgentPart } from '../../../entities/agents/part.ts';
import { DomainError } from '../../../entities/errors.ts';
import { unlessTaken } from '../../database/conflicts.ts';
import type { Database } from '../../database/database.ts';
import type { Signals } from '../../database/signals/signals.ts';
import { readWhole } from '../../database/sql/bounded-rows.ts';

/** The members of a part that are its own. */
export type PartValues<Part extends AgentPart> = Omit<Part, keyof AgentPart>;
export type NewPart<Part extends AgentPart> = PartValues<Part> & Omit<AgentPart, 'updatedAt'>;
type Also = (client: PoolClient) => Promise<void>;

/** Rows of one kind that belong to agents. Whoever asks has been allowed to see or change the agent. */
export interface PartTable<Part extends AgentPart> {
  /** Of many agents in one statement, each agent's in its order. */
  ofAgents(agentIds: readonly string[]): Promise<readonly Part[]>;
  find(agentId: string, id: string): Promise<Part | undefined>;
  /** `also` runs in the same transaction, after the write. @throws DomainError CONFLICT for a taken name or one too many, NOT_FOUND. */
  create(part: NewPart<Part>, also?: Also): Promise<Part>;
  /** @throws DomainError CONFLICT, NOT_FOUND. */
  update(agentId: string, id: string, changes: Partial<PartValues<Part>>, also?: Also): Promise<Part>;
  /** @returns false when it was gone before. */
  delete(agentId: string, id: string, also?: Also): Promise<boolean>;
}

export interface PartShape {
  readonly table: string;
  /** As messages call it. */
  readonly noun: string;
  /** The columns besides those of every part; `json` ones are written as JSON text. */
  readonly columns: Readonly<Record<string, 'plain' | 'json'>>;
  /** The column whose value an agent has once. */
  readonly unique: string;
  readonly countMax: number;
  readonly orderBy: string;
}

export function createPartTable<Part extends AgentPart>(db: Database, signals: Signals, shape: PartShape): PartTable<Part> {
  const { pool } = db;
  const { table, noun, unique } = shape;
  const longColumns = Object.keys(shape.columns);
  const taken = `Another ${noun} of this agent has this ${unique}`;

  async function written<T>(agentId: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
    const result = await unlessTaken(
      db.transaction(async (client) => {
        await lockAgent(client, agentId);
        return work(client);
      }),
      unique,
      taken,
    );
    signals.publish('agent-changed', agentId);
    return result;
  }

  return {
    ofAgents(agentIds) {
      const text = `select * from ${table} where "agentId" = any($1::text[]) order by ${shape.orderBy}`;
      return readWhole(db, { text, values: [agentIds] }, longColumns);
    },
    async find(agentId, id) {
      const { rows } = await pool.query<Part & object>(`select * from ${table} where id = $2 and "agentId" = $1`, [agentId, id]);
      return rows[0];
    },
    create: (part, also) =>
      written(part.agentId, async (client) => {
        await requireRoom(client, part.agentId, shape);
        const row = await insertPart<Part>(client, shape, part);
        await also?.(client);
        return row;
      }),
    update: (agentId, id, changes, also) =>
      written(agentId, async (client) => {
        const entries = Object.entries(changes).filter(([, value]) => value !== undefined);
        const sets = entries.map(([name], index) => `, "${columnOf(shape, name)}" = $${index + 3}`);
        const { rows } = await client.query<Part & object>(
          `update ${table} set "updatedAt" = now()${sets.join('')} where id = $2 and "agentId" = $1 returning *`,
          [agentId, id, ...entries.map(([name, value]) => storedValue(shape, name, value))],
        );
        if (rows[0] === undefined) throw new DomainError('NOT_FOUND', `There is no such ${noun}`);
        await also?.(client);
        return rows[0];
      }),
    delete: (agentId, id, also) =>
      written(agentId, async (client) => {
        const { rowCount } = await client.query(`delete from ${table} where id = $2 and "agentId" = $1`, [agentId, id]);
        await also?.(client);
        return rowCount !== null && rowCount > 0;
      }),
  };
}

/** Changes of one agent's parts stand in line, so that counts and names are true at the write. @throws DomainError NOT_FOUND. */
export async function lockAgent(client: PoolClient, agentId: string): Promise<void> {
  const { rows } = await client.query('select 1 from agents where id = $1 and not "isDeleted" for update', [agentId]);
  if (rows.length === 0) throw new DomainError('NOT_FOUND', 'There is no such agent', { param: 'aiId' });
}

/** Also for rows that come in with a whole agent. */
export async function insertPart<Part extends AgentPart>(
  client: PoolClient,
  shape: PartShape,
  { id, createdAt, agentId, ...values }: NewPart<Part>,
): Promise<Part> {
  const entries = Object.entries(values);
  const names = entries.map(([name]) => `, "${columnOf(shape, name)}"`);
  const { rows } = await client.query<Part & object>(
    `insert into ${shape.table} (id, "createdAt", "updatedAt", "agentId"${names.join('')})
     values ($1, $2, $2, $3${entries.map((_entry, index) => `, $${index + 4}`).join('')}) returning *`,
    [id, createdAt, agentId, ...entries.map(([name, value]) => storedValue(shape, name, value))],
  );
  if (rows[0] === undefined) throw new Error(`an insert into ${shape.table} returned nothing`);
  return rows[0];
}

async function requireRoom(client: PoolClient, agentId: string, { table, noun, countMax }: PartShape): Promise<void> {
  const { rows } = await client.query<{ count: number }>(`select count(*)::int as count from ${table} where "agentId" = $1`, [
    agentId,
  ]);
  if ((rows[0]?.count ?? 0) >= countMax)
    throw new DomainError('CONFLICT', `This agent has ${countMax} parts of this kind (${noun}), which is the most`);
}

/** Names are ours, and still only those of the shape are ever written into SQL. */
function columnOf({ table, columns }: PartShape, name: string): string {
  if (Object.hasOwn(columns, name)) return name;
  throw new Error(`${table} has no column ${name}`);
}

function storedValue({ columns }: PartShape, name: string, value: unknown): unknown {
  return columns[name] === 'json' ? JSON.stringify(value) : value;
}
