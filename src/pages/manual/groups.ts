import { globSync } from 'node:fs';

/** Pages of one kind, in reading order. */
export interface PageGroup {
  readonly title: string;
  readonly pages: readonly { readonly path: string; readonly label?: string }[];
}

interface DeclaredGroup {
  readonly title: string;
  /** Path below the root of the repository → its name in lists. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Files that no group names, and that belong here. */
  readonly others?: string;
}

const declaredGroups: readonly DeclaredGroup[] = [
  {
    title: 'Start',
    labels: {
      'README.md': 'Quick tour',
      'docs/recipes.md': 'Recipes',
      'docs/openai-clients.md': 'OpenAI clients',
      'docs/cli.md': 'Command line',
    },
  },
  {
    title: 'Guides',
    labels: {
      'docs/agents.md': 'Agents',
      'docs/knowledge.md': 'Knowledge',
      'docs/connections.md': 'Connections',
      'docs/chats.md': 'Chats',
      'docs/completions.md': 'Completions',
      'docs/responses.md': 'Responses',
      'docs/tools.md': 'Tools',
      'docs/flows.md': 'Flows, skills, traces',
      'docs/subscriptions.md': 'Subscriptions',
      'docs/runs.md': 'Run history',
      'docs/schedules.md': 'Schedules',
      'docs/webhooks.md': 'Webhooks',
      'docs/mcp.md': 'MCP',
    },
    others: 'docs/*.md',
  },
  {
    title: 'Administration',
    labels: {
      'docs/deployment.md': 'Deployment',
      'docs/configuration.md': 'Configuration',
      'docs/models-file.md': 'Models file',
      'docs/accounts.md': 'Accounts and keys',
      'docs/sign-in.md': 'Signing in',
      'docs/scim.md': 'SCIM',
      'docs/audit.md': 'Audit log',
      'docs/data-life.md': 'Data retention',
      'docs/scaling.md': 'Growing',
      'docs/redis.md': 'Redis between instances',
      'docs/search-index.md': 'Search index',
      'docs/observability.md': 'Metrics, traces, logs',
      'docs/security.md': 'Security model',
      'SECURITY.md': 'Reporting a vulnerability',
    },
  },
  {
    title: 'Reference',
    labels: {
      'docs/operations.md': 'Operations',
      'docs/graphql.md': 'GraphQL',
      'docs/rest.md': 'REST',
      'docs/architecture.md': 'Architecture',
      'docs/storage.md': 'Storage',
      'docs/add-an-operation.md': 'Adding an operation',
      'CHANGELOG.md': 'Changelog',
    },
  },
  { title: 'Decisions', labels: { 'docs/decisions/README.md': 'About decisions' }, others: 'docs/decisions/*.md' },
];

/**
 * The pages of the manual that are there, by group. A new file appears without being named here: at the end of its group, with its title.
 *
 * @param repository  the folder that paths are relative to.
 */
export function readGroups(repository: string): readonly PageGroup[] {
  const listFiles = (pattern: string) =>
    globSync(pattern, { cwd: repository })
      .map((path) => path.replaceAll('\\', '/'))
      .toSorted();
  const present = new Set([...listFiles('*.md'), ...listFiles('docs/*.md'), ...listFiles('docs/decisions/*.md')]);
  const namedPaths = new Set(declaredGroups.flatMap(({ labels }) => Object.keys(labels ?? {})));
  return declaredGroups.map(({ title, labels = {}, others }) => {
    const orderedPages = Object.entries(labels).flatMap(([path, label]) => (present.has(path) ? [{ path, label }] : []));
    const rest = others === undefined ? [] : listFiles(others).filter((path) => !namedPaths.has(path));
    return { title, pages: [...orderedPages, ...rest.map((path) => ({ path }))] };
  });
}
