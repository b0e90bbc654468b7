import { queueNewItems } from '../../../engine/knowledge/queue.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { cutBytes } from '../../../lib/text/text.ts';
import { secretTable } from '../../../storage/agents/parts/secrets.ts';
import type { Transaction } from '../../../storage/ground/database.ts';
import type { ImportedAgent, ImportedDataSource, ImportedItem } from '../../../storage/operations/agent-imports.ts';
import { originsOfKey } from '../../agents/parts/secret-origins.ts';
import { toNewCase } from '../../conversations/evaluation/cases.ts';
import type { Deps } from '../../deps.ts';
import { type BundleItem, type Contents, foreseeContents, type StoredContent, storeContents, WrittenBlobs } from './contents.ts';
import { type ImportInput, type ReadBundle, type ReadSource, readBundle } from './read-bundle.ts';
import { bundleWarnings } from './warnings.ts';

/** Of the name of a document: it stands in an index of the database, whose rows have at most 2,704 bytes. */
const nameBytesMax = 2_000;

export interface ImportResult {
  /** Null for a dry run. */
  readonly agentId: string | null;
  /** Differences from the exported agent; sorted, without duplicates. */
  readonly warnings: readonly string[];
}

/**
 * Makes an agent of the caller from a bundle. The whole bundle is validated first; then all of it is written, or nothing.
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
  const gate = await askableGate(deps, input.bundle.gate, warnings);
  const bundle = await readBundle(deps, caller, { ...input, bundle: { ...input.bundle, gate } }, modelId);
  const takesSkills = caller.scopes.has('SKILLS:WRITE');
  if (bundle.skills.length > 0 && !takesSkills) warnings.add('skills skipped: the key has no SKILLS:WRITE scope');
  for (const warning of bundleWarnings(bundle, deps.tools)) warnings.add(warning);
  const takesSources = caller.scopes.has('DATA_SOURCES:WRITE');
  if (bundle.dataSources.length > 0 && !takesSources) {
    warnings.add('data sources skipped: the key has no DATA_SOURCES:WRITE scope');
  }
  const dataSources = takesSources ? bundle.dataSources : [];
  const adaptedBundle = { ...bundle, dataSources, skills: takesSkills ? bundle.skills : [] };
  const blobs = new WrittenBlobs(deps, caller);
  try {
    const contents = isDryRun ? foreseeContents(deps, dataSources) : await storeContents(deps, dataSources, blobs, signal);
    for (const source of dataSources) {
      if (source.type === 'API') continue;
      const isWhole =
        source.type === 'FILE_UPLOAD' && source.items.length > 0 && source.items.every((item) => contents.byItem.has(item));
      if (!isWhole) warnings.add(`data source content not included: ${source.name}`);
    }
    if (contents.isCut)
      warnings.add(`files left out: the addresses of a bundle may give ${deps.settings.BUNDLE_FETCH_MAX_BYTES} bytes together`);
    const agentId = isDryRun ? null : await write(deps, caller, adaptedBundle, contents, blobs);
    return { agentId, warnings: [...warnings].sort() };
  } catch (error) {
    await blobs.remove();
    throw error;
  }
}

async function availableModel(deps: Deps, modelId: string, warnings: Set<string>): Promise<string> {
  const model = modelId === '' || modelId.length > 200 ? undefined : await deps.models.find(modelId);
  if (model !== undefined) return model.id;
  const first = deps.models.defaultModelId();
  const name = modelId === '' ? 'none is named' : `${modelId.slice(0, 200).toWellFormed()} is not available`;
  warnings.add(`model substituted: ${name}; ${first} is used`);
  return first;
}

/** A gate whose judges are models that are not here would let nothing be published. */
async function askableGate(deps: Deps, gate: ImportInput['bundle']['gate'], warnings: Set<string>) {
  if (gate === undefined || gate === null) return undefined;
  for (const scorer of gate.scorers ?? []) {
    const { modelId } = (scorer ?? {}) as { readonly modelId?: unknown };
    if (typeof modelId !== 'string' || modelId.length > 200 || (await deps.models.find(modelId)) !== undefined) continue;
    warnings.add(`gate left out: its judge ${modelId.toWellFormed()} is not available`);
    return undefined;
  }
  return gate;
}

/** Encrypts secrets, then writes rows and jobs in one transaction. */
async function write(deps: Deps, caller: Caller, bundle: ReadBundle, contents: Contents, blobs: WrittenBlobs): Promise<string> {
  const { storage, jobs } = deps;
  const id = deps.newId('agent');
  const createdAt = deps.now();
  const { orgId, userId } = caller;
  const part = { createdAt, agentId: id };
  const dataSources: ImportedDataSource[] = [];
  for (const source of bundle.dataSources) dataSources.push(await importedSource(deps, source, contents, blobs));
  const enabledFlow = bundle.flows.find(({ enabled }) => enabled);
  const agentImport: ImportedAgent = {
    // A gate holds what is published on request.
    agent: { ...bundle.agent, ...(bundle.gate === undefined ? {} : { publishing: 'ON_REQUEST' }), id, createdAt, orgId, userId },
    tools: bundle.tools.map((tool) => ({ ...part, ...tool, id: deps.newId('agentTool') })),
    userInputs: bundle.userInputs.map((input) => ({ ...part, ...input, id: deps.newId('agentUserInput') })),
    skills: bundle.skills.map((skill) => ({ ...part, ...skill, id: deps.newId('agentSkill') })),
    flows: bundle.flows.map((flow) => ({ ...part, ...flow, enabled: flow === enabledFlow, id: deps.newId('agentFlow') })),
    secrets: await sealedSecrets(deps, caller, part, bundle),
    dataSources,
    ...importedEvaluation(deps, bundle),
  };
  const enqueue = async (tx: Transaction) => {
    const storedItems = dataSources.flatMap(({ items }) => items).filter(({ contentBlobKey }) => contentBlobKey !== null);
    await queueNewItems(jobs, caller, storedItems, tx);
    for (const source of dataSources) {
      if (source.type === 'API' || source.type === 'FILE_UPLOAD') continue;
      const job = { dataSourceId: source.id, trigger: 'ADDED' } as const;
      await jobs.enqueue('knowledge.sync-source', job, { owner: caller, key: source.id, tx });
    }
  };
  await deps.audit.change(caller, async () => {
    await storage.operations.agentImports.create(agentImport, enqueue);
    return { id };
  });
  return id;
}

function importedEvaluation(deps: Deps, { datasets, gate }: ReadBundle): Pick<ImportedAgent, 'datasets' | 'gate'> {
  const imported = datasets.map(({ cases, ...dataset }) => ({
    ...{ ...dataset, id: deps.newId('dataset') },
    cases: cases.map((one) => toNewCase(deps, one)),
  }));
  if (gate === undefined) return { datasets: imported, gate: undefined };
  const { dataset, ...rules } = gate;
  return { datasets: imported, gate: { ...rules, datasetId: imported[dataset]?.id ?? '' } };
}

/** A value in the import is bound to the origins of the bundle's tools that name its key. */
function sealedSecrets(
  deps: Deps,
  { orgId, userId }: Caller,
  part: { readonly createdAt: Date; readonly agentId: string },
  { secrets, tools }: ReadBundle,
): Promise<ImportedAgent['secrets']> {
  return Promise.all(
    secrets.map(async ({ value, ...secret }) => {
      const id = deps.newId('agentSecret');
      const row = { ...part, ...secret, id };
      if (value === undefined) return { ...row, sealed: null, origins: [], givenByUserId: null };
      const sealedValue = await deps.storage.vault.seal({ orgId, table: secretTable, rowId: id }, value);
      return { ...row, sealed: sealedValue, origins: originsOfKey(tools, secret.key), givenByUserId: userId };
    }),
  );
}

async function importedSource(
  deps: Deps,
  { name, type, refreshPeriod, data, items }: ReadSource,
  contents: Contents,
  blobs: WrittenBlobs,
): Promise<ImportedDataSource> {
  const base = { id: deps.newId('dataSource'), name, type, refreshPeriod, data };
  if (type !== 'API') {
    const uniqueIds = new Set<string>();
    return { ...base, items: items.map((item) => importedItem(deps, item, contents.byItem.get(item), uniqueIds)) };
  }
  // A payload is one document, whatever the bundle says: it is the source's own data.
  const [first] = items;
  const storedContent = await blobs.put(Buffer.from(JSON.stringify(data, null, 1)), deps.settings.UPLOAD_MAX_BYTES);
  const item = {
    name: first?.name || name,
    uniqueId: first?.uniqueId ?? '',
    blobUrl: '',
    filename: first?.filename || `${name}.json`,
    mimeType: first?.mimeType || 'application/json',
  };
  return { ...base, items: [importedItem(deps, item, storedContent, new Set())] };
}

function importedItem(
  deps: Deps,
  { name, uniqueId, filename, mimeType }: BundleItem,
  storedContent: StoredContent | undefined,
  uniqueIds: Set<string>,
): ImportedItem {
  const id = storedContent?.itemId ?? deps.newId('knowledgeItem');
  // Two items of one source cannot be the same document.
  const unique = uniqueId === '' || uniqueIds.has(uniqueId) ? id : uniqueId;
  uniqueIds.add(unique);
  const item = {
    id,
    name: cutBytes(name || filename || id, nameBytesMax),
    uniqueId: unique,
    filename: filename || null,
    mimeType: mimeType || null,
  };
  return { ...item, contentBlobKey: storedContent?.blobKey ?? null, sizeBytes: storedContent?.sizeBytes ?? null };
}
