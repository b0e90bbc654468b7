import type { DeclaredRoute } from '../route.ts';
import { agentRoutes } from './agents/agents.ts';
import { agentCatalogRoutes } from './agents/catalog.ts';
import { grantRoutes } from './agents/grants.ts';
import { guardRoutes } from './agents/guards.ts';
import { agentPartRoutes } from './agents/parts.ts';
import { agUiRoutes } from './conversations/ag-ui.ts';
import { chatBinRoutes } from './conversations/chats/bin.ts';
import { chatRoutes } from './conversations/chats/chats.ts';
import { chatFileRoutes } from './conversations/chats/files.ts';
import { chatImportRoutes } from './conversations/chats/imports.ts';
import { chatPlaceRoutes } from './conversations/chats/places.ts';
import { chatShareRoutes } from './conversations/chats/shares.ts';
import { completionRoutes } from './conversations/completions.ts';
import { conversationRoutes } from './conversations/conversations.ts';
import { evaluationRoutes } from './conversations/evaluation.ts';
import { fileRoutes } from './conversations/files.ts';
import { memoryRoutes } from './conversations/memories.ts';
import { messagesRoutes } from './conversations/messages.ts';
import { projectRoutes } from './conversations/projects.ts';
import { promptRoutes } from './conversations/prompts.ts';
import { responseRoutes } from './conversations/responses.ts';
import { runRoutes } from './conversations/runs.ts';
import { uploadRoutes } from './conversations/uploads.ts';
import { connectionRoutes } from './knowledge/connections.ts';
import { embeddingRoutes } from './knowledge/embeddings.ts';
import { mcpOauthClientRoutes } from './knowledge/mcp-oauth-clients.ts';
import { permissionRoutes } from './knowledge/permissions.ts';
import { searchRoutes } from './knowledge/search.ts';
import { dataSourceKindRoutes } from './knowledge/source-kinds.ts';
import { dataSourceRoutes } from './knowledge/sources.ts';
import { vectorStoreRoutes } from './knowledge/vector-stores.ts';
import { budgetRoutes } from './operations/budgets.ts';
import { agentBundleRoutes } from './operations/bundles.ts';
import { ownershipRoutes } from './operations/ownership.ts';
import { savedDocumentRoutes } from './operations/saved-documents.ts';
import { usageRoutes } from './operations/usage.ts';
import { webhookRoutes } from './operations/webhooks.ts';
import { administrationRoutes } from './people/accounts.ts';
import { apiKeyRoutes } from './people/api-keys.ts';
import { groupRoutes } from './people/groups.ts';
import { invitationRoutes } from './people/invitations.ts';
import { signInRoutes } from './people/sign-in.ts';

/** Every REST operation. A feature adds its routes here, one line each. */
export const allRoutes: readonly DeclaredRoute[] = [
  ...agentRoutes,
  ...agentCatalogRoutes,
  ...agentPartRoutes,
  ...agentBundleRoutes,
  ...chatRoutes,
  ...chatPlaceRoutes,
  ...chatBinRoutes,
  ...chatFileRoutes,
  ...chatShareRoutes,
  ...chatImportRoutes,
  ...completionRoutes,
  ...messagesRoutes,
  ...agUiRoutes,
  ...responseRoutes,
  ...conversationRoutes,
  ...embeddingRoutes,
  ...evaluationRoutes,
  ...fileRoutes,
  ...uploadRoutes,
  ...vectorStoreRoutes,
  ...dataSourceRoutes,
  ...permissionRoutes,
  ...dataSourceKindRoutes,
  ...searchRoutes,
  ...groupRoutes,
  ...apiKeyRoutes,
  ...signInRoutes,
  ...invitationRoutes,
  ...ownershipRoutes,
  ...usageRoutes,
  ...administrationRoutes,
  ...budgetRoutes,
  ...savedDocumentRoutes,
  ...webhookRoutes,
  ...connectionRoutes,
  ...mcpOauthClientRoutes,
  ...grantRoutes,
  ...guardRoutes,
  ...memoryRoutes,
  ...projectRoutes,
  ...promptRoutes,
  ...runRoutes,
];
