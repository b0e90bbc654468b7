import { Readable } from 'node:stream';
import { hiddenTitle } from '../../../entities/knowledge/citation.ts';
import { isObject } from '../../../lib/json/json.ts';
import { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';
import { Store } from '../../ground/store.ts';
import { type DataPlace, secretColumns, type TableRule, tableRules } from './tables.ts';

type Model = Prisma.ModelName;
type Row = Readonly<Record<string, unknown>>;
/** Bytes that a row names. */
export interface Attachment {
  readonly path: string;
  readonly blobKey: string;
}
export interface ExportedTable {
  readonly model: Model;
  /** As files and reports call it: `chat_files`. */
  readonly name: string;
}

const rowsAtOnce = 200;
/** The keys of tables without an `id`. */
const keys: Readonly<Partial<Record<Model, readonly string[]>>> = {
  Password: ['userId'],
  GroupMember: ['groupId', 'email'],
  ScimUser: ['orgId', 'userId'],
  ScimGroup: ['groupId'],
  AgentToolName: ['agentId'],
  AgentEditor: ['agentId', 'userId'],
  AgentGroup: ['agentId', 'groupId'],
  AgentRating: ['agentId', 'userId'],
  AgentDataSource: ['agentId', 'dataSourceId'],
  AgentVersion: ['agentId', 'number'],
  AgentDraftChange: ['agentId', 'revision'],
  AgentFlowVersion: ['flowId', 'version'],
  ProjectGroup: ['projectId', 'groupId'],
  ProjectSource: ['projectId', 'dataSourceId'],
  ProjectAgent: ['projectId', 'agentId'],
  VectorStore: ['dataSourceId'],
  PersonAccount: ['connectionId'],
  PromptGroup: ['promptId', 'groupId'],
  AgentGate: ['agentId'],
  DatasetCase: ['id', 'fromRevision'],
  ExperimentResult: ['experimentId', 'caseId', 'variant', 'repeat'],
  ChatRead: ['chatId', 'userId'],
  ChatOrigin: ['chatId'],
  ChatShareReader: ['shareId', 'userId'],
  CodeState: ['chatId'],
  FoldedResponse: ['runId'],
  ResponseItem: ['runId', 'direction', 'ordinal'],
  UsageDay: ['orgId', 'day', 'agentId'],
  Guard: ['ownerId'],
  GuardCount: ['orgId', 'day', 'agentId', 'kind'],
  UsageSum: ['orgId', 'dimension', 'day', 'value'],
  UsageMonth: ['orgId', 'dimension', 'month', 'value'],
  UsageCounter: ['orgId', 'kind'],
  DataRetention: ['orgId'],
};

export class DataRows extends Store {
  readonly #models = Object.keys(tableRules) as Model[];

  /** The tables that have rows of a person, or of an organization. */
  tables(place: DataPlace): readonly ExportedTable[] {
    return this.#models.flatMap((model) => (findWhere(model, place) === undefined ? [] : [{ model, name: tableName(model) }]));
  }

  /** Why the other tables are not exported. */
  leftOut({ userId }: DataPlace): readonly { readonly name: string; readonly reason: string }[] {
    return this.#models.flatMap((model) => {
      const rule: TableRule = tableRules[model];
      if ('leftOut' in rule) return [{ name: tableName(model), reason: rule.leftOut }];
      const isElsewhere = userId !== undefined && rule.ofPerson === undefined;
      return isElsewhere ? [{ name: tableName(model), reason: 'It has rows of organizations, and none of a person.' }] : [];
    });
  }

  /**
   * Lines of JSON, without secrets.
   *
   * @param mirroredIds  the MIRRORED sources of all organizations: an agent of another one may have answered from its own.
   * @param onRow  called for each row.
   */
  lines(table: ExportedTable, place: DataPlace, mirroredIds: MirroredIds, onRow: () => void): Readable {
    return Readable.from(streamLines(this.db, { ...place, model: table.model, mirroredIds }, onRow), { objectMode: false });
  }

  attachments(table: ExportedTable, place: DataPlace): AsyncIterable<Attachment> {
    return streamAttachments(this.db, table, place);
  }
}

const irregularNames: Readonly<Partial<Record<Model, string>>> = {
  MessageFeedback: 'message_feedback',
  LexemeStatistics: 'lexeme_statistics',
};

/** `chat_files` of `ChatFile`: what files of an export and lines of a report call a table. */
export function tableName(model: Model): string {
  const irregular = irregularNames[model];
  if (irregular !== undefined) return irregular;
  const words = model.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).toLowerCase();
  if (/[^aeiou]y$/.test(words)) return `${words.slice(0, -1)}ies`;
  return /(?:s|x|sh|ch)$/.test(words) ? `${words}es` : `${words}s`;
}

/** What Prisma does with the rows of any table. */
export interface AnyTable {
  findMany(args: object): PromiseLike<readonly Row[]>;
  deleteMany(args: { readonly where: object; readonly limit?: number }): PromiseLike<{ readonly count: number }>;
}

export function anyTable({ prisma }: Pick<Database, 'prisma'>, model: Model): AnyTable {
  const name = `${model.charAt(0).toLowerCase()}${model.slice(1)}` as Uncapitalize<Model>;
  return prisma[name] as unknown as AnyTable;
}

function findWhere(model: Model, { orgId, userId }: DataPlace): object | undefined {
  const rule: TableRule = tableRules[model];
  if ('leftOut' in rule) return undefined;
  const where = userId === undefined ? rule.ofOrganization(orgId) : rule.ofPerson?.({ orgId, userId });
  return where === undefined || rule.exported === undefined ? where : { AND: [where, rule.exported] };
}

/** All rows, in the order of their keys, some at a time. */
async function* streamRows(db: Database, model: Model, place: DataPlace): AsyncGenerator<Row> {
  const where = findWhere(model, place);
  const columns = 'id' in Prisma[`${model}ScalarFieldEnum`] ? ['id'] : keys[model];
  if (columns === undefined) throw new Error(`the key of ${model} is not known`);
  let last: Row | undefined;
  while (where !== undefined) {
    const behind = last;
    const rest =
      behind === undefined ? {} : { OR: columns.map((_column, index) => behindKey(columns.slice(0, index + 1), behind)) };
    const orderBy = columns.map((column) => ({ [column]: 'asc' }));
    const rows = await anyTable(db, model).findMany({ where: { AND: [where, rest] }, orderBy, take: rowsAtOnce });
    yield* rows;
    last = rows.at(-1);
    if (rows.length < rowsAtOnce) return;
  }
}

/** Equal in all columns but the last, and greater in that one. */
function behindKey(columns: readonly string[], row: Row): object {
  return Object.fromEntries(
    columns.map((column, index) => [column, index === columns.length - 1 ? { gt: row[column] } : row[column]]),
  );
}

type MirroredIds = Pick<ReadonlySet<string>, 'has' | 'size'>;
interface ExportedRows extends DataPlace {
  readonly model: Model;
  readonly mirroredIds: MirroredIds;
}

async function* streamLines(
  db: Database,
  { model, mirroredIds, ...place }: ExportedRows,
  onRow: () => void,
): AsyncGenerator<string> {
  const rule: TableRule = tableRules[model];
  const omittedColumns = new Set([...secretColumns, ...('omit' in rule ? (rule.omit ?? []) : [])]);
  for await (const row of streamRows(db, model, place)) {
    onRow();
    yield jsonOfRow(mirroredIds, Object.fromEntries(Object.entries(row).filter(([column]) => !omittedColumns.has(column))));
  }
}

async function* streamAttachments(db: Database, { model, name }: ExportedTable, place: DataPlace): AsyncGenerator<Attachment> {
  const rule: TableRule = tableRules[model];
  const columns = 'blobs' in rule ? (rule.blobs ?? []) : [];
  if (columns.length === 0) return;
  for await (const row of streamRows(db, model, place)) {
    for (const column of columns) {
      const blobKey = row[column];
      if (typeof blobKey !== 'string') continue;
      const filename = typeof row.filename === 'string' ? row.filename : 'content';
      yield { blobKey, path: `attachments/${name}/${String(row.id)}/${safeName(filename)}` };
    }
  }
}

/** A name that no program takes for a path. */
function safeName(filename: string): string {
  const name = filename
    .replaceAll(/[\p{Cc}\\/:*?"<>|]+/gu, '_')
    .replace(/^\.+/, '_')
    .slice(0, 120)
    .toWellFormed();
  return name === '' ? 'content' : name;
}

/**
 * One line of JSON with its end. Numbers that JavaScript has no exact type for are texts. Citations, and passages of searches, say nothing of the documents
 * of MIRRORED sources: what a person may open is decided when it is shown, and a file is read for years.
 */
function jsonOfRow(mirroredIds: MirroredIds, row: Row): string {
  return `${JSON.stringify(row, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : closeDocuments(mirroredIds, value)))}\n`;
}

function closeDocuments(mirroredIds: MirroredIds, value: unknown): unknown {
  if (mirroredIds.size === 0 || !isObject(value)) return value;
  const { documents, dataSourceId, knowledgeItemId, itemId } = value;
  // The scorer of an experiment that names documents.
  if (value.kind === 'CITES_NO_OTHER') return { ...value, note: '' };
  // A search in the events of a run: the titles are those of its documents. Old logs have the titles alone.
  if (Array.isArray(value.titles) && typeof value.passages === 'number') {
    const known = Array.isArray(documents) ? documents.filter(isObject) : [];
    const open = known.filter((document) => !mirroredIds.has(String(document.dataSourceId)));
    return { ...value, documents: open, titles: [...new Set(open.map(({ title }) => title))] };
  }
  const isMirrored = typeof dataSourceId === 'string' && mirroredIds.has(dataSourceId);
  const namesDocument = isMirrored && (knowledgeItemId !== undefined || itemId !== undefined);
  if (!namesDocument && !isOfUnknownSource(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([member, text]) => [member, typeof text === 'string' ? closeText(member, text) : text]),
  );
}

/** Passages of old searches, and citations of old answers of experiments, do not say of which source their document is. */
function isOfUnknownSource(value: Readonly<Record<string, unknown>>): boolean {
  const isPassage = typeof value.title === 'string' && typeof value.score === 'number' && typeof value.dataSourceId !== 'string';
  const isCitation = Object.keys(value).sort().join() === 'itemId,name' && value.itemId !== '';
  return isPassage || isCitation;
}

function closeText(member: string, text: string): string {
  if (member === 'name' || member === 'title') return hiddenTitle;
  return member === 'url' || member === 'snippet' || member === 'headingPath' ? '' : text;
}
