import type { ToolRegistry } from '../../engine/tools/registry.ts';
import { areOnDemand } from '../../engine/tools/skills/skills.ts';
import type { RunnableAgent } from '../../entities/agents/agent.ts';
import type { ChatMode } from '../../entities/runs/response.ts';
import type { EnabledTool } from '../../entities/runs/tool.ts';

/**
 * An agent as a run in a chat mode may use it: `execute` all of it; `plan` those of its tools that only read; `chat` none of its tools.
 * Skills only read, so `plan` keeps them. `use_skill` is a call in the service, so `chat` keeps only skills that stand in the instructions.
 */
export function agentInMode(
  registry: ToolRegistry,
  chatMode: ChatMode,
  agent: RunnableAgent | undefined,
): RunnableAgent | undefined {
  if (agent === undefined || chatMode === 'execute') return agent;
  const enabledTools = toolsInMode(registry, chatMode, agent.enabledTools);
  const skills = chatMode === 'chat' && areOnDemand(agent) ? [] : agent.skills;
  return { ...agent, tools: [], enabledTools, skills };
}

/** Mode `execute` offers all tools of the service, `plan` those that only read, `chat` none. */
export function toolsInMode(registry: ToolRegistry, chatMode: ChatMode, tools: readonly EnabledTool[]): readonly EnabledTool[] {
  if (chatMode === 'execute') return tools;
  return chatMode === 'plan' ? registry.forPlan(tools) : [];
}
