import { readRequestSecrets } from '../../../engine/tools/mcp/request-secrets.ts';
import type { ToolRegistry } from '../../../engine/tools/registry.ts';
import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import type { EnabledTool, ToolType } from '../../../entities/conversations/runs/tool.ts';
import type { FaultNotes } from '../../../entities/ground/fault-notes.ts';
import { isObject } from '../../../lib/json/json.ts';
import { readWire } from '../../../wire/ground/read.ts';
import { responseToolParam } from '../../../wire/responses/tools.ts';
import type { Faults } from '../../ground/faults.ts';
import { checkToolMembers } from './members.ts';
import { readSecrets } from './secrets.ts';

/** Members of a tool that only its server may know. They are never stored with a run, and no reply repeats them. */
export const secretMembers: readonly string[] = ['authorization', 'headers', 'secrets'];

/**
 * Reads a tool of the service: checks its members, and that this instance can run it.
 *
 * @param tool  as the responses format writes it.
 * @param mayBeUnavailable  takes a tool that this instance cannot run, as a standing tool of an agent.
 */
export function readServiceTool(
  type: ToolType,
  tool: WireObject,
  at: string,
  registry: ToolRegistry,
  faults: FaultNotes,
  mayBeUnavailable = false,
): EnabledTool {
  const { require_approval: approval, allowed_tools: allowed } = tool;
  const isMcp = type === 'mcp';
  if (!isMcp && approval !== undefined && approval !== null && typeof approval !== 'boolean') {
    faults.add(`${at}.require_approval`, `${at}.require_approval must be true or false`, 'INVALID_TYPE');
  }
  // GraphQL callers may say yes or no, too.
  const plain = isMcp && typeof approval === 'boolean' ? { ...tool, require_approval: approval ? 'always' : 'never' } : tool;
  const isWellFormed = readWire(responseToolParam, plain, at, faults) !== undefined;
  checkToolMembers(plain, at, faults);
  const names = isObject(allowed) ? allowed.tool_names : allowed;
  if (Array.isArray(names) && names.length === 0) {
    faults.add(`${at}.allowed_tools`, `${at}.allowed_tools must name at least one tool; leave it out to allow all`);
  }
  const kind = registry.find(type);
  if (!mayBeUnavailable && (kind === undefined || kind.unavailable !== undefined)) {
    faults.add(`${at}.type`, `${at}.type: ${unavailableText(type, registry)}`, 'TOOL_NOT_AVAILABLE');
  }
  // A standing tool is the agent's: no secret of a request is for it.
  const hasSecrets = !mayBeUnavailable && secretMembers.some((member) => tool[member] !== undefined && tool[member] !== null);
  const enabledTool = { ...toEnabledTool(type, plain), ...(hasSecrets ? { hasSecrets } : {}) };
  if (kind?.unavailable === undefined && isWellFormed) {
    kind?.check?.(enabledTool.options, at, mayBeUnavailable ? withoutUnserved(faults) : faults);
  }
  return enabledTool;
}

/** Another instance may serve what this one cannot. */
function withoutUnserved(faults: FaultNotes): FaultNotes {
  return {
    get isFull() {
      return faults.isFull;
    },
    add(param, message, code, allowedValues) {
      if (code !== 'UNSUPPORTED_VALUE') faults.add(param, message, code, allowedValues);
    },
  };
}

/**
 * The secrets of a tool, as secrets of the run: in memory only, and masked like the others.
 *
 * @param tool  as for `readServiceTool`.
 */
export function readToolSecrets(tool: WireObject, at: string, faults: Faults): Readonly<Record<string, string>> {
  for (const member of ['headers', 'secrets']) readSecrets(tool[member], faults, `${at}.${member}`);
  return readRequestSecrets(tool);
}

/** Why a tool cannot be served, with the setting that would switch it on. */
export function unavailableText(type: ToolType, registry: ToolRegistry): string {
  const lack = registry.find(type)?.unavailable;
  if (lack === undefined) return `this version of Parley has no ${type}`;
  return `${type} cannot be served here: ${lack.reason}; the setting ${lack.setting} switches it on`;
}

function toEnabledTool(type: ToolType, tool: WireObject): EnabledTool {
  const omittedMembers = ['type', 'requireApproval', 'require_approval', ...secretMembers];
  const options = Object.fromEntries(
    Object.entries(tool).filter(([name, value]) => !omittedMembers.includes(name) && value !== undefined && value !== null),
  );
  // The common format's `require_approval` of an MCP server may also name tools: its kind reads it.
  const approval = tool.require_approval;
  if (type === 'mcp' && approval !== undefined && approval !== null)
    return { type, options: { ...options, require_approval: approval } };
  const isAsked = tool.requireApproval === true || approval === true;
  return { type, options, ...(isAsked ? { requireApproval: true } : {}) };
}

/** A request may name a tool twice: the last one counts. Servers of tools are apart by their names. */
export function withoutRepeats(tools: readonly EnabledTool[]): readonly EnabledTool[] {
  return [...new Map(tools.map((tool) => [toToolKey(tool), tool])).values()];
}

/** Equal for tools that a request or an agent may have only once. */
export function toToolKey({ type, options }: EnabledTool): string {
  const server = options.server_label ?? options.server ?? options.server_id ?? options.id ?? options.name ?? '';
  return type === 'mcp' || type === 'mcp_server' ? `${type} ${String(server)}` : type;
}

/** The tools of a request beside the standing ones of its agent; where both name one, the request decides. */
export function withStandingTools(
  requestTools: readonly EnabledTool[],
  standingTools: readonly EnabledTool[],
): readonly EnabledTool[] {
  return standingTools.length === 0 ? requestTools : withoutRepeats([...standingTools, ...requestTools]);
}
