import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import type { EndedApproval } from '../../../entities/agents/part.ts';
import type { AgentCanary } from '../../../entities/agents/version.ts';
import { DomainError, outOfRange } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { OpenedAgent } from '../../../storage/agents/versions/versions.ts';
import type { Deps } from '../../deps.ts';
import { endedApproval } from '../parts/access.ts';
import { closing, type ExpectedDraft, listMembers, requireDraft } from './change.ts';
import { readContent } from './content.ts';
import { passGate } from './gate.ts';
import {
  attachable,
  differ,
  missingVersion,
  open,
  readNote,
  requireBringable,
  requireVersionNumber,
  restore,
  versionedAgent,
} from './publish.ts';

export const canaryKeeps = ['CANARY', 'PUBLISHED'] as const;
export type CanaryKeep = (typeof canaryKeeps)[number];

export interface CanaryTerms {
  /** Whole percent, 1 to 99, of the chats that begin. */
  readonly percent: number;
  /** An existing version. Default: a new one, of the draft. */
  readonly version?: number | null | undefined;
  readonly note?: string | null | undefined;
  readonly expectedDraft?: ExpectedDraft;
  readonly overrideReason?: string | null | undefined;
}

/**
 * Gives a part of the chats that begin, and of the callers of runs without a chat, another version than the published one. For the version that is a
 * canary already, the percentage changes.
 *
 * @throws DomainError NOT_FOUND, also for the version; FORBIDDEN; INVALID_VALUE for the percentage; CONFLICT for the published version, for a draft that
 *   does not differ from it, and while another version is the canary; what the gate says, unless the version is the canary already.
 */
export async function startCanary(deps: Deps, caller: Caller, id: string, terms: CanaryTerms): Promise<AgentCanary> {
  const agent = await versionedAgent(deps, caller, id);
  const { percent, version, expectedDraft } = terms;
  if (typeof version === 'number') requireVersionNumber('version', version);
  if (!Number.isInteger(percent) || percent < 1 || percent > 99) throw outOfRange('percent', 1, 99);
  const note = readNote('note', terms.note);
  const { tested, overrideReason } = await testCanary(deps, caller, agent, terms);
  return deps.audit.change(caller, async () => {
    const opened = await open(deps, id, version ?? null);
    await requireDraft(deps, id, opened, expectedDraft);
    if (typeof version !== 'number' && opened.draft !== tested)
      throw new DomainError('CONFLICT', 'The draft was changed while it was tested; try again');
    const number = version ?? opened.lastVersion + 1;
    requireOtherVersion(opened, version ?? undefined);
    if (opened.target !== null) await requireContent(deps, caller, agent, opened.target, opened.draft);
    const startedAt = opened.canaryVersion === number ? await readStart(deps, id) : deps.now();
    const canary = { version: number, percent, startedAt };
    await deps.storage.agents.versions.close(id, {
      ...unchanged(deps, caller, opened),
      canary,
      ...(typeof version === 'number' ? {} : { versions: [{ ...versionOfDraft(opened, number, note), overrideReason }] }),
    });
    return { ...canary, targetIds: [id] };
  });
}

/** People get a canary, so it passes the gate as what is published. @returns the text of the draft that was tested. */
async function testCanary(
  deps: Deps,
  caller: Caller,
  agent: RunnableAgent,
  { version, overrideReason }: CanaryTerms,
): Promise<{ readonly tested: string | undefined; readonly overrideReason: string | undefined }> {
  const { versions } = deps.storage.agents;
  const { id: agentId, orgId } = agent;
  const request = { agentId, orgId, overrideReason: readNote('overrideReason', overrideReason) || undefined };
  if (typeof version !== 'number') {
    const tested = await versions.readDraft(agentId);
    return { tested, overrideReason: await passGate(deps, caller, { ...request, draft: readContent(tested) }) };
  }
  const isRunning = version === agent.publishedVersion || version === agent.canary?.version;
  const draft = isRunning ? undefined : await versions.findContent(agentId, version);
  const reason = draft === undefined ? undefined : await passGate(deps, caller, { ...request, draft, version });
  return { tested: undefined, overrideReason: reason };
}

/** Refuses an old version with what the caller may not give to the agent. */
async function requireContent(deps: Deps, caller: Caller, agent: RunnableAgent, target: string, draft: string): Promise<void> {
  const contents = { wanted: readContent(target), current: readContent(draft) };
  requireBringable(deps, caller, agent, contents);
  const sourceIds = await attachable(deps, caller, contents.wanted, contents.current);
  const missing = contents.wanted.sources.find((source) => !sourceIds.includes(source.id));
  if (missing === undefined) return;
  const message = `The source ${JSON.stringify(missing.name)} of the version is gone, or not yours to attach: go back to the version, which leaves it out`;
  throw new DomainError('CONFLICT', message, { param: 'version' });
}

/** @param version  undefined: the draft. */
function requireOtherVersion(opened: OpenedAgent, version: number | undefined): void {
  const { canaryVersion, publishedVersion, published, target } = opened;
  if (version !== undefined && target === null) throw missingVersion();
  if (canaryVersion !== null && canaryVersion !== version) {
    throw new DomainError('CONFLICT', `Version ${canaryVersion} is the canary: end it first`);
  }
  if (version === publishedVersion || (version === undefined && published === null)) {
    throw new DomainError('CONFLICT', 'A canary must differ from what people get anyway', { param: 'version' });
  }
}

function versionOfDraft({ published, draft }: OpenedAgent, number: number, note: string) {
  const members = listMembers(readContent(published ?? draft), readContent(draft));
  return { number, note, members, isPublished: false, content: draft };
}

async function readStart(deps: Deps, id: string): Promise<Date> {
  return (await deps.storage.agents.versions.findVersioning(id))?.canaryStartedAt ?? deps.now();
}

/** A change that leaves the draft as it is. */
function unchanged(deps: Deps, caller: Caller, opened: OpenedAgent) {
  const { draftRevision, publishedVersion, isDraftChanged } = opened;
  return { ...closing(deps, caller, opened), draftRevision, publishedVersion, isDraftChanged };
}

/**
 * Ends the canary of an agent: everybody gets the version that is kept. A draft that did not differ from the published version follows the canary.
 *
 * @throws DomainError NOT_FOUND; FORBIDDEN; CONFLICT without a canary; for the canary, what the gate says.
 */
export async function endCanary(
  deps: Deps,
  caller: Caller,
  id: string,
  keep: CanaryKeep,
  overrideReason?: string | null,
): Promise<EndedApproval> {
  const agent = await versionedAgent(deps, caller, id);
  const { versions } = deps.storage.agents;
  const { canary } = agent;
  if (canary === null) throw new DomainError('CONFLICT', 'This agent has no canary');
  const content = keep === 'CANARY' ? await versions.findContent(id, canary.version) : undefined;
  const reason = readNote('overrideReason', overrideReason) || undefined;
  const request = { agentId: id, orgId: agent.orgId, overrideReason: reason };
  const overridden =
    content === undefined ? undefined : await passGate(deps, caller, { ...request, draft: content, version: canary.version });
  const before = await deps.audit.change(caller, async () => {
    const opened = await open(deps, id, canary.version);
    if (opened.canaryVersion !== canary.version) throw new DomainError('CONFLICT', 'The canary was ended by another call');
    const { target } = opened;
    if (keep === 'PUBLISHED' || target === null) {
      await versions.close(id, { ...unchanged(deps, caller, opened), canary: null });
      return { id, isApprovedByOrg: false };
    }
    const { isDraftChanged } = opened;
    const before = readContent(opened.draft);
    if (!isDraftChanged) await restore(deps, caller, id, { opened, target });
    await versions.markPublished(id, canary.version, overridden);
    const members = isDraftChanged ? {} : { members: listMembers(before, readContent(target)) };
    await versions.close(id, {
      ...(isDraftChanged ? unchanged(deps, caller, opened) : closing(deps, caller, opened)),
      ...{
        publishedVersion: canary.version,
        isDraftChanged: isDraftChanged && differ(opened.draft, target),
        canary: null,
        ...members,
      },
    });
    return { id, isApprovedByOrg: opened.isApprovedByOrg };
  });
  return endedApproval(deps, before);
}
