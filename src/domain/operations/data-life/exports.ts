import { addAbortSignal, PassThrough } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import yazl from 'yazl';
import { type ExportTicket, signedFileAddress } from '../../../engine/files/file-links.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { DataExport } from '../../../entities/operations/data-life/jobs.ts';
import { type Caller, type Scope, scopes } from '../../../entities/people/caller.ts';
import type { ExportSight } from '../../../storage/operations/data-life/exports.ts';
import type { DataPlace } from '../../../storage/operations/data-life/tables.ts';
import type { Deps } from '../../deps.ts';
import { isAdministrator, mayChange } from '../../ground/access/access.ts';
import type { CallOrigin } from '../../ground/audit/origin.ts';
import { toReader } from '../../ground/audit/reads.ts';
import { administeredOrganization, missing } from '../../people/administration.ts';

/** An export is deleted after this. */
const keptMs = 7 * 86_400_000;
const expireEveryMs = 3_600_000;
const expiredAtOnce = 100;
/** By then the job has used up its attempts. */
const abandonedMs = 2 * 86_400_000;
/** What a key must have to see all that its person has. */
const wholePerson = scopes.filter((scope) => scope.endsWith(':READ') && !scope.startsWith('ADMIN:'));
/** What the key of an administrator must have to see what others have. */
const wholeOrganization: readonly Scope[] = [...wholePerson, 'ADMIN:READ', 'ADMIN:WRITE'];

/**
 * Begins to write a ZIP of everything that a person has in an organization: the caller's own, or that of a member, for administrators.
 *
 * @throws DomainError FORBIDDEN for others, and for a key that may not read all of it; NOT_FOUND for a person out of reach.
 */
export async function exportPersonData(
  deps: Deps,
  caller: Caller,
  input: { readonly userId?: string | null | undefined; readonly orgId?: string | null | undefined },
): Promise<DataExport> {
  const userId = input.userId ?? caller.userId;
  if (userId === caller.userId && (input.orgId ?? caller.orgId) === caller.orgId) {
    requireWholePerson(caller);
    return begin(deps, caller, { orgId: caller.orgId, userId });
  }
  requireAdminScope(caller, 'export what another person has');
  const { id: orgId } = await administeredOrganization(deps, caller, input.orgId);
  const role = isId('user', userId) ? await deps.storage.people.accounts.findRole(orgId, userId) : undefined;
  if (role === undefined) throw missing('member', 'userId');
  return begin(deps, caller, { orgId, userId });
}

/** The same for all that an organization has. @throws DomainError FORBIDDEN, NOT_FOUND for an organization out of reach. */
export async function exportOrganizationData(deps: Deps, caller: Caller, orgId: string | null | undefined): Promise<DataExport> {
  const { id } = await administeredOrganization(deps, caller, orgId);
  return begin(deps, caller, { orgId: id, userId: undefined });
}

/** Exports of the caller's organization, newest first: those that the caller made of its own data, and for administrators all. */
export function listDataExports(deps: Deps, caller: Caller, page: PageRequest): Promise<Page<DataExport>> {
  return deps.storage.operations.dataExports.list(toSight(caller), page);
}

/** Those among `ids` that the caller sees, in any order. */
export async function getDataExports(deps: Deps, caller: Caller, ids: readonly string[]): Promise<readonly DataExport[]> {
  const sight = toSight(caller);
  const isEverywhere = caller.level === 'INSTANCE' && sight.onlyOwnOfUserId === undefined;
  return deps.storage.operations.dataExports.findMany(ids, isEverywhere ? undefined : sight);
}

/**
 * Deletes an export, also one that is being written: one's own, and for administrators any of the organization.
 *
 * @throws DomainError NOT_FOUND; INSUFFICIENT_SCOPE for another's without ADMIN:WRITE.
 */
export async function deleteDataExport(deps: Deps, caller: Caller, id: string): Promise<DataExport> {
  const [dataExport] = isId('dataExport', id) ? await getDataExports(deps, caller, [id]) : [];
  if (dataExport === undefined) throw missing('export', 'id');
  if (!isOwn(caller, dataExport)) requireAdminScope(caller, 'delete an export');
  await deps.audit.change(caller, async () => {
    if ((await deps.storage.operations.dataExports.delete(id)) === undefined) throw missing('export', 'id');
    return dataExport;
  });
  await deps.storage.blobs.delete(exportBlobKey(dataExport));
  return dataExport;
}

/** A link that opens the file for an hour without a key; null before it is ready, and for a caller who may not read it now. */
export function exportUrl(deps: Deps, caller: Caller, dataExport: DataExport): string | null {
  if (dataExport.status !== 'READY' || !mayRead(caller, dataExport)) return null;
  return signedFileAddress(deps, { exportId: dataExport.id, keyId: caller.keyId });
}

/**
 * The file of an export that a signed link opens for its holder. Whoever got the link must still be one who may read the export: a demotion, a removal and
 * the end of the key or the session end the link. What an administrator opens of others becomes an audit entry.
 *
 * @throws DomainError FORBIDDEN, NOT_FOUND for an export that is gone.
 */
export async function linkedExport(
  deps: Deps,
  { exportId, keyId }: ExportTicket,
  origin: CallOrigin,
): Promise<{ readonly filename: string; readonly sizeBytes: number; readonly blobKey: string }> {
  const dataExport = await deps.storage.operations.dataExports.find(exportId);
  if (dataExport === undefined || dataExport.blobKey === null || dataExport.sizeBytes === null) throw missing('export', 'link');
  const caller = await deps.storage.people.apiKeys.findCallerById(keyId, deps.now().getTime());
  if (caller === undefined || !mayRead(caller, dataExport)) {
    throw new DomainError('FORBIDDEN', 'Whoever got this link may not read the export any more', { param: 'link' });
  }
  if (!isOwn(caller, dataExport)) deps.audit.export(toReader(caller, ['dataExports'], origin), dataExport);
  const { userId, orgId, createdAt, sizeBytes, blobKey } = dataExport;
  return { filename: `${userId ?? orgId}-${createdAt.toISOString().slice(0, 10)}.zip`, sizeBytes, blobKey };
}

/** Registers the job that writes exports, and the deletion of old ones. */
export function registerExports(deps: Deps): void {
  // A process that dies leaves its job to the next one, which writes the file anew.
  deps.jobs.work('data.export', { concurrency: 1 }, ({ exportId }, signal) => writeExport(deps, exportId, signal));
  deps.jobs.lead('exports.expire', expireEveryMs, (signal) => expireExports(deps, signal));
}

/** Deletes exports after their days, and ends those that could not be written. @param signal  ends it between two files. */
export async function expireExports(deps: Deps, signal: AbortSignal): Promise<void> {
  const now = deps.now();
  const endTimes = { endedAt: now, expiresAt: new Date(now.getTime() + keptMs) };
  const failedCount = await deps.storage.operations.dataExports.failAbandoned(new Date(now.getTime() - abandonedMs), endTimes);
  if (failedCount > 0)
    deps.logger.error({ count: failedCount }, 'exports of data were given up after two days: their jobs failed');
  for (const expiredExport of await deps.storage.operations.dataExports.expired(now, expiredAtOnce)) {
    if (signal.aborted) return;
    await deps.storage.blobs.delete(exportBlobKey(expiredExport));
    await deps.storage.operations.dataExports.delete(expiredExport.id);
  }
}

async function begin(deps: Deps, caller: Caller, { orgId, userId }: DataPlace): Promise<DataExport> {
  const id = deps.newId('dataExport');
  const row = { id, createdAt: deps.now(), orgId, userId: userId ?? null, requestedByUserId: caller.userId };
  return deps.audit.change(caller, async (tx) => {
    await deps.storage.operations.dataExports.create(row);
    await deps.jobs.enqueue('data.export', { exportId: id }, { owner: { tenantId: caller.tenantId, orgId }, key: id, tx });
    return { ...row, status: 'PENDING', counts: {}, sizeBytes: null, blobKey: null, endedAt: null, expiresAt: null };
  });
}

async function writeExport(deps: Deps, exportId: string, signal: AbortSignal): Promise<void> {
  const {
    blobs,
    operations: { dataExports },
  } = deps.storage;
  const row = await dataExports.find(exportId);
  if (row === undefined || row.status === 'READY') return;
  await dataExports.update(exportId, { status: 'RUNNING' });
  const blobKey = exportBlobKey(row);
  const zip = new yazl.ZipFile();
  const output = new PassThrough();
  const place = { orgId: row.orgId, userId: row.userId ?? undefined };
  const storing = blobs.put(blobKey, output, Number.MAX_SAFE_INTEGER);
  // What is read waits for what is written, and would stay open where that has failed.
  const ended = new AbortController();
  output.once('close', () => ended.abort());
  const filled = fill(deps, zip, exportId, place, AbortSignal.any([signal, ended.signal]));
  const filling = Promise.all([pipeline(zip.outputStream, output), filled]).catch((error: unknown) => {
    output.destroy(error as Error);
    throw error;
  });
  const [{ sizeBytes }] = await Promise.all([storing, filling]);
  const endedAt = deps.now();
  const expiresAt = new Date(endedAt.getTime() + keptMs);
  const isThere = await dataExports.update(exportId, { status: 'READY', sizeBytes, blobKey, endedAt, expiresAt });
  if (!isThere) await blobs.delete(blobKey);
}

/** Adds a file of lines for each table, then the attachments, one after the other. */
async function fill(deps: Deps, zip: yazl.ZipFile, exportId: string, place: DataPlace, signal: AbortSignal): Promise<void> {
  const {
    blobs,
    knowledge: { permissions },
    operations: { dataRows, dataExports },
  } = deps.storage;
  const tables = dataRows.tables(place);
  const counts: Record<string, number> = {};
  const missingBytes: string[] = [];
  for (const table of tables) {
    signal.throwIfAborted();
    counts[table.name] = 0;
    const lines = dataRows.lines(table, place, await permissions.gates.findMirrored(), () => {
      counts[table.name] = (counts[table.name] ?? 0) + 1;
    });
    const read = finished(addAbortSignal(signal, lines));
    zip.addReadStream(lines, `${table.name}.ndjson`);
    await read;
    if (!(await dataExports.update(exportId, { counts }))) throw new Error('the export was deleted while it was written');
  }
  for (const table of tables) {
    for await (const { path, blobKey } of dataRows.attachments(table, place)) {
      signal.throwIfAborted();
      const bytes = await blobs.get(blobKey).catch((error: unknown) => {
        if (error instanceof DomainError && error.code === 'NOT_FOUND') return undefined;
        throw error;
      });
      if (bytes === undefined) {
        missingBytes.push(path);
        continue;
      }
      const read = finished(addAbortSignal(signal, bytes));
      zip.addReadStream(bytes, path);
      await read;
    }
  }
  const leftOut = dataRows.leftOut(place);
  const about = {
    ...place,
    writtenAt: deps.now(),
    counts,
    leftOut,
    missingBytes,
    secrets: 'Secrets and their hashes are left out.',
  };
  zip.addBuffer(Buffer.from(`${JSON.stringify(about, null, 2)}\n`), 'about.json');
  zip.end();
}

export function exportBlobKey({ orgId, id }: Pick<DataExport, 'orgId' | 'id'>): string {
  return `${orgId}/exports/${id}`;
}

function toSight(caller: Caller): ExportSight {
  const seesAll = isAdministrator(caller, caller.orgId) && caller.scopes.has('ADMIN:READ');
  return { orgId: caller.orgId, onlyOwnOfUserId: seesAll ? undefined : caller.userId };
}

/** A person's own export is the person's. One that an administrator asked for belongs to the organization, whomever it is about. */
function isOwn(caller: Caller, { orgId, userId, requestedByUserId }: DataExport): boolean {
  return requestedByUserId === userId && userId === caller.userId && orgId === caller.orgId;
}

/** Asked when a link is made and when it is used: the person of an own export, else those who could ask for the export now. */
function mayRead(caller: Caller, dataExport: DataExport): boolean {
  if (isOwn(caller, dataExport)) return hasAll(caller, wholePerson);
  if (dataExport.requestedByUserId === dataExport.userId) return false;
  return isAdministrator(caller, dataExport.orgId) && mayChange(caller) && hasAll(caller, wholeOrganization);
}

function hasAll(caller: Caller, requiredScopes: readonly Scope[]): boolean {
  return requiredScopes.every((scope) => caller.scopes.has(scope));
}

function requireWholePerson(caller: Caller): void {
  const lacking = wholePerson.filter((scope) => !caller.scopes.has(scope));
  if (lacking.length === 0) return;
  throw new DomainError('INSUFFICIENT_SCOPE', `An export has all that the person has: this key lacks ${lacking.join(', ')}`);
}

/** @param what  continues "To". */
function requireAdminScope(caller: Caller, what: string): void {
  if (caller.scopes.has('ADMIN:WRITE')) return;
  throw new DomainError('INSUFFICIENT_SCOPE', `To ${what}, a key needs the scope ADMIN:WRITE`);
}
