import type { AgentToolType } from '../../entities/agents/part.ts';
import { authMembers, credentialMembers } from './api-function/api-function.ts';

const ofEveryTool = ['description', 'requireApproval'] as const;

/** The members that the data of a tool may have. Any other is refused: one that was stored without effect, such as a mistyped `requireApproval`, would pass for a rule. */
export const toolDataMembers: Readonly<Record<AgentToolType, readonly string[]>> = {
  API_FUNCTION: [...ofEveryTool, 'parameters', 'method', 'url', 'headers', 'query', 'body', 'auth', 'idempotent'],
  CLIENT_FUNCTION: [...ofEveryTool, 'parameters'],
  MCP_SERVER: [
    ...ofEveryTool,
    ...['server', 'url', 'headers', 'auth', 'allowedTools', 'allowed_tools'],
    // Of programs, which an agent may hold for another installation; here they have a warning.
    ...['command', 'args', 'env', 'cwd', 'transport', 'type'],
  ],
};

/** The members of `auth`: how the credential is sent, and the credential. */
export const authDataMembers: readonly string[] = [...authMembers, ...credentialMembers];
