import { serverNameIn } from '../../../engine/tools/mcp/request-secrets.ts';
import { readApproval } from '../../../engine/tools/mcp/tool-filter.ts';
import { mcpFunctionName } from '../../../engine/tools/names.ts';
import type { ToolRegistry } from '../../../engine/tools/registry.ts';
import type { AgentTool, FlowVersion } from '../../../entities/agents/part.ts';
import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import type { FaultNotes } from '../../../entities/ground/fault-notes.ts';
import { isObject } from '../../../lib/json/json.ts';

/** The tools of an agent, as far as steps of its flows may call them. */
export interface FlowTools {
  readonly tools: readonly Pick<AgentTool, 'name' | 'type' | 'data'>[];
  readonly enabledTools: readonly EnabledTool[];
}

/**
 * Notes each step that calls a tool whose calls wait for a person's approval. A flow answers within one turn: nobody could answer between two steps,
 * so the step would fail in every run.
 */
export function noteApprovals(
  param: string,
  versions: readonly Pick<FlowVersion, 'data'>[],
  tools: FlowTools,
  registry: ToolRegistry,
  faults: FaultNotes,
): void {
  for (const [version, { data }] of versions.entries()) {
    const steps: readonly unknown[] = Array.isArray(data.steps) ? data.steps : [];
    for (const [index, step] of steps.entries()) {
      if (!isObject(step) || step.type !== 'tool' || typeof step.tool !== 'string') continue;
      if (!waitsForApproval(step.tool, tools, registry)) continue;
      const at = `${param}[${version}].data.steps[${index}].tool`;
      const why = 'whose calls wait for approval: a flow answers within one turn and cannot wait for a person';
      const remedy = `Let the tool run without approval, or let a model call it outside of a flow`;
      faults.add(at, `${at} names ${step.tool}, ${why}. ${remedy}`, 'UNSUPPORTED_VALUE');
    }
  }
}

/** Whether calls of a function certainly wait for approval, as far as that is known before its servers are asked. */
export function waitsForApproval(name: string, { tools, enabledTools }: FlowTools, registry: ToolRegistry): boolean {
  const isServerFunction = (server: unknown) => typeof server === 'string' && name.startsWith(mcpFunctionName(server, ''));
  const ofAgent = tools.some(({ name: own, type, data }) => {
    if (data.requireApproval !== true) return false;
    return type === 'MCP_SERVER' ? isServerFunction(own) : type === 'API_FUNCTION' && own === name;
  });
  return (
    ofAgent ||
    enabledTools.some((tool) => {
      const { type, options, requireApproval } = tool;
      if (type === 'mcp') return isServerFunction(options.server_label) && (requireApproval === true || asksFor(name, options));
      if (requireApproval !== true) return false;
      return type === 'mcp_server' ? isServerFunction(serverNameIn(options)) : registry.namesOf(tool).includes(name);
    })
  );
}

/** Hints of the server may decide where a filter goes by them: that is not known here. */
function asksFor(name: string, { server_label: label, require_approval: approval }: EnabledTool['options']): boolean {
  const goesByHints = isObject(approval) && isObject(approval.never) && typeof approval.never.read_only === 'boolean';
  if (goesByHints) return false;
  const tool = name.slice(mcpFunctionName(String(label), '').length);
  return readApproval(approval)({ name: tool, description: null, inputSchema: {}, annotations: null });
}
