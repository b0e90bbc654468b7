import { serverFault } from '../../engine/tools/mcp/resolve.ts';
import type { ToolRegistry } from '../../engine/tools/registry.ts';
import { areOnDemand } from '../../engine/tools/skills/skills.ts';
import type { RunnableAgent } from '../../entities/agents/agent.ts';
import type { AgentFlow, AgentSkill, AgentTool, EndedApproval, PartView } from '../../entities/agents/part.ts';
import type { Warning } from '../../entities/ground/warning.ts';
import { unavailableText } from './tools/service-tools.ts';

/** How the request of a run relates to what answers it. */
export interface AnsweredBy {
  /** A flow answers. */
  readonly isFlow: boolean;
  /** The request names tools. */
  readonly hasTools: boolean;
  /** The model may call `use_skill`. */
  readonly mayReadSkills: boolean;
  /** What its standing tools may not open of the caller. */
  readonly missingGrants: readonly Warning[];
}

/** What of an agent, or of the request, has no effect on a run. */
export function runWarnings(
  agent: RunnableAgent | undefined,
  registry: ToolRegistry,
  { isFlow, hasTools, mayReadSkills, missingGrants }: AnsweredBy,
): readonly Warning[] {
  if (agent === undefined) return [];
  return [
    ...missingGrants,
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
      const fault = findFault(tool);
      return fault === undefined ? [] : [warning('tool_not_available', `The tool ${tool.name} is not offered: ${fault}`)];
    }),
    ...(isFlow && hasTools ? [warning('tools_not_used', toolsNotUsed, 'tools')] : []),
    ...(!mayReadSkills && areOnDemand(agent) ? [warning('skill_not_used', skillNotUsed)] : []),
    ...(!isFlow && agent.flow !== null ? [warning('flow_not_run', flowNotRun)] : []),
  ];
}

const toolsNotUsed = 'The tools of the request are not offered: a flow of the AI answers, whose steps say what is called';
const skillNotUsed =
  'The skills of the AI are not offered: a flow answers, or the chat_mode or the tool_choice of the request leaves use_skill out';
const flowNotRun =
  'The flow of the AI does not answer: it answers new messages in chat_mode "execute", not outputs of tools or other modes';

export function toolWarnings(tool: Pick<AgentTool, 'type' | 'data'>): readonly Warning[] {
  const fault = findFault(tool);
  return fault === undefined ? [] : [warning('tool_not_available', `The tool has no effect: ${fault}`, 'data')];
}

function findFault({ type, data }: Pick<AgentTool, 'type' | 'data'>): string | undefined {
  return type === 'MCP_SERVER' ? serverFault(data) : undefined;
}

export function flowWarnings({
  enabled,
  versions,
  isWhole,
}: Pick<PartView<AgentFlow>, 'enabled' | 'versions' | 'isWhole'>): readonly Warning[] {
  const isIdle = isWhole && enabled && !versions.some(({ active }) => active);
  return isIdle ? [warning('flow_not_run', 'The flow has no effect: none of its versions is active', 'versions')] : [];
}

export function skillWarnings({
  enabled,
  content,
  isWhole,
}: Pick<PartView<AgentSkill>, 'enabled' | 'content' | 'isWhole'>): readonly Warning[] {
  const isEmpty = isWhole && enabled && content.trim() === '';
  return isEmpty ? [warning('skill_not_used', 'The skill has no effect: its content is blank', 'content')] : [];
}

export function approvalWarnings({ endedApproval }: EndedApproval): readonly Warning[] {
  return endedApproval === true ? [warning('approval_ended', approvalEnded)] : [];
}

const approvalEnded =
  'The organization’s approval of the AI ended with this change, which reaches the model: an administrator has to approve it again';

function warning(code: string, message: string, param: string | null = null): Warning {
  return { code, message, param };
}
