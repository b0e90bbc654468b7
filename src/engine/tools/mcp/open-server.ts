import { DomainError } from '../../../entities/ground/errors.ts';
import { masker } from '../secrets/masking.ts';
import type { OpenedTool } from '../tool-kind.ts';
import { listEndpointSecrets } from './endpoint.ts';
import { createFunctions, type FunctionsOptions } from './functions.ts';
import { type McpTools, readTools } from './listing.ts';
import { type NamedBy, serverUnavailable, unknownNames } from './unavailable.ts';

/** The tools of a server for one run, and what it was found to have; or why it has none now. */
export interface OpenedServer extends OpenedTool {
  readonly found: McpTools | undefined;
  /** Why the server cannot be used now, without secrets; null when it can. */
  readonly error: string | null;
}

export interface OpenOptions extends FunctionsOptions {
  /** Asks the server for its tools, also when they are known. Default: false. */
  readonly isAnew?: boolean;
  readonly namedBy: NamedBy;
}

const descriptionCharsMax = 1_000;

/**
 * Lists a server's tools and makes the allowed ones callable. A server that does not answer gives none: the model reads so,
 * and the caller why.
 *
 * @throws the reason of the run's signal.
 */
export async function openServer(options: OpenOptions): Promise<OpenedServer> {
  const { servers, endpoint, run, listed: listedTools, allowed: allowedTools, namedBy, serverDescription, isAnew } = options;
  try {
    // A caller's list is as foreign as a server's.
    const mcpTools =
      listedTools === undefined ? await servers.tools(endpoint, run.plan.charge, run.signal, isAnew) : readTools(listedTools);
    const functions = createFunctions(mcpTools, options);
    const notes = [
      ...(typeof serverDescription === 'string' && serverDescription.trim() !== ''
        ? [`What the MCP server ${endpoint.name} is for: ${serverDescription.trim().slice(0, descriptionCharsMax)}`]
        : []),
      ...(mcpTools.leftOut > 0
        ? [`The MCP server ${endpoint.name} has ${mcpTools.leftOut} more tools, which are not offered.`]
        : []),
    ];
    const warnings = unknownNames(endpoint.name, namedBy, allowedTools, mcpTools.tools);
    return {
      functions,
      found: mcpTools,
      error: null,
      warnings,
      ...(notes.length === 0 ? {} : { instructions: notes.join('\n') }),
    };
  } catch (error) {
    run.signal.throwIfAborted();
    if (!(error instanceof DomainError)) throw error;
    const reason = masker(listEndpointSecrets(endpoint))(error.message);
    // The server's own words stay out of the instructions. What the person of the run has to do is in ours.
    const isOwn = endpoint.kind === 'http' && endpoint.token?.ownerUserId === run.plan.charge.userId;
    const connectUrl = isOwn && 'connectUrl' in error ? error.connectUrl : undefined;
    const next = typeof connectUrl === 'string' ? ` The user has to sign in to it at ${connectUrl} first.` : '';
    const instructions = `The tools of the MCP server ${endpoint.name} are not available now. If the task needs them, say so.${next}`;
    // Where its author's server stands is not for everybody who asks an agent.
    const warnings = [serverUnavailable(endpoint.name, namedBy, namedBy === 'request' || next !== '' ? reason : undefined)];
    return { functions: [], found: undefined, error: reason, warnings, instructions };
  }
}
