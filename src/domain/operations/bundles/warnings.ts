import { splitAddress } from '../../../engine/tools/api-function/address.ts';
import type { ToolRegistry } from '../../../engine/tools/registry.ts';
import { readFlowSteps } from '../../../entities/agents/flow.ts';
import { waitsForApproval } from '../../agents/parts/flow-approvals.ts';
import { originsOfKey } from '../../agents/parts/secret-origins.ts';
import type { ReadBundle, ReadSource } from './read-bundle.ts';

/** Parts of a bundle that an import leaves out, or that have no effect here. Warnings about content come later: it may have to be fetched. */
export function bundleWarnings(
  { agent, tools, flows, secrets, dataSources }: ReadBundle,
  registry: ToolRegistry,
): readonly string[] {
  const ofFlows = { tools, enabledTools: agent.enabledTools ?? [] };
  return [
    ...tools.flatMap(toolWarnings),
    ...flows
      .filter(({ enabled }) => enabled)
      .slice(1)
      .map(({ name }) => `flow not enabled: ${name}; one flow of an agent is enabled at a time`),
    ...flows.flatMap(({ name, versions }) => {
      const steps = versions.flatMap(({ data }) => readFlowSteps(data));
      const waiting = steps.flatMap((step) =>
        step.type === 'tool' && waitsForApproval(step.tool, ofFlows, registry) ? [step.tool] : [],
      );
      return [...new Set(waiting)].map(
        (tool) => `step of a flow will fail: ${name} calls ${tool}, whose calls wait for approval; a flow cannot wait`,
      );
    }),
    ...secrets.flatMap((secret) => secretWarnings(secret, tools)),
    ...dataSources.flatMap(sourceWarnings),
  ];
}

/** An import never starts a program: MCP servers that are programs exist only in the operator's configuration. */
function toolWarnings({ name, type, data }: ReadBundle['tools'][number]): readonly string[] {
  if (type !== 'MCP_SERVER') return [];
  const { command, transport, type: kind } = data;
  const transportKind = typeof transport === 'object' && transport !== null && 'type' in transport ? transport.type : transport;
  if ((command ?? undefined) !== undefined || transportKind === 'stdio' || kind === 'stdio') {
    return [`MCP server not started: ${name} is a stdio server, a program; only the operator of the service can configure those`];
  }
  const hasAddress = typeof data.url === 'string' && splitAddress(data.url) !== undefined;
  return hasAddress ? [] : [`MCP server without effect: ${name} has no http or https url`];
}

function secretWarnings({ key, value }: ReadBundle['secrets'][number], tools: ReadBundle['tools']): readonly string[] {
  if (value === undefined) return [`secret missing: ${key}`];
  const origins = originsOfKey(tools, key);
  return origins.length < 2 ? [] : [`secret sent to several places: ${key} to ${origins.join(', ')}`];
}

function sourceWarnings({ name, type, leftOut, items }: ReadSource): readonly string[] {
  if (type === 'API') return items.length > 1 ? [`documents left out: ${name} is one payload, and so one document`] : [];
  const members = leftOut.members.slice(0, 20).map((member) => member.slice(0, 100).toWellFormed());
  return [
    ...(leftOut.isCredential ? [`connection and credentials left out: ${name}`] : []),
    ...(members.length === 0 ? [] : [`members without effect left out: ${members.join(', ')} of ${name}`]),
  ];
}
