import { requestSecretsOf } from '../../../engine/tools/mcp/request-secrets.ts';
import type { ToolRegistry } from '../../../engine/tools/registry.ts';
import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import { type EnabledTool, toolTypeNames, toolTypeOf } from '../../../entities/conversations/runs/tool.ts';
import type { FaultNotes } from '../../../entities/ground/fault-notes.ts';
import { isObject } from '../../../lib/json/json.ts';
import { readWire } from '../../../wire/ground/read.ts';
import { responseToolParam } from '../../../wire/responses/tools.ts';
import type { Faults } from '../../ground/faults.ts';
import { checkToolMembers } from './members.ts';
import { readSecrets } from './secrets.ts';

/** Whether a type names a tool of the service, served or not. */
export function isServiceTool(type: unknown): type is string {
  return toolTypeOf(type) !== undefined;
}

/** Members of a tool that only its server may know. They are never stored with a run, and no reply repeats them. */
export const secretMembers: readonly string[] = ['authorization', 'headers', 'secrets'];

/**
 * Reads a tool of the service: checks its members, and that this instance can run it.
 *
 * @param tool  as the responses format writes it.
 * @param mayBeUnavailable  takes a tool that this instance cannot run, as a standing tool of an agent.
 */
export function readServiceTool(
  tool: WireObject,
  at: string,
  registry: ToolRegistry,
  faults: FaultNotes,
  mayBeUnavailable = false,
): EnabledTool | undefined {
  const type = toolTypeOf(tool.type);
  const { require_approval: approval } = tool;
  const isMcp = type === 'mcp';
  if (!isMcp && approval !== undefined && approval !== null && typeof approval !== 'boolean') {
    faults.add(`${at}.require_approval`, `${at}.require_approval must be true or false`, 'INVALID_TYPE');
  }
  // GraphQL callers may say yes or no, too.
  const plain = isMcp && typeof approval === 'boolean' ? { ...tool, require_approval: approval ? 'always' : 'never' } : tool;
  const isWellFormed = readWire(responseToolParam, plain, at, faults) !== undefined;
  checkToolMembers(plain, at, faults);
  if (type === undefined) return undefined;
  if (allowsNothing(tool.allowed_tools)) {
    faults.add(`${at}.allowed_tools`, `${at}.allowed_tools must name at least one tool; leave it out to allow all`);
  }
  const kind = registry.find(type);
  if (!mayBeUnavailable && (kind === undefined || kind.unavailable !== undefined)) {
    faults.add(`${at}.type`, `${at}.type: ${unavailableText(type, registry)}`, 'TOOL_NOT_AVAILABLE');
  }
  // A standing tool is the agent's: no secret of a request is for it.
  const hasSecrets = !mayBeUnavailable && secretMembers.some((member) => tool[member] !== undefined && tool[member] !== null);
  const enabled = { ...enabledToolOf(type, plain), ...(hasSecrets ? { hasSecrets } : {}) };
  if (kind?.unavailable === undefined && isWellFormed) {
    kind?.check?.(enabled.options, at, mayBeUnavailable ? withoutUnserved(faults) : faults);
  }
  return enabled;
}

function allowsNothing(allowed: unknown): boolean {
  const names = isObject(allowed) ? allowed.tool_names : allowed;
  return Array.isArray(names) && names.length === 0;
}

/** Notes a tool of type `mcp` whose label another one has. @param labels  those seen before. */
export function noteLabel(tool: EnabledTool | undefined, at: string, labels: Set<unknown>, faults: FaultNotes): void {
  if (tool?.type !== 'mcp') return;
  const { server_label: label } = tool.options;
  if (labels.has(label))
    faults.add(`${at}.server_label`, `${at}.server_label: another tool has this label; each server has its own`);
  labels.add(label);
}

/** Another instance may serve what this one cannot. */
function withoutUnserved(faults: FaultNotes): FaultNotes {
  return {
    get isFull() {
      return faults.isFull;
    },
    add(param, message, code, allowed) {
      if (code !== 'UNSUPPORTED_VALUE') faults.add(param, message, code, allowed);
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
  return requestSecretsOf(tool);
}

/** Why a tool cannot be served, with the setting that would switch it on. */
export function unavailableText(type: EnabledTool['type'], registry: ToolRegistry): string {
  const lack = registry.find(type)?.unavailable;
  if (lack === undefined) return `this version of Parley has no ${type}`;
  return `${type} cannot be served here: ${lack.reason}; the setting ${lack.setting} switches it on`;
}

function enabledToolOf(type: EnabledTool['type'], tool: WireObject): EnabledTool {
  const left = ['type', 'requireApproval', 'require_approval', ...secretMembers];
  const options = Object.fromEntries(
    Object.entries(tool).filter(([name, value]) => !left.includes(name) && value !== undefined && value !== null),
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
  return [...new Map(tools.map((tool) => [toolKeyOf(tool), tool])).values()];
}

/** Equal for tools that a request or an agent may have only once. */
export function toolKeyOf({ type, options }: EnabledTool): string {
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

export function unknownToolType(at: string): string {
  return `${at}.type must be one of ${['function', ...toolTypeNames].join(', ')}`;
}

/** The tool of the service that a `tool_choice` names, among those enabled; undefined when it names none. */
export function chosenTool(choice: unknown, enabled: readonly EnabledTool[]): EnabledTool | undefined {
  if (!isObject(choice)) return undefined;
  const type = toolTypeOf(choice.type);
  const label = choice.server_label ?? choice.server;
  return enabled.find(
    (tool) => tool.type === type && (label === undefined || label === (tool.options.server_label ?? tool.options.server)),
  );
}
