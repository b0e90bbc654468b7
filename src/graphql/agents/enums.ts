import { agentCatalogs, agentListScopes, agentVisibilities, publicCategories } from '../../entities/agents/agent.ts';
import { createEnum } from '../ground/types/enums.ts';

export const AgentVisibilityType = createEnum('AgentVisibility', 'Who may use an agent.', agentVisibilities, {
  PRIVATE: 'Its owner and editors.',
  GROUP: "Also members of the agent's groups.",
  ORGANIZATION: 'Everyone in its organization.',
  ANYONE_WITH_LINK: 'Every caller that has its id, also of other organizations.',
});

export const AgentListScopeType = createEnum('AgentListScope', 'Which agents a list shows.', agentListScopes, {
  PRIVATE: "The caller's own that are private.",
  OWNED: "The caller's own.",
  GROUP: "Those shared with the caller's groups.",
  SHARED: 'Those shared with the caller: as editor, through a group, or used by it in a chat.',
  ORGANIZATION: 'Those visible to the organization.',
  TENANT: 'Those that the catalog of the tenant lists.',
  PUBLIC: 'Those that the public catalog lists.',
  ALL: 'All agents that the caller may see, except those that are visible by link only.',
});

export const AgentCatalogType = createEnum('AgentCatalog', 'A list of agents that people choose from.', agentCatalogs, {
  ORGANIZATION: 'The catalog of its organization.',
  TENANT: 'The catalog of its tenant.',
  PUBLIC: 'The public catalog.',
});

export const PublicCategoryType = createEnum('PublicCategory', 'Where the public catalog lists an agent.', publicCategories, {
  ACCOUNTING_FINANCE: 'Accounting and finance.',
  AI_MODELS: 'Models as they are.',
  ENGINEERING: 'Engineering.',
  HUMAN_RESOURCES: 'Human resources.',
  INFORMATION_TECHNOLOGY: 'Information technology.',
  LEARNING_DEVELOPMENT: 'Learning and development.',
  MARKETING: 'Marketing.',
  PRODUCTIVITY: 'Productivity.',
  SALES: 'Sales.',
  ADVISOR: 'Advisors.',
  FEATURED: 'Agents that a catalog shows first.',
});
