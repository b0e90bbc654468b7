// Raw SQL: one statement reads chats with their agent and its owner by a caller's rule, in pages that are bounded in bytes.
import type { ChatFilter } from '../../entities/accounts/access.ts';
import type { Chat } from '../../entities/chats/chat.ts';
import { type Page, type PageRequest, pageOf, type SortKey } from '../../entities/page.ts';
import type { Database } from '../database/database.ts';
import { readPage } from '../database/sql/bounded-rows.ts';
import { containing, countRows, Parameters, selectRows } from '../database/sql/where.ts';
import { chatCondition } from './filter-sql.ts';

export interface ChatQuery {
  readonly userId?: string;
  readonly orgId?: string;
  readonly agentId?: string;
  /** Adds the chats of this organization that editors of the agent may read. */
  readonly shownIn?: string;
  /** Text that the name, or a message that people may read, contains. */
  readonly search?: string;
}

const chatColumns = `c.id, c."createdAt", c."updatedAt", c."orgId", c."userId", c."agentId", c.name, c."pinPosition", c."activeRunId", c."modelId", c."userInputs", c."isVisibleToEditors",
  json_build_object('id', coalesce(a.id, c."modelId", ''), 'name', coalesce(a.name, c."modelId", ''), 'src', coalesce(a.src, ''),
    'description', coalesce(a.description, ''), 'userId', coalesce(a."userId", ''), 'userName', coalesce(u.name, ''), 'seed', coalesce(a.seed, '')) as agent`;
const chatTables = `chats c left join agents a on a.id = c."agentId" left join users u on u.id = a."userId"`;

export function findChats(db: Database, ids: readonly string[], filter: ChatFilter): Promise<readonly Chat[]> {
  return selectRows<Chat>(
    db,
    (given) => `select ${chatColumns} from ${chatTables}
      where c.id = any(${given.add(ids)}::text[]) and c."deletedAt" is null and ${chatCondition(filter, given)}`,
  );
}

export async function listChats(db: Database, query: ChatQuery, page: PageRequest): Promise<Page<Chat>> {
  const given = new Parameters();
  const text = `select ${chatColumns} from ${chatTables} where ${listCondition(query, given)} and ${afterCondition(page, given)}
    order by c."updatedAt" desc, c.id desc limit ${given.add(page.limit + 1)}`;
  const { rows, foundCount } = await readPage<Chat>(db, { text, values: given.values }, ['agent', 'userInputs']);
  const countAll = () => countRows(db, (counted) => `from chats c where ${listCondition(query, counted)}`);
  return pageOf(rows, page, activityKey, countAll, foundCount);
}

function listCondition({ userId, orgId, agentId, shownIn, search }: ChatQuery, parameters: Parameters): string {
  const own = [
    ...(userId === undefined ? [] : [`c."userId" = ${parameters.add(userId)}`]),
    ...(orgId === undefined ? [] : [`c."orgId" = ${parameters.add(orgId)}`]),
  ].join(' and ');
  const shown = shownIn === undefined ? '' : `(c."isVisibleToEditors" and c."orgId" = ${parameters.add(shownIn)})`;
  return [
    'c."deletedAt" is null',
    ...(own === '' ? [] : [shown === '' ? own : `(${own} or ${shown})`]),
    ...(agentId === undefined ? [] : [`c."agentId" = ${parameters.add(agentId)}`]),
    ...(search === undefined ? [] : [searchCondition(parameters.add(containing(search)))]),
  ].join(' and ');
}

function searchCondition(pattern: string): string {
  return `(c.name ilike ${pattern} or exists (select 1 from messages m
    where m."chatId" = c.id and not m."isHidden" and m.role <> 'system' and m.content ilike ${pattern}))`;
}

function afterCondition({ after }: PageRequest, parameters: Parameters): string {
  const [time, id] = after ?? [];
  if (time === undefined || id === undefined) return 'true';
  return `(c."updatedAt", c.id) < (${parameters.add(time)}::timestamptz, ${parameters.add(id)})`;
}

function activityKey({ updatedAt, id }: Chat): SortKey {
  return [updatedAt.toISOString(), id];
}
