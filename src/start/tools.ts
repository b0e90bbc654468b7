import { askableAgents } from '../domain/conversations/runs/subagents.ts';
import type { Deps } from '../domain/deps.ts';
import { createProxies } from '../engine/egress/proxies.ts';
import { crawlUserAgent } from '../engine/knowledge/connectors/web/user-agent.ts';
import type { Pools } from '../engine/sharing/pools.ts';
import type { RightsOfAgent } from '../engine/tools/agents/agent-rights.ts';
import { createSubagentKind } from '../engine/tools/agents/subagent/subagent.ts';
import type { ProgramLimits } from '../engine/tools/code/box/program.ts';
import { createCodeKinds } from '../engine/tools/code/code-kinds.ts';
import { createDeepResearchKind } from '../engine/tools/deep-research/deep-research.ts';
import { createFileSearchKind } from '../engine/tools/file-search/file-search.ts';
import { createImageGenerationKind } from '../engine/tools/image-generation/image-generation.ts';
import { createMcpKind } from '../engine/tools/mcp/mcp.ts';
import { createMcpServerKind } from '../engine/tools/mcp/mcp-server.ts';
import type { ResolveDeps } from '../engine/tools/mcp/resolve.ts';
import { createMemoryKind } from '../engine/tools/memory/memory.ts';
import { ToolRegistry } from '../engine/tools/registry.ts';
import { createSpreadsheetKind } from '../engine/tools/spreadsheet/spreadsheet.ts';
import type { PageReading } from '../engine/tools/web-search/page-tool.ts';
import { createSearchClient } from '../engine/tools/web-search/search-client.ts';
import { createWebSearchKind, type WebSearchDeps } from '../engine/tools/web-search/web-search.ts';
import type { Settings } from '../settings.ts';

/** Bytes of the files of a chat that one program finds, and bytes of the files that it may write or change. */
const filesMaxBytes = 32 * 1024 * 1024;
/** Files that one program may write or change. */
const filesMax = 20;
/** Largest state that the programs of one chat keep; larger variables are left out. */
const stateMaxBytes = 8 * 1024 * 1024;

interface ToolParts extends Pick<Deps, 'settings' | 'storage' | 'pools' | 'models' | 'egress' | 'knowledge' | 'now' | 'newId'> {
  readonly servers: ResolveDeps;
  readonly rightsOfAgent: RightsOfAgent;
}

/** The tools of the service that a request or an agent may switch on. */
export function createTools(deps: ToolParts): ToolRegistry {
  const { settings, storage, pools, egress, knowledge, servers, rightsOfAgent, now } = deps;
  const resultCharsMax = settings.TOOL_RESULT_MAX_CHARS;
  return new ToolRegistry([
    createWebSearchKind({ ...searchClients(settings, pools), pages: pageReading(settings, egress, knowledge), resultCharsMax }),
    createFileSearchKind({
      ...{ knowledge, stores: storage.knowledge.vectorStores, rightsOfAgent },
      ...{ tokensMax: fileSearchTokensMax, resultCharsMax, now },
      areAnyMirrored: (dataSourceIds) => storage.knowledge.permissions.gates.areAnyMirrored(dataSourceIds),
    }),
    ...createCodeKinds({
      ...{ settings, storage, now, newId: deps.newId, limits: programLimits(settings), resultCharsMax },
      programs: pools.queue('python', settings.PYTHON_PROGRAMS_MAX),
      ttlMs: settings.PYTHON_STATE_TTL_MS,
    }),
    createSpreadsheetKind({
      limits: {
        timeoutMs: settings.EXTRACT_TIMEOUT_MS,
        memoryMaxBytes: settings.EXTRACT_MEMORY_MAX_BYTES + processBytes,
        fileMaxBytes: settings.CHAT_FILE_MAX_BYTES,
      },
      processes: pools.queue('spreadsheet', settings.SPREADSHEETS_MAX),
      resultCharsMax,
    }),
    createImageGenerationKind({
      ...{ settings, models: deps.models.images, egress: deps.egress },
      ownFile: async ({ orgId, userId }, id) => {
        const [file] = await storage.conversations.files.findMany([id], { orgId, userId, hasSources: false });
        return file === undefined ? undefined : { ...file, read: () => storage.blobs.read(file.blobKey) };
      },
    }),
    createMemoryKind(deps),
    createDeepResearchKind(settings),
    createMcpServerKind(servers),
    createMcpKind(servers),
    createSubagentKind({ askableAgents: (askingRun, ids, ofAgent) => askableAgents(deps, askingRun, ids, ofAgent) }),
  ]);
}

/** TOOL_RESULT_MAX_CHARS bounds what the model gets. */
const fileSearchTokensMax = 200_000;

function searchClients(settings: Settings, pools: Pools): Pick<WebSearchDeps, 'web' | 'x'> {
  const calls = pools.queue('web-searches', settings.SEARCH_CALLS_MAX);
  const proxies = createProxies(settings);
  const client = (url: string | undefined, apiKey: string | undefined) =>
    url === undefined
      ? undefined
      : createSearchClient({
          ...{ url, apiKey, calls, proxies, provider: settings.SEARCH_PROVIDER, timeoutMs: settings.SEARCH_TIMEOUT_MS },
        });
  return {
    web: client(settings.SEARCH_URL, settings.SEARCH_API_KEY),
    x: client(settings.X_SEARCH_URL, settings.X_SEARCH_API_KEY),
  };
}

function pageReading(settings: Settings, egress: Deps['egress'], knowledge: Deps['knowledge']): PageReading {
  const { PAGE_TIMEOUT_MS: timeoutMs, PAGE_MAX_BYTES: bytesMax } = settings;
  return { egress, knowledge, userAgent: crawlUserAgent(settings), timeoutMs, bytesMax };
}

/** Memory of a process of workbooks before it reads one. */
const processBytes = 128 * 1024 * 1024;

function programLimits(settings: Settings): ProgramLimits {
  return {
    timeoutMs: settings.PYTHON_TIMEOUT_MS,
    memoryMaxBytes: settings.PYTHON_MEMORY_MAX_BYTES,
    filesMaxBytes,
    filesMax,
    fileMaxBytes: settings.CHAT_FILE_MAX_BYTES,
    stateMaxBytes,
  };
}
