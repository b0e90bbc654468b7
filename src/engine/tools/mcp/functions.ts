import { DomainError } from '../../../entities/errors.ts';
import type { CallForm, ListedTool } from '../../../entities/runs/tool.ts';
import { type ArgumentsReader, compileArguments } from '../json-schema/arguments.ts';
import { SchemaError } from '../json-schema/read-schema.ts';
import { masker } from '../masking.ts';
import { freeFunctionName, mcpFunctionName } from '../names.ts';
import type { ServerTool } from '../server-tool.ts';
import type { McpRun } from '../tool-kind.ts';
import { type McpEndpoint, secretsOf } from './endpoint.ts';
import { readResult } from './result.ts';
import type { McpServers } from './servers.ts';
import { type AllowedTools, hasHint, isAllowed } from './tool-filter.ts';

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

/** Makes the allowed tools of a server callable for one run. */
export function functionsOf(tools: readonly ListedTool[], options: FunctionsOptions): readonly ServerTool[] {
  const taken = new Set<string>();
  const { endpoint, allowed } = options;
  return tools
    .filter((tool) => isAllowed(tool, allowed))
    .map((tool) => {
      const name = freeFunctionName(mcpFunctionName(endpoint.name, tool.name), taken);
      taken.add(name);
      return functionOf(tool, name, options);
    });
}

function functionOf(tool: ListedTool, name: string, options: FunctionsOptions): ServerTool {
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
      read ??= readerOf(tool);
      const args = read(json);
      if ('fault' in args) throw new DomainError('INVALID_VALUE', args.fault);
      await pass.renew();
      const mask = masker(secretsOf(endpoint));
      try {
        const raw = await servers.call(endpoint, run.plan.charge, { tool: tool.name, args: args.value, key: pass.key, signal });
        const charsMax = servers.resultCharsMax;
        const context = { server: endpoint.name, tool: tool.name, key: pass.key, files: run.files, charsMax, signal };
        const { text, files } = await readResult(raw, context);
        return { text: mask(text), ...(files.length === 0 ? {} : { files }) };
      } catch (error) {
        if (error instanceof DomainError) throw new DomainError(error.code, mask(error.message), error.detail);
        throw error;
      }
    },
  };
}

/** The check of a tool's arguments; of a schema that cannot be checked only that they are an object. */
function readerOf({ inputSchema }: ListedTool): ArgumentsReader {
  try {
    return compileArguments(inputSchema);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return compileArguments({ type: 'object' });
  }
}
