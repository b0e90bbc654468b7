import type { AgentBundle } from '../../../entities/agents/bundle.ts';
import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import { isObject, type JsonObject } from '../../../lib/json/json.ts';

/** A bundle as a file has it: JSON that an import reads as it is, on either API. Members that are not set are left out. */
export function bundleFile({ warnings, datasets, gate, ...bundle }: AgentBundle): JsonObject {
  const { enabledTools = [], ...agent } = bundle.agent;
  return {
    ...bundle,
    exportedAt: bundle.exportedAt.toISOString(),
    agent: { ...agent, enabledTools: enabledTools.map(toolOfFile) },
    ...(datasets === null ? {} : { datasets }),
    ...(gate === null ? {} : { gate }),
    ...(warnings === null ? {} : { warnings }),
  };
}

/** The options of a tool that are objects with members of their own in camelCase. */
const typedOptions: ReadonlySet<string> = new Set(['userLocation', 'filters', 'rankingOptions', 'inputImageMask', 'budget']);

function toolOfFile({ type, options, requireApproval }: EnabledTool): JsonObject {
  const members = Object.entries(inCamelCase(options)).map(
    ([name, value]) => [name, typedOptions.has(name) && isObject(value) ? inCamelCase(value) : value] as const,
  );
  return { type, ...Object.fromEntries(members), ...(requireApproval === true ? { requireApproval } : {}) };
}

function inCamelCase(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase()),
      member,
    ]),
  );
}
