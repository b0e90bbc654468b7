import { Readable } from 'node:stream';
import type { AgentView } from '../../entities/agents/agent.ts';
import type { EndedApproval } from '../../entities/agents/part.ts';
import type { UploadedFile } from '../../entities/conversations/chats/uploaded-file.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import type { DataSource, DataSourceType } from '../../entities/knowledge/data-source.ts';
import type { SourcePermissions } from '../../entities/knowledge/permissions.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { isObject } from '../../lib/json/json.ts';
import type { DataSourceStore } from '../../storage/knowledge/sources/sources.ts';
import { endedApproval } from '../agents/parts/access.ts';
import { changeAgents, type ExpectedDraft } from '../agents/versions/change.ts';
import type { Deps } from '../deps.ts';
import { canAttachDataSource } from '../ground/access/access.ts';
import { Faults } from '../ground/faults.ts';
import { readSourcePermissions, type SourcePermissionsInput } from './permissions/source-access.ts';
import { editableAgent, getDataSource, missingSource, requireRoom } from './sources.ts';

const nameLengthMax = 200;

/**
 * Adds a source with a given JSON payload to an agent, and queues its indexing.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for an agent the caller may not edit; INVALID_VALUE and INVALID_TYPE for the input.
 */
export async function addApiDataSource(
  deps: Deps,
  caller: Caller,
  agentId: string,
  input: { readonly name: string; readonly data?: unknown } & Pick<SourcePermissionsInput, 'access'>,
  expectedDraft?: ExpectedDraft,
): Promise<DataSource> {
  const agent = await editableAgent(deps, caller, agentId);
  const faults = new Faults();
  faults.requireName('name', input.name, nameLengthMax);
  const { data } = input;
  if (!isObject(data)) faults.add('data', 'data must be an object', 'INVALID_TYPE');
  const permissions = readSourcePermissions(deps, 'API', { access: input.access }, faults);
  faults.throwIfAny();
  const name = input.name.trim();
  return addSource(deps, caller, agent, {
    name,
    type: 'API',
    data: data as Readonly<Record<string, unknown>>,
    filename: `${name}.json`,
    mimeType: 'application/json',
    content: Readable.from([JSON.stringify(data, null, 1)]),
    sizeBytesMax: Number.MAX_SAFE_INTEGER,
    permissions,
    expectedDraft,
  });
}

/**
 * Adds an uploaded file to an agent, and queues its indexing. The type of the file is determined from its bytes; an unreadable file
 * makes its item FAILED with a reason.
 *
 * @param terms  `also` runs in the transaction that makes the source.
 * @throws DomainError NOT_FOUND, FORBIDDEN, REQUEST_TOO_LARGE, INVALID_VALUE for an empty file; the errors of `also`.
 */
export async function addFileDataSource(
  deps: Deps,
  caller: Caller,
  agentId: string,
  file: UploadedFile,
  { also, expectedDraft }: AddFileTerms = {},
): Promise<DataSource> {
  const agent = await editableAgent(deps, caller, agentId);
  if (file.sizeBytes === 0) throw new DomainError('INVALID_VALUE', 'file must not be empty', { param: 'file' });
  const mimeType = file.mimeType.slice(0, nameLengthMax);
  const source = {
    name: file.filename,
    type: 'FILE_UPLOAD' as const,
    data: { filename: file.filename, mimeType, size: file.sizeBytes },
    filename: file.filename,
    mimeType,
    content: Readable.from(file.stream()),
    sizeBytesMax: deps.settings.UPLOAD_MAX_BYTES,
    expectedDraft,
  };
  return addSource(deps, caller, agent, source, also ?? (async () => undefined));
}
type AlsoInTransaction = Parameters<DataSourceStore['create']>[1];
interface AddFileTerms {
  readonly also?: AlsoInTransaction | undefined;
  readonly expectedDraft?: ExpectedDraft;
}

interface SourceContent {
  readonly name: string;
  readonly type: DataSourceType;
  readonly data: Readonly<Record<string, unknown>>;
  readonly filename: string;
  readonly mimeType: string;
  readonly content: Readable;
  readonly sizeBytesMax: number;
  readonly permissions?: Partial<SourcePermissions>;
  readonly expectedDraft: ExpectedDraft;
}

/** Writes the bytes first, then the rows and the job in one transaction: a visible source is complete, and its job is queued. */
async function addSource(
  deps: Deps,
  caller: Caller,
  agent: AgentView,
  source: SourceContent,
  also: AlsoInTransaction = async () => undefined,
): Promise<DataSource> {
  const { storage, jobs } = deps;
  await requireRoom(deps, agent.id);
  const id = deps.newId('dataSource');
  const itemId = deps.newId('knowledgeItem');
  const { name, type, data, filename, mimeType, permissions, expectedDraft } = source;
  const contentBlobKey = `${agent.orgId}/knowledge/${itemId}`;
  const { sizeBytes } = await storage.blobs.put(contentBlobKey, source.content, source.sizeBytesMax);
  const owner = { orgId: agent.orgId, ownerUserId: caller.userId, agentId: agent.id };
  const row = { ...owner, ...permissions, id, createdAt: deps.now(), name, type, data };
  const item = { id: itemId, contentBlobKey, filename, mimeType, sizeBytes };
  try {
    const create = async () => {
      await storage.knowledge.sources.create({ ...row, item, runId: deps.newId('sourceRun') }, async (tx) => {
        await also(tx);
        await jobs.enqueue('knowledge.index-item', { itemId }, { owner: caller, key: itemId, tx });
      });
      return { id };
    };
    await changeAgents(deps, caller, [agent.id], create, expectedDraft);
  } catch (error) {
    await storage.blobs.delete(contentBlobKey);
    throw error;
  }
  return { ...(await getDataSource(deps, caller, id)), ...(await endedApproval(deps, agent)) };
}

/**
 * Attaches an existing source to an agent; an attached one stays attached.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for an agent the caller may not edit, or for a source that is neither the caller's nor
 * open to the organization.
 */
export async function attachDataSource(
  deps: Deps,
  caller: Caller,
  agentId: string,
  dataSourceId: string,
  expectedDraft?: ExpectedDraft,
): Promise<{ readonly aiId: string; readonly dataSourceId: string } & EndedApproval> {
  const agent = await editableAgent(deps, caller, agentId);
  const source = await getDataSource(deps, caller, dataSourceId);
  if (source.orgId !== agent.orgId) throw missingSource();
  if (!canAttachDataSource(caller, source)) {
    throw new DomainError('FORBIDDEN', 'Only sources of your own and those open to the organization may be attached');
  }
  await requireRoom(deps, agent.id);
  await changeAgents(deps, caller, [agent.id], () => deps.storage.knowledge.sources.attach(agent.id, source.id), expectedDraft);
  return { aiId: agent.id, dataSourceId: source.id, ...(await endedApproval(deps, agent)) };
}

/**
 * Takes a source from an agent and keeps it, also when no other agent has it; one that is not attached stays so.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for an agent the caller may not edit.
 */
export async function detachDataSource(
  deps: Deps,
  caller: Caller,
  agentId: string,
  dataSourceId: string,
  expectedDraft?: ExpectedDraft,
): Promise<{ readonly aiId: string; readonly dataSourceId: string } & EndedApproval> {
  const agent = await editableAgent(deps, caller, agentId);
  const source = await getDataSource(deps, caller, dataSourceId);
  await changeAgents(deps, caller, [agent.id], () => deps.storage.knowledge.sources.detach(agent.id, source.id), expectedDraft);
  return { aiId: agent.id, dataSourceId: source.id, ...(await endedApproval(deps, agent)) };
}
