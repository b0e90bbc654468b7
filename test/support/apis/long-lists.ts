import { makeFor, type Person } from '../make.ts';
import type { TestService } from '../service.ts';

export const rowCount = 12;
export const rowBytes = 20_000;
const responseId = 'resp_01h00000000000000000000000';
const experimentId = 'exper_01h00000000000000000000000';
const datasetId = 'dset_01h00000000000000000000000';
const batchId = 'vsfb_01h00000000000000000000000';

/**
 * Makes lists of long rows: it makes short things over HTTP and lengthens them in the database.
 *
 * @returns the ids of the things that have the lists, by the names of path parameters.
 */
export async function makeLongLists(service: TestService, ann: Person): Promise<ReadonlyMap<string, string>> {
  const make = makeFor(service);
  const { db } = service.deps.storage;
  const made = <T>(one: (index: number) => Promise<T>) => Promise.all(Array.from({ length: rowCount }, (_, index) => one(index)));
  const agents = await made(() => make.agent({ owner: ann }));
  const agentId: string = agents[0]?.id;
  const chats = await made(() => make.chat({ owner: ann, agentId }));
  const chatId: string = chats[0]?.id;
  const sources = [];
  for (let index = 0; index < rowCount; index += 1)
    sources.push(await make.apiDataSource({ owner: ann, agentId, data: { index } }));
  const sourceId: string = sources[0]?.id;
  const stores = await made(async () => (await ann.post('/api/v1/vector_stores', {})).body);
  const storeId: string = stores[0]?.id;
  const { body: group } = await ann.post('/api/v1/groups', { name: 'All', availability: 'EVERYONE', memberEmails: '' });
  const at = "now() + n * interval '1 millisecond'";
  const text = `repeat('x', ${rowBytes})`;
  const json = `jsonb_build_object('text', ${text})`;
  const tools = `jsonb_build_array(jsonb_build_object('type', 'image_generation', 'options', jsonb_build_object('model', ${text})))`;
  /** A well-formed id of row n, for lists whose cursors are ids. */
  const idOf = (prefix: string, n = 'n') => `'${prefix}_01h' || lpad((${n})::text, 23, '0')`;
  const rows = `generate_series(1, ${rowCount}) n`;
  const statements: readonly (readonly [string, ...unknown[]])[] = [
    [
      `update agents set instructions = ${text}, src = ${text}, "enabledTools" = ${tools}, name = n || '' from (select id, row_number() over () n from agents) x where x.id = agents.id`,
    ],
    [`update chats set "userInputs" = ${json}`],
    [`update data_sources set data = ${json}`],
    [`update vector_stores set metadata = ${json}`],
    [`update audit_entries set changes = jsonb_build_array(jsonb_build_object('member', 'a', 'value', ${text}))`],
    [`insert into agent_data_sources ("agentId", "dataSourceId") select id, $1 from agents on conflict do nothing`, sourceId],
    [
      `insert into knowledge_items (id, "createdAt", "updatedAt", "orgId", "dataSourceId", name, "uniqueId", type, metadata)
       select 'ki_' || n, ${at}, now(), $2, $1, 'item', 'item ' || n, 'API', ${json} from ${rows}`,
      sourceId,
      ann.orgId,
    ],
    [
      `insert into knowledge_items (id, "createdAt", "updatedAt", "orgId", "dataSourceId", name, "uniqueId", type, metadata)
       select 'ki_of_store_' || n, ${at}, now(), $2, $1, 'item', 'file_of_store_' || n, 'FILE_UPLOAD', jsonb_build_object('attributes', ${json})
       from ${rows}`,
      storeId,
      ann.orgId,
    ],
    [`insert into vector_store_file_batches (id, "dataSourceId") values ('${batchId}', $1)`, storeId],
    [`insert into vector_store_batch_files ("batchId", "itemId") select '${batchId}', 'ki_of_store_' || n from ${rows}`],
    [`update knowledge_items set "liveGeneration" = 1 where id = 'ki_of_store_1'`],
    [
      `insert into chunks (data_source_id, item_id, generation, ordinal, length, term_keys, term_counts)
       select $1, 'ki_of_store_1', 1, n - 1, 1, '{}', '{}' from ${rows}`,
      storeId,
    ],
    [
      `insert into chunk_texts (chunk_id, heading_path, text, gap_before, config, token_count, content_hash, char_start, char_end)
       select id, '', ${text}, ' ', 'simple', 1, id::text, ordinal * ${rowBytes}, (ordinal + 1) * ${rowBytes} from chunks
       where item_id = 'ki_of_store_1'`,
    ],
    [
      `insert into files (id, "createdAt", "orgId", "userId", filename, "sizeBytes", "mimeType", purpose, "blobKey")
       select ${idOf('file')}, ${at}, $1, $2, ${text}, 0, 'text/plain', 'user_data', 'blob ' || n from ${rows}`,
      ann.orgId,
      ann.userId,
    ],
    [
      // All follow the first one, so that each has long siblings, and the first one long replies.
      `insert into messages (id, "createdAt", "updatedAt", "chatId", ordinal, role, content, "parentId")
       select ${idOf('msg')}, ${at}, now(), $1, n, 'user', ${text} || repeat('y', 3000), case when n > 1 then ${idOf('msg', '1')} end from ${rows}`,
      chatId,
    ],
    [
      `insert into chat_files (id, "createdAt", "chatId", source, filename, "sizeBytes", "mimeType", metadata, status)
       select 'file_' || n, ${at}, $1, 'USER', 'f', 0, 'text/plain', ${json}, 'UPLOADED' from ${rows}`,
      chatId,
    ],
    [
      `insert into agent_tools (id, "updatedAt", "agentId", name, type, data)
       select 'tool_' || n, now(), $1, 'tool' || n, 'CLIENT_FUNCTION', ${json}::json from ${rows}`,
      agentId,
    ],
    [
      `insert into agent_skills (id, "updatedAt", "agentId", name, description, content)
       select 'skill_' || n, now(), $1, 'skill' || n, '', ${text} from ${rows}`,
      agentId,
    ],
    [
      `insert into agent_user_inputs (id, "updatedAt", "agentId", "variableName", type, label, configuration)
       select 'uin_' || n, now(), $1, 'v' || n, 'SHORT_TEXT', ${text}, '{}' from ${rows}`,
      agentId,
    ],
    [
      `insert into agent_secrets (id, "updatedAt", "agentId", key, description, "secretType")
       select 'sec_' || n, now(), $1, 'key' || n, ${text}, 'apiKey' from ${rows}`,
      agentId,
    ],
    [`insert into agent_flows (id, "updatedAt", "agentId", name) values ('flow_1', now(), $1, 'flow')`, agentId],
    [`insert into agent_flow_versions ("flowId", version, data) select 'flow_1', n, ${json}::json from ${rows}`],
    [`insert into group_members ("groupId", email, "updatedAt") select $1, n || '@' || ${text}, now() from ${rows}`, group.id],
    [
      `insert into datasets (id, "updatedAt", "orgId", "agentId", name) values ('${datasetId}', now(), $1, $2, 'd')`,
      ann.orgId,
      agentId,
    ],
    [
      `insert into dataset_cases (id, "fromRevision", "createdAt", "orgId", "datasetId", content)
       select ${idOf('case')}, 0, ${at}, $1, '${datasetId}', jsonb_build_object('question', ${text}) from ${rows}`,
      ann.orgId,
    ],
    [
      `insert into experiments (id, "updatedAt", "orgId", "userId", "agentId", "datasetId", revision, status, variants, scorers, repeats, "tokensMax", seed, "plannedCount")
       values ('${experimentId}', now(), $1, $2, $3, '${datasetId}', 1, 'RUNNING', '[]', '[]', 1, 1, 1, ${rowCount})`,
      ann.orgId,
      ann.userId,
      agentId,
    ],
    [
      `insert into experiment_results ("experimentId", "caseId", "caseRevision", variant, repeat, weight, answer)
       select '${experimentId}', ${idOf('case')}, 0, 0, 0, 1, ${text} from ${rows}`,
    ],
    [
      `insert into runs (id, "updatedAt", "orgId", "userId", "keyId", "modelId", status, request, "chatId")
       values ('${responseId}', now(), $1, $2, $3, 'parley/offline', 'completed', '{}', $4)`,
      ann.orgId,
      ann.userId,
      ann.keyId,
      chatId,
    ],
    [
      `insert into runs (id, "updatedAt", "orgId", "userId", "keyId", "modelId", status, request, "chatId", "isWaiting", "pendingMessages")
       select ${idOf('run')}, now(), $1, $2, $3, 'parley/offline', 'in_progress', '{}', $4, true, json_build_array(json_build_object(
         'id', 'msg_waiting_' || n, 'role', 'user', 'content', ${text})) from ${rows}`,
      ann.orgId,
      ann.userId,
      ann.keyId,
      chatId,
    ],
    [
      `insert into response_items ("runId", direction, ordinal, "itemId", "orgId", "userId", item)
       select '${responseId}', 'input', n, 'msg_in_' || n, $1, $2,
         json_build_object('id', 'msg_in_' || n, 'type', 'message', 'text', ${text}) from ${rows}`,
      ann.orgId,
      ann.userId,
    ],
  ];
  for (const [statement, ...values] of statements) await db.pool.query(statement, values);
  return new Map([
    ['aiId', agentId],
    ['batchId', batchId],
    ['chatId', chatId],
    ['conversationId', chatId],
    ['datasetId', datasetId],
    ['experimentId', experimentId],
    ['dataSourceId', sourceId],
    ['fileId', 'file_of_store_1'],
    ['responseId', responseId],
    ['vectorStoreId', storeId],
  ]);
}
