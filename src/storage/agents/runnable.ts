// Raw SQL: a completion waits for it when the agent is not remembered; one prepared statement over eleven tables.
import type { Agent, RunnableAgent } from '../../entities/agents/agent.ts';
import { type AgentRunParts, skillInlineCharsMax } from '../../entities/agents/part.ts';
import { type AgentContent, type AgentVersioning, draftVersion } from '../../entities/agents/version.ts';
import type { Database } from '../ground/database.ts';
import { InvalidatedCache } from '../ground/invalidated-cache.ts';
import type { Signals } from '../ground/signals/signals.ts';

const agentsMax = 5_000;

interface RunnableRow extends Agent, AgentRunParts, AgentVersioning {
  readonly hasGate: boolean;
  readonly tenantId: string;
  readonly editorIds: readonly string[];
  readonly groupIds: readonly string[];
  readonly groupMemberIds: readonly string[];
  readonly dataSourceIds: readonly string[];
  readonly flow: RunnableAgent['flow'];
  readonly skills: RunnableAgent['skills'];
}

const findRunnable = `select a.*, o."tenantId", exists(select from agent_gates g where g."agentId" = a.id) as "hasGate",
      array(select e."userId" from agent_editors e where e."agentId" = a.id) as "editorIds",
      array(select g."groupId" from agent_groups g where g."agentId" = a.id) as "groupIds",
      array(select distinct m."userId" from agent_groups g join group_members m on m."groupId" = g."groupId"
        where g."agentId" = a.id and a.visibility = 'GROUP' and m."userId" is not null) as "groupMemberIds",
      array(select s.id from agent_data_sources d join data_sources s on s.id = d."dataSourceId"
        where d."agentId" = a.id and s."deletingAt" is null and s."orgId" = a."orgId" order by s.id) as "dataSourceIds",
      (select json_build_object('flowId', f.id, 'version', v.version, 'data', v.data)
        from agent_flows f join agent_flow_versions v on v."flowId" = f.id
        where f."agentId" = a.id and f.enabled and v.active order by f.name collate "C" limit 1) as flow,
      coalesce((select json_agg(json_build_object('id', k.id, 'name', k.name, 'description', k.description,
          'content', case when length(k.content) <= ${skillInlineCharsMax} then k.content end) order by k.name collate "C")
        from agent_skills k where k."agentId" = a.id and k.enabled), '[]') as skills,
      coalesce((select json_agg(json_build_object('id', t.id, 'name', t.name, 'type', t.type, 'data', t.data) order by t.name)
        from agent_tools t where t."agentId" = a.id), '[]') as tools,
      coalesce((select json_agg(json_build_object('variableName', v."variableName", 'type', v.type, 'configuration', v.configuration,
          'showOnChatCreate', v."showOnChatCreate") order by v."orderIndex", v."variableName")
        from agent_user_inputs v where v."agentId" = a.id), '[]') as "userInputs"
    from agents a join organizations o on o.id = a."orgId"
    where a.id = $1 and not a."isDeleted"`;

/** The version that this query names; of its sources those that are there still. */
const findContent = `select v.content,
      array(select s.id from json_array_elements(v.content->'sources') c join data_sources s on s.id = c->>'id'
        where s."deletingAt" is null and s."orgId" = a."orgId" order by s.id) as "dataSourceIds"
    from agent_versions v join agents a on a.id = v."agentId" where v."agentId" = $1 and v.number = $2`;

type Loaded = RunnableAgent | undefined;

/** Agents as runs need them, in an InvalidatedCache: a cached agent costs no database round trip. */
export function createRunnableAgents(
  db: Database,
  signals: Signals,
): { find(id: string, nowMs: number, version?: number): Loaded | Promise<Loaded> } {
  const cache = new InvalidatedCache<RunnableAgent>(signals, agentsMax);
  signals.subscribe('agent-changed', (id) => cache.forget((agent) => agent.id === id));
  signals.subscribe('group-changed', (groupId) => cache.forget((agent) => agent.groupIds.has(groupId)));
  // A source that is deleted or moved. That it is being indexed changes nothing here.
  const detach = (sourceId: string) => cache.forget((agent) => agent.dataSourceIds.includes(sourceId));
  signals.subscribe('data-source-changed', detach, 'announced');

  /** @param version  undefined: the published one. */
  async function load(id: string, version?: number): Promise<Loaded> {
    const rows = await db.query<RunnableRow>(findRunnable, [id]);
    const [row] = rows;
    if (row === undefined) return undefined;
    const draft = toRunnable(row);
    const { publishedVersion, isDraftChanged } = row;
    const wanted = version ?? publishedVersion;
    if (wanted === draftVersion || (wanted === publishedVersion && !isDraftChanged)) return draft;
    const [held] = await db.query<HeldRow>(findContent, [id, wanted]);
    return held === undefined ? undefined : withContent(draft, held, wanted);
  }

  function findVersion(agent: Loaded, nowMs: number, version: number): Loaded | Promise<Loaded> {
    const isPublished = agent?.version === version || (version === draftVersion && agent?.isDraftChanged === false);
    if (agent === undefined || isPublished) return agent;
    return cache.find(`${agent.id} ${version}`, nowMs, () => load(agent.id, version));
  }

  return {
    find(id, nowMs, version) {
      const published = cache.find(id, nowMs, load);
      if (version === undefined) return published;
      return published instanceof Promise
        ? published.then((agent) => findVersion(agent, nowMs, version))
        : findVersion(published, nowMs, version);
    },
  };
}

/** The agent as it is: the draft. */
function toRunnable(row: RunnableRow): RunnableAgent {
  const { editorIds, groupIds, groupMemberIds, canaryVersion, canaryPercent, canaryStartedAt, ...agent } = row;
  const hasCanary = canaryVersion !== null && canaryPercent !== null && canaryStartedAt !== null;
  return {
    ...agent,
    version: agent.isDraftChanged ? draftVersion : agent.publishedVersion,
    canary: hasCanary ? { version: canaryVersion, percent: canaryPercent, startedAt: canaryStartedAt } : null,
    enabledTools: ownTools(agent.id, agent.enabledTools),
    editorIds: new Set(editorIds),
    groupIds: new Set(groupIds),
    groupMemberIds: new Set(groupMemberIds),
  };
}

/** Set here, where every run gets its agent, so that no path of a run can forget it. */
function ownTools(id: string, tools: RunnableAgent['enabledTools']): RunnableAgent['enabledTools'] {
  return tools.map((tool) => ({ ...tool, ofAgent: id }));
}

interface HeldRow {
  readonly content: AgentContent;
  readonly dataSourceIds: readonly string[];
}

/** An agent with what a version holds. Who may use it, and its secrets, are those of now. An approval is one of the draft, so a version has none. */
function withContent(draft: RunnableAgent, { content, dataSourceIds }: HeldRow, version: number): RunnableAgent {
  const { sources: _sources, secrets: _secrets, flows, skills, enabledTools, ...held } = content;
  const flow = flows.find(({ enabled }) => enabled);
  const active = flow?.versions.find((one) => one.active);
  return {
    ...draft,
    ...held,
    version,
    dataSourceIds,
    isApprovedByOrg: false,
    enabledTools: ownTools(draft.id, enabledTools),
    skills: skills.filter(({ enabled }) => enabled),
    flow: flow === undefined || active === undefined ? null : { flowId: flow.id, version: active.version, data: active.data },
    versionFlows: flows,
  };
}
