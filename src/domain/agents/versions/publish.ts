import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { secretKeysIn } from '../../../entities/agents/part.ts';
import type { AgentContent, AgentPublishing, AgentVersion } from '../../../entities/agents/version.ts';
import { DomainError, outOfRange, tooLong } from '../../../entities/ground/errors.ts';
import type { Warning } from '../../../entities/ground/warning.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { NewVersion, OpenedAgent } from '../../../storage/agents/versions/versions.ts';
import type { Deps } from '../../deps.ts';
import { canAttachDataSource, canEditAgent, visibleDataSources } from '../../ground/access/access.ts';
import { agentForRun } from '../agents.ts';
import { endedApproval } from '../parts/access.ts';
import { mayNameServer, serverNamesIn } from '../parts/standing-servers.ts';
import { approvalWarnings } from '../warnings.ts';
import { closing, type ExpectedDraft, listMembers, requireDraft } from './change.ts';
import { isEqual, listDifferences, readContent } from './content.ts';
import { passGate } from './gate.ts';

const noteLengthMax = 2_000;
const versionNumberMax = 1_000_000_000;

export interface PublishTerms {
  /** What the version is about, for people. */
  readonly note?: string | null | undefined;
  readonly expectedDraft?: ExpectedDraft;
  /** Why it is published whatever the gate says. */
  readonly overrideReason?: string | null | undefined;
}

/** A version that was made. Its audit entry names the agent. */
export interface MadeVersion extends AgentVersion {
  readonly targetIds: readonly string[];
  readonly warnings: readonly Warning[];
}

/**
 * Makes a version of the draft, which people get from now on. A canary ends.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN; CONFLICT for a draft that does not differ, or that somebody changed meanwhile; what the gate says.
 *
 * Cost: five statements while the agent is cached.
 */
export async function publishAgent(deps: Deps, caller: Caller, id: string, terms: PublishTerms): Promise<MadeVersion> {
  const agent = await versionedAgent(deps, caller, id);
  const note = readNote('note', terms.note);
  const wantedReason = readNote('overrideReason', terms.overrideReason) || undefined;
  const { versions } = deps.storage.agents;
  const tested = await versions.readDraft(agent.id);
  const request = { agentId: agent.id, orgId: agent.orgId, draft: readContent(tested), overrideReason: wantedReason };
  const overrideReason = await passGate(deps, caller, request);
  return deps.audit.change(caller, async () => {
    const opened = await open(deps, id, null);
    await requireDraft(deps, id, opened, terms.expectedDraft);
    if (opened.draft !== tested) throw new DomainError('CONFLICT', 'The draft was changed while it was published; try again');
    if (opened.published === null) {
      throw new DomainError('CONFLICT', 'The draft does not differ from what people ask: there is nothing to publish');
    }
    const [before, after] = [readContent(opened.published), readContent(opened.draft)];
    const version = {
      ...{ number: opened.lastVersion + 1, note, members: listMembers(before, after), isPublished: true },
      ...{ content: opened.draft, overrideReason },
    };
    return publish(deps, caller, id, opened, [version]);
  });
}

/**
 * Makes a new version equal to an old one, which people get from now on; the draft follows it. A draft that was not published stays as a version that
 * people never got. Sources that are gone or not the caller's, and secrets that are gone, are named in warnings.
 *
 * @throws DomainError NOT_FOUND, also for the version; FORBIDDEN; INVALID_VALUE when the model of the version is gone: it could answer nobody.
 *
 * Cost: six statements while the agent is cached.
 */
export async function rollbackAgent(
  deps: Deps,
  caller: Caller,
  id: string,
  { version: number, note, expectedDraft }: { readonly version: number } & Pick<PublishTerms, 'note' | 'expectedDraft'>,
): Promise<MadeVersion> {
  requireVersionNumber('version', number);
  const agent = await versionedAgent(deps, caller, id);
  const noteText = readNote('note', note);
  return deps.audit.change(caller, async () => {
    const opened = await open(deps, id, number);
    await requireDraft(deps, id, opened, expectedDraft);
    const { target } = opened;
    if (target === null) throw missingVersion();
    requireBringable(deps, caller, agent, { wanted: readContent(target), current: readContent(opened.draft) });
    const restored = await restore(deps, caller, id, { opened, target });
    const last = opened.lastVersion;
    const before = readContent(opened.published ?? opened.draft);
    const replaced: readonly NewVersion[] =
      opened.published === null
        ? []
        : [
            {
              ...{ number: last + 1, note: `The draft before the roll back to version ${number}`, isPublished: false },
              ...{ members: listMembers(before, readContent(opened.draft)), content: opened.draft },
            },
          ];
    const version = {
      ...{ number: last + 1 + replaced.length, note: noteText, isPublished: true, rolledBackTo: number },
      ...{ members: listMembers(before, restored.content), content: restored.text },
    };
    return { ...(await publish(deps, caller, id, opened, [...replaced, version])), warnings: restored.warnings };
  });
}

/**
 * Makes the draft what people ask. What was changed and not published is gone.
 *
 * @returns the published version.
 * @throws DomainError NOT_FOUND, FORBIDDEN; CONFLICT for a draft that does not differ.
 */
export async function discardAgentDraft(
  deps: Deps,
  caller: Caller,
  id: string,
  expectedDraft: ExpectedDraft,
): Promise<MadeVersion> {
  await versionedAgent(deps, caller, id);
  return deps.audit.change(caller, async () => {
    const opened = await open(deps, id, null);
    await requireDraft(deps, id, opened, expectedDraft);
    const { published, publishedVersion } = opened;
    if (published === null) {
      throw new DomainError('CONFLICT', 'The draft does not differ from what people ask: there is nothing to discard');
    }
    const { content, warnings } = await restore(deps, caller, id, { opened, target: published });
    const members = listMembers(readContent(opened.draft), content);
    await deps.storage.agents.versions.close(id, {
      ...closing(deps, caller, opened),
      ...{ publishedVersion, members, isDraftChanged: false },
    });
    const version = await deps.storage.agents.versions.find(id, publishedVersion);
    if (version === undefined) throw missingVersion();
    return { ...version, targetIds: [id], warnings };
  });
}

/**
 * Says when changes of an agent take effect. A draft that differs is published, when they take effect at once from now on.
 *
 * @throws DomainError NOT_FOUND, FORBIDDEN; what the gate says.
 */
export async function setAgentPublishing(deps: Deps, caller: Caller, id: string, publishing: AgentPublishing): Promise<void> {
  const agent = await versionedAgent(deps, caller, id);
  if (publishing === 'AT_ONCE' && agent.isDraftChanged) await publishAgent(deps, caller, id, {});
  await deps.audit.change(caller, async () => {
    const opened = await open(deps, id, null);
    if (publishing === 'AT_ONCE' && opened.isDraftChanged) {
      throw new DomainError('CONFLICT', 'The draft was changed while it was published; try again');
    }
    const { publishedVersion, isDraftChanged } = opened;
    const draftRevision = opened.draftRevision;
    await deps.storage.agents.versions.close(id, {
      ...closing(deps, caller, opened),
      ...{ draftRevision, publishedVersion, isDraftChanged, publishing },
    });
    return { id };
  });
}

/** An agent whose versions the caller may see and make. @throws DomainError NOT_FOUND, FORBIDDEN. Cost: nothing while it is cached. */
export async function versionedAgent(deps: Deps, caller: Caller, id: string): Promise<RunnableAgent> {
  const agent = await agentForRun(deps, caller, id);
  if (canEditAgent(caller, agent)) return agent;
  throw new DomainError('FORBIDDEN', 'Only the owner, editors and administrators may see and make versions of an agent');
}

/** Locks an agent. @throws DomainError NOT_FOUND. */
export async function open(deps: Deps, id: string, target: number | null): Promise<OpenedAgent> {
  const opened = await deps.storage.agents.versions.open(id, target);
  if (opened === undefined) throw new DomainError('NOT_FOUND', 'There is no such agent', { param: 'id' });
  return opened;
}

/** @throws DomainError INVALID_VALUE for a number that no version can have. */
export function requireVersionNumber(param: string, number: number): void {
  if (number < 1 || number > versionNumberMax) throw outOfRange(param, 1, versionNumberMax);
}

export function missingVersion(param = 'version'): DomainError {
  return new DomainError('NOT_FOUND', 'There is no such version of the agent', { param });
}

/** Writes versions, the last of which is published. */
export async function publish(
  deps: Deps,
  caller: Caller,
  id: string,
  opened: OpenedAgent,
  versions: readonly NewVersion[],
): Promise<MadeVersion> {
  const closed = closing(deps, caller, opened);
  const version = versions.at(-1);
  if (version === undefined) throw new Error('nothing to publish');
  const { number, note, members, isPublished, rolledBackTo = null, overrideReason = null } = version;
  await deps.storage.agents.versions.close(id, {
    ...closed,
    ...{ versions, members, isDraftChanged: false, publishedVersion: number, canary: null },
  });
  const { createdAt, userId } = closed;
  return {
    ...{ agentId: id, number, createdAt, userId, note, members, isPublished, rolledBackTo, overrideReason },
    ...{ targetIds: [id], warnings: [] },
  };
}

interface Restoring {
  readonly opened: OpenedAgent;
  /** The content that the draft gets. */
  readonly target: string;
}

/** Makes the draft what a content says, without the sources that it cannot have. */
export async function restore(
  deps: Deps,
  caller: Caller,
  id: string,
  { opened, target }: Restoring,
): Promise<{ readonly content: AgentContent; readonly text: string; readonly warnings: readonly Warning[] }> {
  const wanted = readContent(target);
  const current = readContent(opened.draft);
  const { modelId } = wanted;
  if (modelId !== null && modelId !== current.modelId && (await deps.models.find(modelId)) === undefined) {
    const message = `The version names the model ${modelId}, which is not here any more: it could answer nobody`;
    throw new DomainError('INVALID_VALUE', message, { param: 'version' });
  }
  const sourceIds = await attachable(deps, caller, wanted, current);
  const currentIds = current.sources.map((source) => source.id);
  const changedIds = [...new Set(currentIds).symmetricDifference(new Set(sourceIds))];
  await deps.storage.agents.versions.restore(id, target, sourceIds, changedIds);
  const sources = wanted.sources.filter((source) => sourceIds.includes(source.id));
  const content = { ...wanted, sources };
  const isWhole = sources.length === wanted.sources.length;
  const approval = opened.isApprovedByOrg ? approvalWarnings(await endedApproval(deps, { id, isApprovedByOrg: true })) : [];
  const warnings = [...listMissingSources(wanted, sourceIds), ...listMissingSecrets(wanted, current), ...approval];
  return { content, text: isWhole ? target : JSON.stringify(content), warnings };
}

interface Restored {
  readonly wanted: AgentContent;
  readonly current: AgentContent;
}

/** What a version has and the draft has not comes back only by those who may give it to the agent. @throws DomainError INSUFFICIENT_SCOPE, FORBIDDEN. */
export function requireBringable(deps: Deps, caller: Caller, agent: RunnableAgent, contents: Restored): void {
  requireScopes(caller, contents);
  requireServers(deps, caller, agent, contents);
}

/** A key brings back only what it may write. @throws DomainError INSUFFICIENT_SCOPE. */
function requireScopes({ scopes }: Caller, { wanted, current }: Restored): void {
  const rules = [
    ['skills', 'SKILLS:WRITE'],
    ['sources', 'DATA_SOURCES:WRITE'],
  ] as const;
  for (const [list, scope] of rules) {
    if (scopes.has(scope) || isEqual(wanted[list], current[list])) continue;
    throw new DomainError('INSUFFICIENT_SCOPE', `The version has other ${list}: that needs a key with the scope ${scope}`, {
      param: 'version',
    });
  }
}

/** A version may name a connection that the draft does not: only the owner may bring it back. */
function requireServers(deps: Deps, caller: Caller, agent: RunnableAgent, { wanted, current }: Restored): void {
  const standing = new Set(listServers(current));
  const refused = listServers(wanted).find((name) => !standing.has(name) && !mayNameServer(deps, caller, agent, name));
  if (refused === undefined) return;
  const message = `The version names the MCP server ${refused}: only the owner of an agent may give it a connection`;
  throw new DomainError('FORBIDDEN', message, { param: 'version' });
}

function listServers({ enabledTools, tools }: AgentContent): readonly string[] {
  return serverNamesIn({ enabledTools, parts: tools.map(({ data }) => data) });
}

/** The sources of a content that the draft has, and those that the caller may attach. */
export async function attachable(
  deps: Deps,
  caller: Caller,
  wanted: AgentContent,
  current: AgentContent,
): Promise<readonly string[]> {
  const currentIds = new Set(current.sources.map(({ id }) => id));
  const further = wanted.sources.map(({ id }) => id).filter((id) => !currentIds.has(id));
  const found = further.length === 0 ? [] : await deps.storage.knowledge.sources.findMany(further, visibleDataSources(caller));
  const furtherIds = new Set(found.filter((source) => canAttachDataSource(caller, source)).map(({ id }) => id));
  return wanted.sources.map(({ id }) => id).filter((id) => currentIds.has(id) || furtherIds.has(id));
}

function listMissingSources({ sources }: AgentContent, sourceIds: readonly string[]): readonly Warning[] {
  return sources
    .filter(({ id }) => !sourceIds.includes(id))
    .map(({ id, name }) =>
      leftOut('sources', `The source ${JSON.stringify(name)} (${id}) is gone, or not yours to attach: it is left out`),
    );
}

function listMissingSecrets({ tools, enabledTools }: AgentContent, { secrets }: AgentContent): readonly Warning[] {
  const keys = new Set(secrets.map(({ key }) => key));
  const missing = secretKeysIn([tools, enabledTools]).filter((key) => !keys.has(key));
  return missing.map((key) => leftOut('secrets', `The secret ${key} is gone: set it again, or the tools that name it fail`));
}

function leftOut(param: string, message: string): Warning {
  return { code: 'left_out', message, param };
}

export function readNote(param: string, text: string | null | undefined): string {
  const note = (text ?? '').trim().toWellFormed();
  if (note.length > noteLengthMax) throw tooLong(param, noteLengthMax);
  return note;
}

/** Whether two contents differ in what counts as a change. */
export function differ(left: string, right: string): boolean {
  return listDifferences(readContent(left), readContent(right)).length > 0;
}
