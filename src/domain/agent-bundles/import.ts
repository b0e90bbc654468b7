import { EgressError } from '../../engine/egress/error.ts';
import type { Caller } from '../../entities/caller.ts';
import type { ImportedAgent, ImportedDataSource, ImportedItem } from '../../storage/agent-imports.ts';
import { secretTable } from '../../storage/agent-parts/secrets.ts';
import type { Deps } from '../deps.ts';
import { portableData } from './export.ts';
import { type ImportInput, type ReadBundle, type ReadSource, readBundle } from './read-bundle.ts';

export interface ImportResult {
  /** Null for a dry run. */
  readonly agentId: string | null;
  /** What is not as it was where the bundle comes from; sorted, each once. */
  readonly warnings: readonly string[];
}

/** Addresses asked in one import, and the time for all of them. */
const fetchesMax = 100;
const fetchTimeoutMs = 20_000;
const fetchesTimeoutMs = 60_000;

/**
 * Makes an agent of the caller's own from a bundle. The whole bundle is read first; then all of it is written, or nothing.
 *
 * @param isDryRun  reports only: nothing is fetched or written.
 * @throws DomainError with every fault of the bundle, each with its place.
 */
export async function importAgent(
  deps: Deps,
  caller: Caller,
  input: ImportInput,
  isDryRun: boolean,
  signal: AbortSignal,
): Promise<ImportResult> {
  const warnings = new Set<string>();
  const modelId = await availableModel(deps, input.bundle.agent.modelId ?? '', warnings);
  const bundle = await readBundle(deps, caller, input, modelId);
  const takesSkills = caller.scopes.has('SKILLS:WRITE');
  if (bundle.skills.length > 0 && !takesSkills) warnings.add('skills skipped: the key has no SKILLS:WRITE scope');
  for (const { key, value } of bundle.secrets) if (value === undefined) warnings.add(`secret missing: ${key}`);
  const contents = await fetchContents(deps, bundle.dataSources, isDryRun, signal);
  for (const source of bundle.dataSources) {
    if (source.type === 'API') continue;
    const isWhole = source.type === 'FILE_UPLOAD' && source.items.length > 0 && source.items.every((item) => contents.has(item));
    if (!isWhole) warnings.add(`data source content not included: ${source.name}`);
  }
  const sorted = [...warnings].sort();
  if (isDryRun) return { agentId: null, warnings: sorted };
  const agentId = await write(deps, caller, takesSkills ? bundle : { ...bundle, skills: [] }, contents);
  return { agentId, warnings: sorted };
}

async function availableModel(deps: Deps, wanted: string, warnings: Set<string>): Promise<string> {
  const found = wanted === '' || wanted.length > 200 ? undefined : await deps.models.find(wanted);
  if (found !== undefined) return found.id;
  const first = deps.models.defaultModelId();
  const name = wanted === '' ? 'none is named' : `${wanted.slice(0, 200).toWellFormed()} is not available`;
  warnings.add(`model substituted: ${name}; ${first} is used`);
  return first;
}

type Item = ReadSource['items'][number];
type Contents = ReadonlyMap<Item, Uint8Array>;

/** The bytes that come with the bundle, and those that it names by address: fetched through the one way out, or left out. */
async function fetchContents(
  deps: Deps,
  sources: readonly ReadSource[],
  isDryRun: boolean,
  signal: AbortSignal,
): Promise<Contents> {
  const contents = new Map<Item, Uint8Array>();
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(fetchesTimeoutMs)]);
  let fetches = 0;
  for (const item of sources.filter(({ type }) => type === 'FILE_UPLOAD').flatMap(({ items }) => items)) {
    const own = bytesOfDataUrl(item.blobUrl);
    if (own !== undefined) contents.set(item, own);
    else if (/^https?:/i.test(item.blobUrl) && fetches < fetchesMax) {
      fetches += 1;
      // A dry run reaches out to nobody: what an address would give is not known.
      const bytes = isDryRun ? new Uint8Array(1) : await fetched(deps, item.blobUrl, inTime);
      signal.throwIfAborted();
      if (bytes !== undefined && bytes.length > 0) contents.set(item, bytes);
    }
  }
  return contents;
}

function bytesOfDataUrl(url: string): Uint8Array | undefined {
  const base64 = /^data:[\w.+/-]*(?:;[\w.+-]+=[\w.+-]+)*;base64,([A-Za-z0-9+/]+={0,2})$/i.exec(url)?.[1];
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64');
}

async function fetched(deps: Deps, url: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
  try {
    const reply = await deps.egress.send({ url, bytesMax: deps.settings.UPLOAD_MAX_BYTES, timeoutMs: fetchTimeoutMs }, signal);
    return reply.status === 200 ? reply.body : undefined;
  } catch (error) {
    if (error instanceof EgressError || signal.aborted) return undefined;
    throw error;
  }
}

/** Bytes and seals first; then rows and jobs in one transaction. */
async function write(deps: Deps, caller: Caller, bundle: ReadBundle, contents: Contents): Promise<string> {
  const { storage, jobs } = deps;
  const id = deps.newId('agent');
  const createdAt = deps.now();
  const { orgId, userId } = caller;
  const part = { createdAt, agentId: id };
  const blobKeys: string[] = [];
  try {
    const dataSources: ImportedDataSource[] = [];
    for (const source of bundle.dataSources) dataSources.push(await putSource(deps, orgId, source, contents, blobKeys));
    const imported: ImportedAgent = {
      agent: { ...bundle.agent, id, createdAt, orgId, userId },
      tools: bundle.tools.map((tool) => ({ ...part, ...tool, id: deps.newId('agentTool') })),
      userInputs: bundle.userInputs.map((input) => ({ ...part, ...input, id: deps.newId('agentUserInput') })),
      skills: bundle.skills.map((skill) => ({ ...part, ...skill, id: deps.newId('agentSkill') })),
      flows: bundle.flows.map((flow) => ({ ...part, ...flow, id: deps.newId('agentFlow') })),
      secrets: await sealedSecrets(deps, orgId, part, bundle),
      dataSources,
    };
    await storage.agentImports.create(imported, async (tx) => {
      for (const source of dataSources) {
        for (const { id: itemId, contentBlobKey } of source.items) {
          if (contentBlobKey !== null) await jobs.enqueue('knowledge.index-item', { itemId }, { key: itemId, tx });
        }
        if (source.type === 'API' || source.type === 'FILE_UPLOAD') continue;
        await jobs.enqueue('knowledge.sync-source', { dataSourceId: source.id, isForced: false }, { key: source.id, tx });
      }
    });
  } catch (error) {
    for (const key of blobKeys) await storage.blobs.delete(key);
    throw error;
  }
  return id;
}

function sealedSecrets(
  deps: Deps,
  orgId: string,
  part: { readonly createdAt: Date; readonly agentId: string },
  { secrets }: ReadBundle,
): Promise<ImportedAgent['secrets']> {
  return Promise.all(
    secrets.map(async ({ value, ...secret }) => {
      const id = deps.newId('agentSecret');
      const place = { orgId, table: secretTable, rowId: id };
      return { ...part, ...secret, id, sealed: value === undefined ? null : await deps.storage.vault.seal(place, value) };
    }),
  );
}

async function putSource(
  deps: Deps,
  orgId: string,
  { name, type, refreshPeriod, data, items }: ReadSource,
  contents: Contents,
  blobKeys: string[],
): Promise<ImportedDataSource> {
  const base = { id: deps.newId('dataSource'), name, type, refreshPeriod, data: type === 'API' ? data : portableData(data) };
  if (type !== 'API') {
    const written: ImportedItem[] = [];
    const uniqueIds = new Set<string>();
    for (const item of items) written.push(await putItem(deps, orgId, item, contents.get(item), { blobKeys, uniqueIds }));
    return { ...base, items: written };
  }
  // One payload, one document, whatever the bundle says: the payload is the source's own data.
  const [first] = items;
  const payload = Buffer.from(JSON.stringify(data, null, 1));
  const item = {
    name: first?.name || name,
    uniqueId: first?.uniqueId ?? '',
    blobUrl: '',
    filename: first?.filename || `${name}.json`,
    mimeType: first?.mimeType || 'application/json',
  };
  return { ...base, items: [await putItem(deps, orgId, item, payload, { blobKeys, uniqueIds: new Set() })] };
}

async function putItem(
  deps: Deps,
  orgId: string,
  { name, uniqueId, filename, mimeType }: Item,
  content: Uint8Array | undefined,
  { blobKeys, uniqueIds }: { readonly blobKeys: string[]; readonly uniqueIds: Set<string> },
): Promise<ImportedItem> {
  const id = deps.newId('knowledgeItem');
  // Two items of one source cannot be the same document.
  const unique = uniqueId === '' || uniqueIds.has(uniqueId) ? id : uniqueId;
  uniqueIds.add(unique);
  const item = { id, name: name || filename || id, uniqueId: unique, filename: filename || null, mimeType: mimeType || null };
  if (content === undefined) return { ...item, contentBlobKey: null, sizeBytes: null };
  const contentBlobKey = `${orgId}/knowledge/${id}`;
  blobKeys.push(contentBlobKey);
  const { sizeBytes } = await deps.storage.blobs.put(contentBlobKey, content, deps.settings.UPLOAD_MAX_BYTES);
  return { ...item, contentBlobKey, sizeBytes };
}
