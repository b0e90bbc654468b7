import type { DeclaredRoute } from '../route.ts';
import { administrationRoutes } from './accounts.ts';
import { agentRoutes } from './agents/agents.ts';
import { agentCatalogRoutes } from './agents/catalog.ts';
import { grantRoutes } from './agents/grants.ts';
import { agentPartRoutes } from './agents/parts.ts';
import { apiKeyRoutes } from './api-keys.ts';
import { agentBundleRoutes } from './bundles.ts';
import { chatRoutes } from './chats/chats.ts';
import { chatFileRoutes } from './chats/files.ts';
import { completionRoutes } from './completions.ts';
import { conversationRoutes } from './conversations.ts';
import { embeddingRoutes } from './embeddings.ts';
import { fileRoutes } from './files.ts';
import { groupRoutes } from './groups.ts';
import { invitationRoutes } from './invitations.ts';
import { connectionRoutes } from './knowledge/connections.ts';
import { searchRoutes } from './knowledge/search.ts';
import { dataSourceKindRoutes } from './knowledge/source-kinds.ts';
import { dataSourceRoutes } from './knowledge/sources.ts';
import { vectorStoreRoutes } from './knowledge/vector-stores.ts';
import { memoryRoutes } from './memories.ts';
import { ownershipRoutes } from './ownership.ts';
import { responseRoutes } from './responses.ts';
import { runRoutes } from './runs.ts';
import { signInRoutes } from './sign-in.ts';
import { uploadRoutes } from './uploads.ts';
import { usageRoutes } from './usage.ts';
import { webhookRoutes } from './webhooks.ts';

/** Every REST operation. A feature adds its routes here, one line each. */
export const allRoutes: readonly DeclaredRoute[] = [
  ...agentRoutes,
  ...agentCatalogRoutes,
  ...agentPartRoutes,
  ...agentBundleRoutes,
  ...chatRoutes,
  ...chatFileRoutes,
  ...completionRoutes,
  ...responseRoutes,
  ...conversationRoutes,
  ...embeddingRoutes,
  ...fileRoutes,
  ...uploadRoutes,
  ...vectorStoreRoutes,
  ...dataSourceRoutes,
  ...dataSourceKindRoutes,
  ...searchRoutes,
  ...groupRoutes,
  ...apiKeyRoutes,
  ...signInRoutes,
  ...invitationRoutes,
  ...ownershipRoutes,
  ...usageRoutes,
  ...administrationRoutes,
  ...webhookRoutes,
  ...connectionRoutes,
  ...grantRoutes,
  ...memoryRoutes,
  ...runRoutes,
];
