import { buffer as readBufferStream, json as readJsonStream } from 'node:stream/consumers';
import { extractSecrets } from '../../../engine/tools/secrets/secrets-in-data.ts';
import type { AgentView } from '../../../entities/agents/agent.ts';
import {
  type AgentBundle,
  type BundledDataSource,
  type BundledKnowledgeItem,
  bundleVersion,
  type RequiredSecret,
} from '../../../entities/agents/bundle.ts';
import { type AgentTool, type JsonObject, secretKeysIn } from '../../../entities/agents/part.ts';
import type { AgentContent } from '../../../entities/agents/version.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Warning } from '../../../entities/ground/warning.ts';
import type { DataSource, KnowledgeItem } from '../../../entities/knowledge/data-source.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { findModelId, getAgent } from '../../agents/agents.ts';
import { partsOfContent, withContent } from '../../agents/versions/published-view.ts';
import type { Deps } from '../../deps.ts';
import { canEditAgent, canExportAgent, visibleDataSources } from '../../ground/access/access.ts';
import { bundledEvaluation } from './evaluation.ts';
import { portableData } from './portable-data.ts';

/** Most bytes of uploaded files that one exported agent carries. */
const contentMaxBytes = 4 * 1024 * 1024;

export interface ExportQuery {
  /** Default: included when the key may read them. */
  readonly includeDataSources?: boolean | null | undefined;
  /** Only these are included; none: all. */
  readonly dataSourceIds?: readonly string[] | null | undefined;
  /** Whether datasets and the gate come along. Default: for who may edit the agent. */
  readonly includeEvaluation?: boolean | null | undefined;
}

export const itemsPerSourceMax = 10_000;
const itemsPerRead = 1_000;

/**
 * Makes the portable form of an agent, without secrets. The same agent gives the same bytes, except `exportedAt`: the order of everything follows
 * from its content.
 *
 * Left out, and named in `warnings`: what the reads of an agent hide from callers who may only use it (instructions, tools, flows, skills, the options
 * of enabled tools, required secrets), and what the key may not read: skills without SKILLS:READ, data sources without DATA_SOURCES:READ.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN for an agent of another organization that the caller may only use; INSUFFICIENT_SCOPE for requested data sources that the key may
 * not read; INVALID_VALUE for a source of another agent, or when the bundle would be larger than an import accepts.
 */
export async function exportAgent(deps: Deps, caller: Caller, agentId: string, query: ExportQuery): Promise<AgentBundle> {
  const { agent, content } = await exportableAgent(deps, caller, agentId);
  const { warnings: evaluationWarnings, ...evaluation } = await bundledEvaluation(deps, caller, agent, query.includeEvaluation);
  const whole: AgentBundle = {
    version: bundleVersion,
    exportedAt: deps.now(),
    source: { apiBaseUrl: deps.publicUrl(), orgId: agent.orgId },
    agent: bundledAgent(deps, agent),
    ...(await bundledParts(deps, agent, content)),
    dataSources: await bundledDataSources(deps, caller, { agent, content }, query),
    ...evaluation,
    warnings: null,
  };
  const bundle = withWarnings(
    withoutUnreadable(caller, query, canEditAgent(caller, agent) ? { bundle: whole, warnings: [] } : withoutInside(whole)),
    evaluationWarnings,
  );
  requireImportable(bundle, deps.settings.BODY_MAX_BYTES);
  deps.audit.export(caller, agent);
  return bundle;
}

type Parts = Pick<AgentBundle, 'tools' | 'userInputs' | 'flows' | 'skills' | 'requiredSecrets'>;

/** @param content  of the published version, where the draft differs from it. */
async function bundledParts(deps: Deps, { id }: AgentView, content: AgentContent | undefined): Promise<Parts> {
  const stores = deps.storage.agents.parts;
  const agentSecrets = await stores.secrets.ofAgent(id);
  const { tools, userInputs, skills, flows } =
    content === undefined
      ? await stores.ofAgents({ tools: [id], userInputs: [id], skills: [id], flows: [id] })
      : partsOfContent(id, content);
  const ownTools = withoutSecrets(tools, agentSecrets);
  return {
    tools: sortedBy(ownTools, ({ name }) => name).map(({ name, type, data }) => ({ name, type, data })),
    userInputs: userInputs.map(({ variableName, type, label, configuration, showOnChatCreate, orderIndex }) => ({
      ...{ variableName, type, label, configuration: { ...configuration }, showOnChatCreate, orderIndex },
    })),
    flows: sortedBy(flows, ({ name }) => name).map(({ name, enabled, versions }) => ({
      name,
      enabled,
      versions,
    })),
    skills: sortedBy(skills, ({ name }) => name).map(({ name, description, content, enabled }) => ({
      name,
      description,
      content,
      enabled,
    })),
    requiredSecrets: requiredSecrets(ownTools, agentSecrets),
  };
}

/** Tools that an earlier version stored may hold what is known as a secret by now. */
function withoutSecrets(tools: readonly AgentTool[], declaredSecrets: readonly RequiredSecret[]): readonly AgentTool[] {
  const takenKeys = new Set([...declaredSecrets.map(({ key }) => key), ...tools.flatMap(({ data }) => secretKeysIn(data))]);
  return tools.map((tool) => {
    const { data, secrets } = extractSecrets(tool.name, tool.data, (key) => takenKeys.has(key));
    for (const { key } of secrets) takenKeys.add(key);
    return secrets.length === 0 ? tool : { ...tool, data };
  });
}

interface ReducedBundle {
  readonly bundle: AgentBundle;
  readonly warnings: readonly Warning[];
}

/** The bundle for a caller who may use the agent and not edit it: without what every read hides from that caller. */
function withoutInside(bundle: AgentBundle): ReducedBundle {
  const { agent, tools, flows, skills, requiredSecrets: secretNeeds } = bundle;
  const enabledTools = agent.enabledTools ?? [];
  const openTools = enabledTools.filter(({ options }) => Object.keys(options).length === 0);
  const hiddenCounts = [
    ['agent.instructions', agent.instructions === '' ? 0 : 1],
    ['agent.enabledTools', enabledTools.length - openTools.length],
    ['tools', tools.length],
    ['flows', flows.length],
    ['skills', skills.length],
    ['requiredSecrets', secretNeeds.length],
  ] as const;
  return {
    bundle: {
      ...bundle,
      agent: { ...agent, instructions: '', enabledTools: openTools },
      ...{ tools: [], flows: [], skills: [], requiredSecrets: [] },
    },
    warnings: hiddenCounts.flatMap(([param, count]) =>
      count === 0 ? [] : [leftOut(param, `${param} left out: only the owner, editors and administrators may read it`)],
    ),
  };
}

/** The bundle without what the scopes of the key do not read. */
function withoutUnreadable(
  caller: Caller,
  { includeDataSources }: ExportQuery,
  { bundle, warnings }: ReducedBundle,
): ReducedBundle {
  const hidesSkills = !caller.scopes.has('SKILLS:READ') && !warnings.some(({ param }) => param === 'skills');
  const hidesSources = !caller.scopes.has('DATA_SOURCES:READ') && includeDataSources !== false;
  return {
    bundle: hidesSkills ? { ...bundle, skills: [] } : bundle,
    warnings: [
      ...warnings,
      ...(hidesSkills ? [leftOut('skills', 'skills left out: the key has no SKILLS:READ scope')] : []),
      ...(hidesSources ? [leftOut('dataSources', 'data sources left out: the key has no DATA_SOURCES:READ scope')] : []),
    ],
  };
}

function withWarnings({ bundle, warnings }: ReducedBundle, more: readonly Warning[]): AgentBundle {
  const all = [...warnings, ...more];
  return { ...bundle, warnings: all.length === 0 ? null : all };
}

function leftOut(param: string, message: string): Warning {
  return { code: 'left_out', message, param };
}

interface ExportedAgent {
  /** As people get it. */
  readonly agent: AgentView;
  /** Of the published version, where the draft differs from it. */
  readonly content: AgentContent | undefined;
}

async function exportableAgent(deps: Deps, caller: Caller, agentId: string): Promise<ExportedAgent> {
  const agent = await getAgent(deps, caller, agentId);
  const content = agent.isDraftChanged
    ? await deps.storage.agents.versions.findContent(agent.id, agent.publishedVersion)
    : undefined;
  if (canExportAgent(caller, agent)) return { agent: content === undefined ? agent : withContent(agent, content), content };
  throw new DomainError('FORBIDDEN', 'Agents of other organizations may be exported by their editors and by INSTANCE keys only');
}

function bundledAgent(deps: Deps, agent: AgentView): AgentBundle['agent'] {
  const { name, introduction, description, instructions, src, visibility, options, profile } = agent;
  const {
    listInOrgCatalog,
    listInPublicCatalog,
    listInTenantCatalog,
    chatLogsVisible,
    generateCitations,
    intermediateStepsVisible,
  } = agent;
  return {
    ...{
      name,
      introduction,
      description,
      instructions,
      seed: agent.seed ?? '',
      src,
      modelId: findModelId(deps, agent),
      visibility,
    },
    ...{
      listInOrgCatalog,
      listInPublicCatalog,
      listInTenantCatalog,
      chatLogsVisible,
      generateCitations,
      intermediateStepsVisible,
      enabledTools: agent.enabledTools,
    },
    options,
    profile: profile ?? {},
  };
}

/** Every key that a tool refers to, and the manually created keys. */
function requiredSecrets(tools: readonly AgentTool[], declaredSecrets: readonly RequiredSecret[]): readonly RequiredSecret[] {
  const byKey = new Map<string, RequiredSecret>(
    tools.flatMap(({ data }) => secretKeysIn(data)).map((key) => [key, { key, description: '', secretType: 'apiKey' }]),
  );
  for (const { key, description, secretType } of declaredSecrets) byKey.set(key, { key, description, secretType });
  return sortedBy([...byKey.values()], ({ key }) => key);
}

async function bundledDataSources(
  deps: Deps,
  caller: Caller,
  { agent, content }: ExportedAgent,
  query: ExportQuery,
): Promise<readonly BundledDataSource[]> {
  const requestedIds = (query.dataSourceIds ?? []).filter((id) => id !== '');
  if (query.includeDataSources === false && requestedIds.length === 0) return [];
  if (!caller.scopes.has('DATA_SOURCES:READ')) {
    const param =
      requestedIds.length > 0 ? 'dataSourceIds' : query.includeDataSources === true ? 'includeDataSources' : undefined;
    if (param === undefined) return [];
    throw new DomainError('INSUFFICIENT_SCOPE', 'Exporting data sources needs a key with the scope DATA_SOURCES:READ', { param });
  }
  const { sources } = deps.storage.knowledge;
  const visible = visibleDataSources(caller);
  const attachedSources =
    content === undefined
      ? ((await sources.ofAgents([agent.id], visible)).get(agent.id) ?? [])
      : await sources.findMany(
          content.sources.map(({ id }) => id),
          visible,
        );
  const missing = requestedIds.find((id) => !attachedSources.some((source) => source.id === id));
  if (missing !== undefined) {
    throw new DomainError('INVALID_VALUE', 'dataSourceIds must name data sources of this AI', { param: 'dataSourceIds' });
  }
  const chosenSources =
    requestedIds.length === 0 ? attachedSources : attachedSources.filter(({ id }) => requestedIds.includes(id));
  deps.audit.read(caller, 'dataSource', chosenSources);
  // The order must not depend on ids, which differ between installations.
  const sortedSources = sortedBy(chosenSources, ({ name, type, data }) => `${name}\u0000${type}\u0000${JSON.stringify(data)}`);
  const budget = { bytesLeft: contentMaxBytes };
  const bundledSources: BundledDataSource[] = [];
  let bundledBytes = 0;
  for (const source of sortedSources) {
    const one = await bundledDataSource(deps, source, budget);
    bundledBytes += Buffer.byteLength(JSON.stringify(one));
    // Checked before the next one is read: all of them together could be far larger than the limit.
    if (bundledBytes > deps.settings.BODY_MAX_BYTES) throw tooLarge(deps.settings.BODY_MAX_BYTES);
    bundledSources.push(one);
  }
  return bundledSources;
}

async function bundledDataSource(deps: Deps, source: DataSource, budget: { bytesLeft: number }): Promise<BundledDataSource> {
  const items = await loadItems(deps, source);
  const { id: originalId, name, type, refreshPeriod } = source;
  const knowledgeItems: BundledKnowledgeItem[] = [];
  for (const item of items) knowledgeItems.push(await bundledItem(deps, source, item, budget));
  return { originalId, name, type, refreshPeriod, data: await bundledData(deps, source, items), knowledgeItems };
}

/** A payload as it was sent: the database reorders members, and passages follow the order of the text. */
async function bundledData(deps: Deps, source: DataSource, items: readonly KnowledgeItem[]): Promise<JsonObject> {
  const key = items[0]?.contentBlobKey ?? null;
  if (source.type !== 'API') return portableData(source.data);
  if (source.access === 'MIRRORED') return {};
  if (key === null) return source.data;
  return (await readJsonStream(await deps.storage.blobs.get(key))) as JsonObject;
}

async function bundledItem(
  deps: Deps,
  source: DataSource,
  { name, type, uniqueId, filename, mimeType, contentBlobKey, sizeBytes }: KnowledgeItem,
  budget: { bytesLeft: number },
): Promise<BundledKnowledgeItem> {
  const item = { name, type, uniqueId, blobUrl: '', filename: filename ?? '', mimeType: mimeType ?? '' };
  if (source.type !== 'FILE_UPLOAD' || contentBlobKey === null || sizeBytes === null || sizeBytes > budget.bytesLeft) return item;
  budget.bytesLeft -= sizeBytes;
  const content = await readBufferStream(await deps.storage.blobs.get(contentBlobKey));
  return { ...item, blobUrl: `data:application/octet-stream;base64,${content.toString('base64')}` };
}

async function loadItems(deps: Deps, source: DataSource): Promise<readonly KnowledgeItem[]> {
  const items: KnowledgeItem[] = [];
  // What a MIRRORED source holds is not the exporter's to give away: it is read anew where the bundle is imported.
  if (source.access === 'MIRRORED') return items;
  while (items.length < itemsPerSourceMax) {
    const page = await deps.storage.knowledge.items.list(source.id, {}, { limit: itemsPerRead, after: undefined }, items.length);
    items.push(...page.items);
    if (!page.hasNextPage) break;
  }
  return sortedBy(items, ({ name, uniqueId }) => `${name}\u0000${uniqueId}`);
}

function requireImportable(bundle: AgentBundle, bytesMax: number): void {
  if (Buffer.byteLength(JSON.stringify(bundle)) > bytesMax) throw tooLarge(bytesMax);
}

function tooLarge(bytesMax: number): DomainError {
  return new DomainError(
    'INVALID_VALUE',
    `The bundle would be larger than the ${bytesMax} bytes that an import takes: name fewer data sources with dataSourceIds, or leave them out with includeDataSources=false`,
    { param: 'dataSourceIds' },
  );
}

/** By code units: the same on every machine and in every locale. */
function sortedBy<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return [...items].sort((left, right) => {
    const [a, b] = [keyOf(left), keyOf(right)];
    return a < b ? -1 : Number(a > b);
  });
}
