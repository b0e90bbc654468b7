import type { RouteRow } from '../route.ts';
import { administrationRoutes } from './administration.ts';
import { agentBundleRoutes } from './agent-bundles.ts';
import { agentCatalogRoutes } from './agent-catalog.ts';
import { agentPartRoutes } from './agent-parts.ts';
import { agentRoutes } from './agents.ts';
import { apiKeyRoutes } from './api-keys.ts';
import { chatFileRoutes } from './chat-files.ts';
import { chatRoutes } from './chats.ts';
import { completionRoutes } from './completions.ts';
import { connectionRoutes } from './connections.ts';
import { dataSourceKindRoutes } from './data-source-kinds.ts';
import { dataSourceRoutes } from './data-sources.ts';
import { groupRoutes } from './groups.ts';
import { responseRoutes } from './responses.ts';
import { usageRoutes } from './usage.ts';

/** Every REST operation. A feature adds its rows here, one line each. */
export const allRoutes: readonly RouteRow[] = [
  ...agentRoutes,
  ...agentCatalogRoutes,
  ...agentPartRoutes,
  ...agentBundleRoutes,
  ...chatRoutes,
  ...chatFileRoutes,
  ...completionRoutes,
  ...responseRoutes,
  ...dataSourceRoutes,
  ...dataSourceKindRoutes,
  ...groupRoutes,
  ...apiKeyRoutes,
  ...usageRoutes,
  ...administrationRoutes,
  ...connectionRoutes,
];
