import type { CallForm, ListedTool } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { type ArgumentsReader, compileArguments } from '../json-schema/arguments.ts';
import { SchemaError } from '../json-schema/read-schema.ts';
import { freeFunctionName, mcpFunctionName } from '../names.ts';
import { masker } from '../secrets/masking.ts';
import type { CallPass, ServerTool } from '../server-tool.ts';
import type { McpRun } from '../tool-kind.ts';
import { listEndpointSecrets, type McpEndpoint } from './endpoint.ts';
import type { McpTools } from './listing.ts';
import { linkCharsMax, linkStart, readResult } from './result.ts';
import type { McpServers } from './servers.ts';
import type { RawResult } from './sessions/session.ts';
import { type AllowedTools, hasHint, isAllowed } from './tool-filter.ts';

/** Links of one run that are remembered. */
const linksMax = 1_000;

export interface FunctionsOptions {
  readonly servers: McpServers;
  readonly endpoint: McpEndpoint;
  readonly run: McpRun;
  readonly allowed: AllowedTools;
  /** The server's tools, as the caller has them; absent: the server is asked. */
  readonly listed?: readonly ListedTool[];
  /** What the server is for, in the words of who named it. */
  readonly serverDescription?: unknown;
  requiresApproval(tool: ListedTool): boolean;
  /** Of the calls on the responses API; absent: `server_tool_call`. */
  form?(tool: ListedTool): CallForm;
}

/**
 * Makes the allowed tools of a server callable for one run; of a server with resources, also the reading of those that its results link.
 */
export function createFunctions(mcpTools: McpTools, options: FunctionsOptions): readonly ServerTool[] {
  const takenNames = new Set<string>();
  const { endpoint, allowed: allowedTools, servers, run } = options;
  /** Linked by results of this run. */
  const links = new Set<string>();
  const createFunction = (tool: ListedTool, call: CallOf): ServerTool => {
    const name = freeFunctionName(mcpFunctionName(endpoint.name, tool.name), takenNames);
    takenNames.add(name);
    return createServerFunction(tool, name, options, links, call);
  };
  const functions = mcpTools.tools
    .filter((tool) => isAllowed(tool, allowedTools))
    .map((tool) =>
      createFunction(tool, (args, { key }, signal) =>
        servers.call(endpoint, run.plan.charge, { tool: tool.name, args, key, signal }),
      ),
    );
  if (allowedTools.isReadOnly === false || functions.length === 0) return functions;
  if (mcpTools.hasResources !== true && !hasLink(run)) return functions;
  const read = createFunction(resourceReader, ({ uri }, _pass, signal) => {
    const uriText = String(uri).replaceAll(/\s+/g, ' ').slice(0, linkCharsMax);
    if (!links.has(uriText) && !hasLink(run, uriText)) {
      throw new DomainError('INVALID_VALUE', 'uri must be the address of a resource that a result of this server links');
    }
    return servers.read(endpoint, run.plan.charge, String(uri), signal);
  });
  return [...functions, read];
}

/** Makes one call at the server. */
type CallOf = (args: Readonly<Record<string, unknown>>, pass: CallPass, signal: AbortSignal) => Promise<RawResult>;

/** Reads what a result only links, such as a file. */
const resourceReader: ListedTool = {
  name: 'read_resource',
  description: 'Reads a resource that a result of this server links, by its address.',
  inputSchema: {
    type: 'object',
    properties: { uri: { type: 'string', description: 'The address, as the result has it.' } },
    required: ['uri'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, idempotentHint: true },
};

/** Whether an earlier result of the conversation links a resource. @param uri  default: any. */
function hasLink({ plan: { messages = [] } }: McpRun, uri?: string): boolean {
  const link = uri === undefined ? linkStart('').trimEnd() : linkStart(uri);
  return messages.some(({ role, content }) => role === 'tool' && content.includes(link));
}

function createServerFunction(
  tool: ListedTool,
  name: string,
  options: FunctionsOptions,
  links: Set<string>,
  call: CallOf,
): ServerTool {
  const { servers, endpoint, run, form } = options;
  // Compiled by the first call: a server has many tools, and a run calls few.
  let read: ArgumentsReader | undefined;
  return {
    definition: { name, description: tool.description ?? '', parameters: tool.inputSchema },
    hint: `Calling ${tool.name.slice(0, 80)}`,
    requiresApproval: options.requiresApproval(tool),
    isReadOnly: endpoint.isTrusted && hasHint(tool, 'readOnlyHint'),
    ifLost: hasHint(tool, 'idempotentHint') ? 'repeat' : 'unknown',
    ...(form === undefined ? {} : { form: () => form(tool) }),
    async run(json, _secrets, signal, _tell, pass) {
      read ??= createReader(tool);
      const args = read(json);
      if ('fault' in args) throw new DomainError('INVALID_VALUE', args.fault);
      await pass.renew();
      // Made when the answer is there: a token may be renewed for the call.
      const mask = (text: string) => masker(listEndpointSecrets(endpoint))(text);
      try {
        const raw = await call(args.value, pass, signal);
        const charsMax = servers.resultCharsMax;
        const context = { server: endpoint.name, tool: tool.name, key: pass.key, files: run.files, charsMax, signal };
        const { text, files, links: resultLinks } = await readResult(raw, context);
        for (const uri of resultLinks.slice(0, linksMax - links.size)) links.add(uri);
        return { text: mask(text), ...(files.length === 0 ? {} : { files }) };
      } catch (error) {
        if (error instanceof DomainError) throw new DomainError(error.code, mask(error.message), error.detail);
        throw error;
      }
    },
  };
}

/** The check of a tool's arguments; of a schema that cannot be checked only that they are an object. */
function createReader({ inputSchema }: ListedTool): ArgumentsReader {
  try {
    return compileArguments(inputSchema);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return compileArguments({ type: 'object' });
  }
}
