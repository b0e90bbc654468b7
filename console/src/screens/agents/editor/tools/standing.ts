import type { AgentFieldsFragment, EnabledToolInput } from '../documents.ts';

/** A tool of the service that all runs of the agent may use, with its settings. */
export type StandingTool = AgentFieldsFragment['enabledTools'][number];
export type StandingType = StandingTool['type'];

/** The tool as an input: each setting that it has stays. */
export function toToolInput(tool: StandingTool): EnabledToolInput {
  const { requireApproval } = tool;
  switch (tool.__typename) {
    case 'DeepResearchTool':
      return { deepResearch: { requireApproval, subagentsMax: tool.subagentsMax, tokensMax: tool.tokensMax } };
    case 'FileSearchTool':
      return {
        fileSearch: {
          requireApproval,
          dataSourceIds: tool.dataSourceIds,
          vectorStoreIds: tool.vectorStoreIds,
          resultsMax: tool.resultsMax,
          scoreMin: tool.scoreMin,
        },
      };
    case 'ImageGenerationTool':
      return { imageGeneration: toImageInput(tool) };
    case 'McpServerTool':
      return {
        mcpServer: {
          requireApproval,
          allowedTools: toFilterInput(tool.allowedTools),
          server: tool.server ?? '',
          serverDescription: tool.serverDescription,
        },
      };
    case 'McpTool':
      return { mcp: toMcpInput(tool) };
    case 'MemoryTool':
      return { memory: { requireApproval, scope: tool.memoryScope } };
    case 'PythonTool':
      return { python: { requireApproval } };
    case 'SandboxTool':
      return { sandbox: { requireApproval } };
    case 'SpreadsheetTool':
      return { spreadsheet: { requireApproval } };
    case 'SubagentTool':
      return { subagent: { requireApproval, agentIds: tool.agentIds } };
    case 'WebSearchTool':
      return { webSearch: toWebInput(tool) };
  }
}

/** Whether a setting of the tool is beyond this form, which would lose it. */
export function isBeyondForm(tool: StandingTool): boolean {
  return tool.__typename === 'FileSearchTool' && tool.filter !== null;
}

type Of<Name extends StandingTool['__typename']> = Extract<StandingTool, { readonly __typename: Name }>;

function toImageInput({ requireApproval, inputImageMask, ...tool }: Of<'ImageGenerationTool'>) {
  const { fileId, imageUrl } = inputImageMask ?? { fileId: null, imageUrl: null };
  const mask = fileId !== null ? { fileId } : imageUrl !== null ? { imageUrl } : null;
  return {
    requireApproval,
    background: tool.background,
    count: tool.count,
    inputFidelity: tool.inputFidelity,
    inputImageMask: mask,
    model: tool.imageModel,
    moderation: tool.moderation,
    outputCompression: tool.outputCompression,
    outputFormat: tool.outputFormat,
    quality: tool.quality,
    size: tool.size,
    style: tool.style,
  };
}

function toMcpInput({ requireApproval, approvalRules, allowedTools, ...tool }: Of<'McpTool'>) {
  const approval =
    approvalRules === null
      ? { everyCall: requireApproval }
      : { byTool: { always: toFilterInput(approvalRules.always), never: toFilterInput(approvalRules.never) } };
  return {
    approval,
    allowedTools: toFilterInput(allowedTools),
    serverDescription: tool.serverDescription,
    serverLabel: tool.serverLabel ?? '',
    serverUrl: tool.serverUrl ?? '',
  };
}

function toWebInput({ requireApproval, userLocation, ...tool }: Of<'WebSearchTool'>) {
  const { city, country, region, timezone } = userLocation ?? { city: null, country: null, region: null, timezone: null };
  return {
    requireApproval,
    allowedDomains: tool.allowedDomains,
    blockedDomains: tool.blockedDomains,
    contextSize: tool.contextSize,
    includeXSearch: tool.includeXSearch,
    userLocation: userLocation === null ? null : { city, country, region, timezone },
  };
}

function toFilterInput(filter: Of<'McpTool'>['allowedTools']) {
  return filter === null ? null : { isReadOnly: filter.isReadOnly, names: filter.names };
}

/** A tool that was just switched on, as the service takes it without settings. */
export function newTool(type: StandingType): StandingTool | undefined {
  const base = { requireApproval: false };
  switch (type) {
    case 'DEEP_RESEARCH':
      return { ...base, __typename: 'DeepResearchTool', type, subagentsMax: null, tokensMax: null };
    case 'FILE_SEARCH':
      return {
        ...base,
        ...{
          __typename: 'FileSearchTool',
          type,
          dataSourceIds: null,
          vectorStoreIds: null,
          resultsMax: null,
          scoreMin: null,
          filter: null,
        },
      };
    case 'IMAGE_GENERATION':
      return {
        ...base,
        ...{ __typename: 'ImageGenerationTool', type, background: null, count: null, inputFidelity: null, inputImageMask: null },
        ...{
          imageModel: null,
          moderation: null,
          outputCompression: null,
          outputFormat: null,
          quality: null,
          size: null,
          style: null,
        },
      };
    case 'MEMORY':
      return { ...base, __typename: 'MemoryTool', type, memoryScope: null };
    case 'PYTHON':
      return { ...base, __typename: 'PythonTool', type };
    case 'SANDBOX':
      return { ...base, __typename: 'SandboxTool', type };
    case 'SPREADSHEET':
      return { ...base, __typename: 'SpreadsheetTool', type };
    case 'SUBAGENT':
      return { ...base, __typename: 'SubagentTool', type, agentIds: [], agents: [] };
    case 'WEB_SEARCH':
      return {
        ...base,
        ...{
          __typename: 'WebSearchTool',
          type,
          allowedDomains: null,
          blockedDomains: null,
          contextSize: null,
          includeXSearch: null,
        },
        userLocation: null,
      };
    default:
      return undefined;
  }
}
