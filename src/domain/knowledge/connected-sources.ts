import type { SourceKind, SourceList } from '../../engine/knowledge/connectors/kind.ts';
import type { SourceMember } from '../../engine/knowledge/connectors/members.ts';
import { missingSettings } from '../../engine/knowledge/connectors/registry.ts';
import { readSourceData } from '../../engine/knowledge/source-data.ts';
import type { AgentView } from '../../entities/agents/agent.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import type { OauthProvider } from '../../entities/knowledge/connection.ts';
import type { ConnectedType, DataSource, RefreshPeriod } from '../../entities/knowledge/data-source.ts';
import type { SourcePermissions } from '../../entities/knowledge/permissions.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { type JsonObject, membersOf, readElements } from '../../lib/json/json.ts';
import type { NewConnectedSource } from '../../storage/knowledge/sources/connected-sources.ts';
import { endedApproval } from '../agents/parts/access.ts';
import { changeAgents, type ExpectedDraft } from '../agents/versions/change.ts';
import type { Deps } from '../deps.ts';
import { visibleDataSources } from '../ground/access/access.ts';
import { Faults } from '../ground/faults.ts';
import { readServiceUrl } from './connection-input.ts';
import { findOwnInstallation, listConnections, requireOwnInstallation, requireOwnToken } from './connections.ts';
import { readSourcePermissions, type SourcePermissionsInput } from './permissions/source-access.ts';
import { requireSite } from './sites.ts';
import { editableAgent, requireRoom } from './sources.ts';

/** What a caller adds a source with: the members of its kind by the names of REST, of the types that both APIs declare. */
export type ConnectedSourceInput = JsonObject & { readonly dataRefreshPeriod?: RefreshPeriod | null } & SourcePermissionsInput;

const textLengthMax = 500;

/**
 * Adds a source of a kind that a connector reads to an agent; of a kind that is added by a list, a source for each item, all or none.
 *
 * @returns the new sources, INITIALIZED; their later status is read from the sources.
 * @throws DomainError NOT_FOUND; FORBIDDEN for an agent the caller may not edit; with every fault of the input; CONFLICT when the agent has its most
 * sources already; UNSUPPORTED_VALUE naming the settings without which no run could read.
 */
export async function addConnectedSource(
  deps: Deps,
  caller: Caller,
  agentId: string,
  kind: SourceKind,
  { dataRefreshPeriod, access, linkShared, recheck, ...input }: ConnectedSourceInput,
  expectedDraft?: ExpectedDraft,
): Promise<readonly DataSource[]> {
  const agent = await editableAgent(deps, caller, agentId);
  const faults = new Faults();
  const chosenInput = { ...input, ...(await chooseConnection(deps, caller, kind, input, faults)) };
  const data = kind.each === undefined ? readMembers(kind, chosenInput, faults) : completeMembers(kind, chosenInput);
  const parts = kind.each === undefined ? [{}] : readList(kind.each, input, faults);
  await requireConnections(deps, caller, kind, input, data, faults);
  const permissions = readSourcePermissions(deps, kind.type, { access, linkShared, recheck }, faults);
  faults.throwIfAny();
  const site = await chooseSite(deps, caller, kind, data);
  const sources = parts.map((part) => {
    const whole = { ...data, ...site, ...part };
    return { name: kind.sourceName(whole), refreshPeriod: dataRefreshPeriod ?? 'NEVER', data: whole, ...permissions };
  });
  return createSources(deps, caller, agent, { type: kind.type, sources, expectedDraft });
}

/** The members of the source that its input lacks: the newest account, or the number of an installation that is named by its connection. */
async function chooseConnection(
  deps: Deps,
  caller: Caller,
  kind: SourceKind,
  input: JsonObject,
  faults: Faults,
): Promise<JsonObject> {
  for (const [name, member] of Object.entries(kind.members)) {
    const value = input[name] ?? undefined;
    if (member.form === 'account' && value === undefined)
      return { [name]: await newestToken(deps, caller, member.provider, name, faults) };
    if (member.form === 'installation' && typeof value === 'string')
      return { [name]: await findOwnInstallation(deps, caller, value, name, faults) };
  }
  return {};
}

async function newestToken(
  deps: Deps,
  caller: Caller,
  provider: OauthProvider,
  param: string,
  faults: Faults,
): Promise<string | undefined> {
  const { items } = await listConnections(deps, caller, { provider }, { limit: 1, after: undefined });
  if (items[0] === undefined) faults.add(param, `${param} is required: you have no connection of the kind ${provider}`);
  return items[0]?.id;
}

/** Adds the faults of members by themselves, then of what they are together. Nothing else is looked at beside an address that is none. */
function readMembers(kind: SourceKind, input: JsonObject, faults: Faults): JsonObject {
  const data: Record<string, unknown> = { ...completeMembers(kind, input) };
  for (const [name, member] of Object.entries(kind.members)) {
    if (member.form !== 'text' || member.isAddress !== true || typeof data[name] !== 'string') continue;
    const url = readServiceUrl(name, data[name], faults);
    if (url === null) return data;
    data[name] = url;
  }
  kind.check?.(data, (member, message, code) => faults.add(member, `${member} ${message}`, code));
  for (const { path, message, allowed: allowedValues } of readSourceData(kind.type, data).faults) {
    faults.add(path, `${path} ${message}`, 'INVALID_VALUE', allowedValues);
  }
  return data;
}

/** The members that a source of the kind has, with defaults. */
function completeMembers({ members }: SourceKind, input: JsonObject): JsonObject {
  const entries = Object.entries(members).map(([name, member]) => {
    const value = input[name] ?? findDefault(member);
    const isSet = member.form === 'choices' || (member.form === 'texts' && member.isSet === true);
    return [name, isSet && Array.isArray(value) ? [...new Set(value)] : value] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function findDefault(member: SourceMember): unknown {
  if (member.form === 'number') return member.bounds.default;
  return member.form === 'flag' || member.form === 'texts' ? member.default : undefined;
}

/** What each source of a list adds to the members that all have. */
function readList({ name, noun, countMax, items }: SourceList, input: JsonObject, faults: Faults): readonly JsonObject[] {
  const list = readElements(input[name]).map(membersOf);
  if (list.length === 0) faults.add(name, `${name} must hold at least one ${noun}`, 'EMPTY_ARRAY');
  faults.requireCount(name, list, countMax);
  return list.slice(0, countMax).map((item, index) => {
    const texts = Object.entries(items).map(([itemName, { member }]) => {
      const text = String(item[itemName]);
      faults.requireName(`${name}[${index}].${itemName}`, text, textLengthMax);
      return [member, text] as const;
    });
    return Object.fromEntries(texts);
  });
}

/** Adds a fault for each connection that the source would read with and that is not the caller's. */
async function requireConnections(
  deps: Deps,
  caller: Caller,
  kind: SourceKind,
  input: JsonObject,
  data: JsonObject,
  faults: Faults,
): Promise<void> {
  for (const [name, member] of Object.entries(kind.members)) {
    const value = data[name];
    if (member.form === 'account' && typeof value === 'string')
      await requireOwnToken(deps, caller, value, member.provider, name, faults);
    // One that was named by its connection was found so.
    if (member.form === 'installation' && typeof input[name] === 'number' && typeof value === 'number')
      await requireOwnInstallation(deps, caller, value, name, faults);
    // An account is named by the provider's text, or by a connection id: then the connection must be the caller's.
    const accountAt = member.form === 'text' ? member.accountAt : undefined;
    if (accountAt !== undefined && typeof value === 'string' && value.startsWith('oat_'))
      await requireOwnToken(deps, caller, value, accountAt, name, faults);
  }
}

async function chooseSite(deps: Deps, { orgId, userId }: Caller, { site }: SourceKind, data: JsonObject): Promise<JsonObject> {
  if (site === undefined) return {};
  const owner = { orgId, ownerUserId: userId };
  const chosen = typeof data.cloudId === 'string' ? data.cloudId : undefined;
  const cloudId = await requireSite(deps, { product: site, oauthTokenId: String(data.oauthTokenId), cloudId: chosen, owner });
  return cloudId === undefined ? {} : { cloudId };
}

interface NewSources {
  readonly type: ConnectedType;
  readonly sources: readonly Pick<NewConnectedSource, 'name' | 'refreshPeriod' | 'data' | keyof SourcePermissions>[];
  readonly expectedDraft: ExpectedDraft;
}

/** Makes sources, attaches them, and queues their first synchronization. All or none. */
async function createSources(
  deps: Deps,
  caller: Caller,
  agent: AgentView,
  { type, sources, expectedDraft }: NewSources,
): Promise<readonly DataSource[]> {
  const missing = missingSettings(type, deps.settings);
  if (missing.length > 0) {
    const message = `sources of the type ${type} cannot be read here: the operator has to set ${missing.join(' and ')}`;
    throw new DomainError('UNSUPPORTED_VALUE', message, { param: 'type' });
  }
  await requireRoom(deps, agent.id, sources.length);
  const createdAt = deps.now();
  const rows = sources.map((source) => ({
    ...source,
    name: source.name.trim().slice(0, 200),
    id: deps.newId('dataSource'),
    createdAt,
    orgId: agent.orgId,
    ownerUserId: caller.userId,
    type,
  }));
  const create = async () => {
    await deps.storage.knowledge.connectedSources.create(agent.id, rows, async (tx) => {
      for (const { id } of rows) {
        await deps.jobs.enqueue('knowledge.sync-source', { dataSourceId: id, trigger: 'ADDED' }, { owner: caller, key: id, tx });
      }
    });
    return rows[0];
  };
  await changeAgents(deps, caller, [agent.id], create, expectedDraft);
  const existingSources = await deps.storage.knowledge.sources.findMany(
    rows.map(({ id }) => id),
    visibleDataSources(caller),
  );
  const byId = new Map(existingSources.map((source) => [source.id, source]));
  const approval = await endedApproval(deps, agent);
  return rows.flatMap(({ id }) => {
    const source = byId.get(id);
    return source === undefined
      ? []
      : [{ ...source, ...approval, errorCode: null, errorMessage: null, failedItem: null, activeRun: null }];
  });
}
