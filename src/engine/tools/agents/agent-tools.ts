import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { type RunnableTool, secretKeysIn } from '../../../entities/agents/part.ts';
import { skillFunction } from '../../../entities/agents/skill-offer.ts';
import type { Settings } from '../../../settings.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { Egress } from '../../egress/egress.ts';
import { createApiTool } from '../api-function/api-tool.ts';
import { openSecrets } from '../secrets/bound-secrets.ts';
import type { ServerTool, ServerTools } from '../server-tool.ts';
import { areOnDemand, createSkillTool } from '../skills/skills.ts';

export interface AgentToolsDeps {
  readonly settings: Settings;
  readonly storage: Storage;
  readonly egress: Egress;
  now(): Date;
}

/** The tools of an agent that run in the service, with `use_skill` where it has skills to read; a plain value while the agent is cached. */
export type AgentTools = (agentId: string, version?: number | null) => ServerTools | Promise<ServerTools>;

const none: ServerTools = new Map();

/** Makes the tools of agents callable. They are made once for each cached agent. */
export function createAgentTools(deps: AgentToolsDeps): AgentTools {
  const toolsByAgent = new WeakMap<RunnableAgent, ServerTools>();
  const createTools = (agent: RunnableAgent | undefined): ServerTools => {
    if (agent === undefined || (agent.tools.length === 0 && agent.skills.length === 0)) return none;
    const cachedTools = toolsByAgent.get(agent);
    if (cachedTools !== undefined) return cachedTools;
    const tools = new Map(
      agent.tools.filter(({ type }) => type === 'API_FUNCTION').map((tool) => [tool.name, apiTool(deps, agent, tool)] as const),
    );
    if (areOnDemand(agent)) tools.set(skillFunction, createSkillTool(agent, deps.storage.agents.parts.skills));
    toolsByAgent.set(agent, tools);
    return tools;
  };
  return (agentId, version) => {
    const agent = deps.storage.agents.findRunnable(agentId, deps.now().getTime(), version);
    return agent instanceof Promise ? agent.then(createTools) : createTools(agent);
  };
}

/** Makes one API_FUNCTION of an agent callable. */
export function apiTool(
  { settings, storage, egress }: Omit<AgentToolsDeps, 'now'>,
  agent: Pick<RunnableAgent, 'id' | 'orgId'>,
  tool: Pick<RunnableTool, 'name' | 'data'>,
): ServerTool {
  const serverTool = createApiTool(tool, secretKeysIn(tool.data), {
    egress,
    timeoutMs: settings.API_FUNCTION_TIMEOUT_MS,
    replyBytesMax: settings.API_FUNCTION_REPLY_MAX_BYTES,
    resultCharsMax: settings.TOOL_RESULT_MAX_CHARS,
    secretsFor: (keys, origin) => openSecrets(storage, agent, keys, origin),
  });
  return tool.data.requireApproval === true ? { ...serverTool, requiresApproval: true } : serverTool;
}
