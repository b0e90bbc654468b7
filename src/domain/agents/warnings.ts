import { serverFault } from '../../engine/tools/mcp/resolve.ts';
import type { ToolRegistry } from '../../engine/tools/registry.ts';
import type { RunnableAgent } from '../../entities/agents/agent.ts';
import type { AgentFlow, AgentSkill, AgentTool } from '../../entities/agents/part.ts';
import type { Warning } from '../../entities/warning.ts';
import { unavailableText } from '../completions/service-tools.ts';

const unserved = {
  flow: 'this version of Parley stores flows and does not run them',
  skill: 'this version of Parley stores skills and does not use them',
} as const;

/** What of an agent has no effect on its runs. */
export function runWarnings(agent: RunnableAgent | undefined, registry: ToolRegistry): readonly Warning[] {
  if (agent === undefined) return [];
  return [
    ...agent.enabledTools.flatMap(({ type }) => {
      const kind = registry.find(type);
      if (kind !== undefined && kind.unavailable === undefined) return [];
      return [
        warning(
          'tool_not_available',
          `The tool ${type} of the agent fails when it is called: ${unavailableText(type, registry)}`,
        ),
      ];
    }),
    ...agent.tools.flatMap((tool) => {
      const fault = faultOf(tool);
      return fault === undefined ? [] : [warning('tool_not_available', `The tool ${tool.name} is not offered: ${fault}`)];
    }),
    ...(agent.hasFlow ? [warning('flow_not_run', `The flow of the agent does not answer: ${unserved.flow}`)] : []),
    ...(agent.hasSkill ? [warning('skill_not_used', `The skills of the agent are not offered: ${unserved.skill}`)] : []),
  ];
}

export function toolWarnings(tool: Pick<AgentTool, 'type' | 'data'>): readonly Warning[] {
  const fault = faultOf(tool);
  return fault === undefined ? [] : [warning('tool_not_available', `The tool has no effect: ${fault}`, 'data')];
}

function faultOf({ type, data }: Pick<AgentTool, 'type' | 'data'>): string | undefined {
  return type === 'MCP_SERVER' ? serverFault(data) : undefined;
}

export function flowWarnings({ enabled }: Pick<AgentFlow, 'enabled'>): readonly Warning[] {
  return enabled ? [warning('flow_not_run', `The flow has no effect: ${unserved.flow}`, 'enabled')] : [];
}

export function skillWarnings({ enabled }: Pick<AgentSkill, 'enabled'>): readonly Warning[] {
  return enabled ? [warning('skill_not_used', `The skill has no effect: ${unserved.skill}`, 'enabled')] : [];
}

function warning(code: string, message: string, param: string | null = null): Warning {
  return { code, message, param };
}
