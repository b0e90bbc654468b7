import { z } from 'zod';
import { allowanceGrammar, parseAllowance, parseRanges, rangesGrammar } from './engine/egress/allowance.ts';
import { dnsServersGrammar, parseDnsServers } from './engine/egress/dns-servers.ts';
import { noProxyGrammar, parseNoProxy, parseProxy, proxyGrammar } from './engine/egress/proxies.ts';
import { headerListGrammar, parseHeaderList } from './engine/tracing/header-list.ts';
import { withSecretFiles } from './lib/files/secret-files.ts';
import { corsOriginsGrammar, parseCorsOrigins } from './lib/settings/cors-origins.ts';
import { type OidcProviderSettings, oidcSecretNames, readOidcProviders } from './lib/settings/oidc-settings.ts';
import { processCountGrammar, processCountPattern } from './lib/settings/process-count.ts';
import {
  chooseOne,
  count,
  days,
  describeAllowed,
  match,
  optionalDatabaseUrl,
  optionalMatch,
  optionalPort,
  optionalText,
  optionalUrl,
  part,
  rate,
  readBy,
  text,
  timeMs,
  url,
  whole,
} from './lib/settings/setting-kinds.ts';
import { displayValue } from './lib/text/display-value.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { blobAddressGrammar, parseBlobAddress } from './storage/blobs/address.ts';
import { parseSearchIndexAddress, searchIndexGrammar } from './storage/knowledge/search-index/opensearch/address.ts';

const MiB = 1024 * 1024;
const web = ['http:', 'https:'];

/** Every setting that an operator may want to change, unit in its name. What fits every installation stands in `limits.ts`. No other file reads `process.env`. `docs/configuration.md` is printed from this. */
export const settingsSchema = z.object({
  HOST: text('127.0.0.1', 'an address or a name of this machine; 0.0.0.0 or :: listens on all').describe('Listen address.'),
  PORT: whole(4000, 0, 65_535).describe('TCP port; 0 takes any free one and prints it.'),
  PUBLIC_URL: optionalUrl(web, 'https://parley.example.com').describe(
    'Base of links that Parley hands out. Default: made from HOST and PORT.',
  ),
  PROCESSES: match('1', processCountPattern, processCountGrammar).describe(
    'Processes that share PORT and serve, so that all cores of the machine work; auto: one for each core. Each counts as an instance: memory, connections and limits of a process are its own (docs/scaling.md).',
  ),
  CORS_ORIGINS: readBy(parseCorsOrigins, corsOriginsGrammar).describe(
    'Web pages that may call the service from a browser. Default: only pages of its own origin.',
  ),
  DATA_DIR: text('./data', 'a folder that this process may write to, on a real disk').describe(
    'Embedded database, blobs, generated master key (mode 0600).',
  ),
  DATABASE_URL: optionalDatabaseUrl().describe('PostgreSQL server. Default: the embedded database in DATA_DIR.'),
  DATABASE_DIRECT_URL: optionalDatabaseUrl().describe(
    'The database of DATABASE_URL without the pooler in between: for notifications, and for migrations.',
  ),
  DATABASE_PREPARED_STATEMENTS: chooseOne(['on', 'off'], 'on').describe(
    'off: behind a pooler in transaction mode that loses prepared statements, such as PgBouncer before 1.21.',
  ),
  DATABASE_POOL_MAX: count(10).describe('Connections to the database.'),
  REDIS_URL: optionalUrl(['redis:', 'rediss:'], 'rediss://user:password@redis.example.com:6379').describe(
    'Redis 6.2 or Valkey, for many instances on one DATABASE_URL: live events, signals and limits go through it (docs/redis.md). Default: they go through the database.',
  ),
  DISK_FREE_MIN_BYTES: count(16 * MiB).describe(
    'With less free space than this on the disk of DATA_DIR or of the blobs, writes answer 507 and /readyz answers 503.',
  ),
  BLOB_URL: readBy(parseBlobAddress, blobAddressGrammar).describe(
    'Where blobs live: a folder, or an S3-compatible store, which several instances share. Default: file://DATA_DIR/blobs.',
  ),
  AWS_ACCESS_KEY_ID: optionalText('the id of a key of the store').describe('Only with a BLOB_URL of S3.'),
  AWS_SECRET_ACCESS_KEY: optionalText('the secret of that key').describe('Only with a BLOB_URL of S3.'),
  AWS_SESSION_TOKEN: optionalText('the token of a temporary key').describe('Only with a temporary key.'),
  AWS_REGION: optionalMatch(/^[a-z0-9-]+$/, 'a region such as eu-central-1').describe(
    'Region of the bucket, unless BLOB_URL has one. Default: us-east-1, which other stores than AWS ignore.',
  ),
  PARLEY_ADMIN_KEY: optionalMatch(/^[\x21-\x7e]{32,200}$/, '32 to 200 printable characters without blanks').describe(
    'The first key. Default: made at the first start and printed once.',
  ),
  DEMO: chooseOne(['on', 'off'], 'on').describe('off: the first start makes no demo agent.'),
  PARLEY_MASTER_KEY: optionalMatch(
    /^[^,]{16,}(?:,[^,]{16,})*$/,
    'a secret text of 16 characters or more, or several with commas',
  ).describe('Encrypts stored secrets. Of several values the first encrypts, all decrypt. Default: made in DATA_DIR.'),
  OPENAI_API_KEY: optionalText('a key of the provider').describe('Switches on the OpenAI models.'),
  OPENAI_BASE_URL: optionalUrl(web, 'http://localhost:8000/v1').describe(
    'An OpenAI-compatible address; alone it makes a provider whose /models lists the models.',
  ),
  ANTHROPIC_API_KEY: optionalText('a key of the provider').describe('Switches on the Anthropic models.'),
  ANTHROPIC_BASE_URL: optionalUrl(web, 'https://proxy.example.com/v1').describe('Another address that speaks the Anthropic API.'),
  GOOGLE_API_KEY: optionalText('a key of the provider').describe('Switches on the Google models.'),
  GOOGLE_BASE_URL: optionalUrl(web, 'https://proxy.example.com/v1beta').describe('Another address that speaks the Google API.'),
  OLLAMA_BASE_URL: optionalUrl(web, 'http://localhost:11434').describe('An Ollama server.'),
  MODELS_FILE: optionalText('the path of a JSON file').describe(
    'JSON file with further providers (clouds by the identity of the workload too), routes with fallbacks, prices and limits (docs/models-file.md).',
  ),
  COST_CURRENCY: match('USD', /^[A-Z]{3}$/, 'three capital letters of ISO 4217, such as EUR').describe(
    'The currency of the prices in MODELS_FILE, and so of every cost that is shown. Nothing is converted.',
  ),
  DEFAULT_MODEL: optionalText('the id of a model that is there, such as openai/gpt-5 or parley/offline').describe(
    'What agents without a model use. Default: the first available.',
  ),
  EMBEDDING_MODEL: optionalMatch(/^[^/\s]+\/\S+$/, 'a provider and a model such as openai/text-embedding-3-small').describe(
    'Makes embeddings: `provider/name` of an OpenAI-compatible provider.',
  ),
  EMBEDDING_DIMENSIONS: optionalMatch(/^[1-9]\d{0,3}$/, 'a whole number from 1 to 9999').describe(
    'Dimensions to ask the embedding model for, at most 4,000. Default: as many as it makes.',
  ),
  SEARCH_INDEX_URL: readBy(parseSearchIndexAddress, searchIndexGrammar).describe(
    'An OpenSearch that answers searches for passages; the last part is the prefix of its indexes. Default: the database answers them (docs/search-index.md).',
  ),
  SEARCH_INDEX_TIMEOUT_MS: timeMs(1_000).describe(
    'The database answers a search that the search index has not answered by then.',
  ),
  SEARCH_INDEX_SHARDS: whole(1, 1, 1_024).describe('Shards of the next search index that is built.'),
  RERANK_URL: optionalUrl(web, 'https://rerank.example.com/v1/rerank').describe(
    'The whole address of a reranker, which sorts the best 50 passages of a search (docs/knowledge.md).',
  ),
  RERANK_API_KEY: optionalText('a key of the reranker').describe('Sent to it as a bearer token.'),
  RERANK_MODEL: optionalText('a model of the reranker').describe('Sent to it as `model`.'),
  IMAGE_MODEL: optionalMatch(
    /^[^/\s,]+\/[^\s,]+( *, *[^/\s,]+\/[^\s,]+)*$/,
    'a provider and a model such as openai/gpt-image-1, or several with commas between them',
  ).describe(
    'Makes images: `provider/name` of an OpenAI-compatible provider or of Google. Of several the first is the default; requests may ask for the others.',
  ),
  GOOGLE_CLIENT_ID: optionalText('the id of an OAuth client').describe(
    'With its secret: people connect Google Drive in the browser.',
  ),
  GOOGLE_CLIENT_SECRET: optionalText('the secret of that client').describe('Belongs to GOOGLE_CLIENT_ID.'),
  GOOGLE_API_URL: url(web, 'https://www.googleapis.com').describe('Google Drive is at /drive/v3 below it.'),
  GOOGLE_AUTHORIZE_URL: url(web, 'https://accounts.google.com/o/oauth2/v2/auth').describe(
    'Where people allow Google Drive to be read.',
  ),
  GOOGLE_TOKEN_URL: url(web, 'https://oauth2.googleapis.com/token').describe('Where tokens of Google Drive are renewed.'),
  MICROSOFT_CLIENT_ID: optionalText('the id of an OAuth client').describe(
    'With its secret: people connect OneDrive in the browser.',
  ),
  MICROSOFT_CLIENT_SECRET: optionalText('the secret of that client').describe('Belongs to MICROSOFT_CLIENT_ID.'),
  MICROSOFT_API_URL: url(web, 'https://graph.microsoft.com/v1.0').describe('Microsoft Graph, for drives.'),
  MICROSOFT_AUTHORIZE_URL: url(web, 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize').describe(
    'Where people allow OneDrive to be read.',
  ),
  MICROSOFT_TOKEN_URL: url(web, 'https://login.microsoftonline.com/common/oauth2/v2.0/token').describe(
    'Where tokens of OneDrive are renewed.',
  ),
  ATLASSIAN_CLIENT_ID: optionalText('the id of an OAuth client').describe(
    'With its secret: people connect Confluence and Jira in the browser.',
  ),
  ATLASSIAN_CLIENT_SECRET: optionalText('the secret of that client').describe('Belongs to ATLASSIAN_CLIENT_ID.'),
  ATLASSIAN_API_URL: url(web, 'https://api.atlassian.com').describe('Confluence and Jira are at /ex/… below it.'),
  ATLASSIAN_AUTHORIZE_URL: url(web, 'https://auth.atlassian.com/authorize').describe(
    'Where people allow Confluence and Jira to be read.',
  ),
  ATLASSIAN_TOKEN_URL: url(web, 'https://auth.atlassian.com/oauth/token').describe(
    'Where tokens of Confluence and Jira are renewed.',
  ),
  CONNECT_PERMISSION_SCOPES: chooseOne(['on', 'off'], 'off').describe(
    'on: whoever connects an account is also asked for the rights to read who may open what there. Of some, an administrator of the service has to agree (docs/permissions.md).',
  ),
  PERMISSION_SYNC_MINUTES: whole(15, 1, 1_440).describe(
    'How often it is read who may open what at the services, in sources that mirror that. Services that tell of changes are asked each minute (docs/permissions.md).',
  ),
  GITHUB_API_URL: url(web, 'https://api.github.com').describe('The repository host.'),
  GITHUB_APP_ID: optionalText('the number of a GitHub App').describe('With its private key: repositories can be read.'),
  GITHUB_APP_SLUG: optionalText('the name of that App in addresses').describe('Where people install it.'),
  GITHUB_APP_PRIVATE_KEY: optionalText('a key in PEM, or the path of its file').describe('Signs for the App.'),
  GITHUB_CLIENT_ID: optionalText('the client id of the App').describe(
    'With its secret: people show which installations are theirs.',
  ),
  GITHUB_CLIENT_SECRET: optionalText('the client secret of the App').describe('Belongs to GITHUB_CLIENT_ID.'),
  CRAWL_USER_AGENT: optionalMatch(/^[\x20-\x7e]{1,200}$/, 'a name of printable ASCII characters').describe(
    'What the crawler calls itself. Default: Parley/<version>, and PUBLIC_URL when it is set.',
  ),
  PERMISSION_MAX_AGE_HOURS: whole(24, 1, 8_760).describe(
    'How long the permissions of a MIRRORED source count after they were last read. Then its documents are open to nobody (docs/permissions.md).',
  ),
  CRAWL_HOST_CONCURRENCY: whole(2, 1, 16).describe('Requests of the crawler to one host at one time.'),
  CRAWL_DELAY_MS: whole(0, 0, 60_000).describe(
    'Least time between two requests to one host; a longer crawl-delay of its robots.txt counts.',
  ),
  EGRESS_ALLOW: readBy(parseAllowance, allowanceGrammar).describe(
    'Private targets that URLs from users may reach. A named host is allowed whatever it resolves to.',
  ),
  EGRESS_DNS_SERVERS: readBy(parseDnsServers, dnsServersGrammar).describe(
    'Name servers that look up the hosts of URLs from users. Default: those of the system.',
  ),
  HTTPS_PROXY: readBy((text) => parseProxy(text, 'HTTPS_PROXY'), proxyGrammar).describe(
    'The proxy for https addresses of model providers, services, tools, crawls and webhooks; https_proxy is read too (docs/deployment.md).',
  ),
  HTTP_PROXY: readBy((text) => parseProxy(text, 'HTTP_PROXY'), proxyGrammar).describe(
    'The same for http addresses; http_proxy is read too.',
  ),
  NO_PROXY: readBy(parseNoProxy, noProxyGrammar).describe(
    'What is called without the proxy; no_proxy is read too. This machine never goes through it.',
  ),
  PROXY_LOOKUP: chooseOne(['service', 'proxy'], 'service').describe(
    'Who looks up the hosts of URLs from users that go through a proxy. service: Parley checks their addresses and gives the proxy an address. proxy: the proxy gets the name, and must refuse private addresses.',
  ),
  METRICS_PORT: optionalPort().describe(
    'A port of HOST that serves /metrics, and nothing else; PORT does not serve it then. Default: PORT serves it.',
  ),
  LOG_LEVEL: chooseOne(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info').describe(
    'Least severe log shown.',
  ),
  LOG_FORMAT: chooseOne(['auto', 'pretty', 'json'], 'auto').describe('auto: pretty on a terminal, else json.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalUrl(web, 'http://localhost:4318').describe(
    'An OpenTelemetry collector (OTLP over HTTP), which gets traces at /v1/traces below this address. Default: no traces.',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: readBy(parseHeaderList, headerListGrammar).describe('Headers of requests to the collector.'),
  OTEL_SERVICE_NAME: text('parley', 'a name').describe('What traces call this service.'),
  OTEL_TRACES_SAMPLER: chooseOne(
    ['always_on', 'always_off', 'traceidratio', 'parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'],
    'parentbased_always_on',
  ).describe('Which traces are recorded. parentbased: as the traceparent of the request says, else by the rest of the name.'),
  OTEL_TRACES_SAMPLER_ARG: part(1).describe('Only with traceidratio: the part of the traces that is recorded.'),
  OTEL_SDK_DISABLED: chooseOne(['true', 'false'], 'false').describe('true: no traces, whatever the other settings say.'),
  ROLE: chooseOne(['all', 'web', 'worker'], 'all').describe('What this process does: serve, work through jobs, or both.'),
  BODY_MAX_BYTES: count(8 * MiB).describe('Largest JSON body.'),
  UPLOAD_MAX_BYTES: count(50 * MiB).describe('Largest file of a data source.'),
  CHAT_FILE_MAX_BYTES: count(5 * MiB).describe('Largest chat file.'),
  SIGN_IN: chooseOne(['all', 'oidc'], 'all').describe(
    'oidc: people sign in by the providers of OIDC_… only; passwords, passkeys and invitations are off. Links of administrators work always.',
  ),
  SMTP_URL: optionalUrl(['smtp:', 'smtps:'], 'smtp://user:password@mail.example.com:587').describe(
    'Sends invitations by mail (docs/sign-in.md). smtps:// is TLS from the start; smtp:// asks for STARTTLS, and insists on it where a password is sent to another machine.',
  ),
  SMTP_FROM: optionalMatch(/^[^\r\n]{1,200}@[^\r\n]{1,200}$/, 'an address such as Parley <parley@example.com>').describe(
    'Whom mail is from. Needed with SMTP_URL.',
  ),
  TRUSTED_USER_HEADER: optionalMatch(
    /^(?!(?:authorization|cookie|host|origin|from|forwarded|user-agent|x-forwarded-for|x-forwarded-proto|x-request-id)$)[a-z][a-z0-9-]{2,60}$/i,
    'the name of a header that your proxy sets, such as X-Forwarded-Email',
  ).describe('In it an authenticating proxy names the person by e-mail (docs/sign-in.md). Needs TRUSTED_USER_PROXIES.'),
  TRUSTED_USER_PROXIES: readBy((text) => parseRanges('TRUSTED_USER_PROXIES', text), rangesGrammar).describe(
    'The direct peers of this service whose TRUSTED_USER_HEADER counts. Whoever sends from there is whoever they say.',
  ),
  TRUSTED_USER_ORGANIZATION: optionalMatch(/^org_[0-9a-z]{26}$/, 'the id of an organization').describe(
    'The organization whose members TRUSTED_USER_HEADER names at a browser. Needed as soon as there are two tenants; with a key, the key names it.',
  ),
  OAUTH_CLIENTS: chooseOne(['all', 'documents', 'off'], 'all').describe(
    'Which clients people may connect to /mcp by OAuth (docs/mcp.md). all: also those that register themselves; documents: only those whose id is the address of a metadata document; off: no new ones. Connected ones go on.',
  ),
  SESSION_DAYS: days(30).describe('A browser stays signed in for so long after it was last used (docs/sign-in.md).'),
  AUDIT_RETENTION_DAYS: days(365).describe(
    'Age at which entries of the audit log are deleted. Organizations may choose another (docs/data-life.md).',
  ),
  AUDIT_SINK_URL: readBy(readSinkUrl, 'an address such as https://siem.example.com/parley').describe(
    'Every entry of the audit log is sent there, signed (docs/audit.md). Needs AUDIT_SINK_SECRET.',
  ),
  AUDIT_SINK_SECRET: optionalMatch(
    /^whsec_[A-Za-z0-9+/]{32,200}={0,2}(?:,whsec_[A-Za-z0-9+/]{32,200}={0,2})*$/,
    'whsec_ and 24 or more random bytes in base64, or several with commas',
  ).describe('Signs what is sent to AUDIT_SINK_URL. Of several values each signs, so that the receiver can change.'),
  RUN_EVENTS_RETENTION_DAYS: days(30).describe(
    'The events of a run are deleted this long after its end; the messages and the response stay. Organizations may choose another.',
  ),
  CHAT_RETENTION_DAYS: whole(0, 0, 36_500).describe(
    'Chats are deleted this long after their last change. 0: not before somebody deletes them. Organizations may choose another.',
  ),
  CHAT_BIN_DAYS: whole(30, 0, 36_500).describe(
    'A chat that its user deletes can be restored for so long, unless CHAT_RETENTION_DAYS or the choice of the organization ends before. 0: it is deleted at once.',
  ),
  RUN_RETENTION_DAYS: whole(0, 0, 36_500).describe(
    'Runs and stored responses are deleted this long after their end. 0: not before somebody deletes them. Organizations may choose another.',
  ),
  USAGE_RETENTION_DAYS: whole(0, 0, 36_500).describe(
    'Age at which the single calls of the usage ledger are deleted; its sums by day stay. 0: they are kept. Organizations may choose another.',
  ),
  AGENT_VERSION_RETENTION_DAYS: whole(90, 0, 36_500).describe(
    'Versions of an agent that nothing names are deleted at this age, but for its newest 100 (docs/versions.md). 0: they are kept.',
  ),
  CHAT_TITLES: chooseOne(['words', 'model'], 'words').describe(
    'model: the model that gave the first answer of a chat names it, in a call of a few tokens that its person is charged for. words: the first words of the question name it (docs/chats.md).',
  ),
  SHARE_WITH_ANYONE: chooseOne(['on', 'off'], 'off').describe(
    'on: people may share a chat by a link that opens without a sign-in (docs/chats.md). off also stops the links that were made before.',
  ),
  SCHEDULES_MAX: count(50).describe('Schedules of one person in one organization (docs/schedules.md).'),
  SCHEDULE_INTERVAL_MIN_MS: timeMs(300_000, 86_400_000).describe(
    'The shortest time between two runs of a schedule; a cron expression with a shorter one is refused.',
  ),
  RUN_TIMEOUT_MS: timeMs(600_000).describe('A model run is cut off after this.'),
  SEARCH_URL: optionalUrl(web, 'https://searx.example.com').describe(
    'Base address of the search service of web_search. Default: web_search is off.',
  ),
  SEARCH_API_KEY: optionalText('a key of the search service').describe('Key for SEARCH_URL, where it wants one.'),
  SEARCH_PROVIDER: chooseOne(['searxng', 'brave', 'tavily'], 'searxng').describe('How SEARCH_URL and X_SEARCH_URL are asked.'),
  X_SEARCH_URL: optionalUrl(web, 'https://x-search.example.com').describe(
    'The same for posts of a social network. Default: includeXSearch is refused.',
  ),
  X_SEARCH_API_KEY: optionalText('a key of that service').describe('Key for X_SEARCH_URL, where it wants one.'),
  PYTHON_MEMORY_MAX_BYTES: count(512 * MiB).describe('Memory that one program may take, its interpreter included.'),
  PYTHON_STATE_TTL_MS: timeMs(3_600_000).describe(
    'Variables of programs are kept for the next program of the chat for this long.',
  ),
  MODEL_FIRST_TOKEN_TIMEOUT_MS: timeMs(120_000).describe(
    'Time until the first token of an answer, or the whole of one that comes in one piece. The next model of a route is asked then.',
  ),
  PROMPT_CACHE_LIFE: chooseOne(['5m', '1h', 'off'], '5m').describe(
    'How long Anthropic keeps the instructions and the conversation for the next request, which then pays a tenth for them; to keep costs a quarter more, for 1h twice. off: nothing is marked to be kept.',
  ),
  PROMPT_CACHE_BY_CHAT: chooseOne(['openai', 'all', 'off'], 'openai').describe(
    'Which servers of the common format get prompt_cache_key, the same for all requests of a chat: OpenAI, all (some refuse members that they do not know), or none. A key that a caller names is always sent.',
  ),
  TOOL_ROUNDS_MAX: count(16).describe('Model calls in one run; the service calls tools between them.'),
  MCP_SERVERS_FILE: optionalText('the path of a JSON file').describe(
    'JSON file with MCP servers: programs of this machine, or addresses (docs/tools.md).',
  ),
  TRUSTED_DOCUMENTS: chooseOne(['off', 'sessions', 'only'], 'off').describe(
    "Whose documents of GraphQL must be trusted: documents of the console, or saved by the organization (docs/graphql.md). off: nobody's; sessions: those of browsers that are signed in, so that GraphiQL needs a key; only: everybody's.",
  ),
  MCP_PUBLIC_AGENTS: chooseOne(['on', 'off'], 'off').describe(
    "on: /mcp also lists agents of other organizations that a key may use; off: those of the key's organization.",
  ),
  RUNS_ACTIVE_MAX: count(10_000).describe('Runs at one time in this process; more answer 503.'),
  RATE_LIMIT_REQUESTS_PER_MINUTE_KEY: rate(1_200_000).describe(
    'Requests that one key may make in a minute, at all instances together; more answer 429. 0: no limit.',
  ),
  RATE_LIMIT_REQUESTS_PER_MINUTE_ORGANIZATION: rate(2_400_000).describe('The same for all keys of one organization.'),
  TRUSTED_PROXY_HOPS: whole(0, 0, 10).describe('Number of your proxies that append to X-Forwarded-For; 0 ignores that header.'),
  SHUTDOWN_GRACE_MS: timeMs(20_000).describe(
    'Time for replies in flight to end after SIGTERM. Active runs are stopped a little before its end, so that their streams end properly.',
  ),
  INDEX_CONCURRENCY: count(2).describe(
    'Items of one tenant indexed at one time in this process; one more may be of another tenant.',
  ),
  EXTRACT_MEMORY_MAX_BYTES: count(300 * MiB).describe(
    'Memory that reading one document may take: the default is enough for some 500,000 filled cells of a workbook.',
  ),
  RETRIEVAL_VECTOR_WEIGHT: part(0.5).describe(
    'How much meaning counts in a search, against words: 0 words alone, 1 meaning alone. A weak EMBEDDING_MODEL needs a lower one.',
  ),
  QUERY_REWRITE_MODEL: optionalMatch(/^[^/\s]+\/\S+$/, 'a provider and a model such as openai/gpt-4o-mini').describe(
    'The model that writes out questions which continue a conversation, before knowledge is searched. Default: they are searched with words of the messages before.',
  ),
});
/** What the operator chose, and beside it the limits that nobody chooses. */
export type Settings = Readonly<z.infer<typeof settingsSchema>> &
  Limits & {
    /** From OIDC_<NAME>_…, by name. */
    readonly oidcProviders: readonly OidcProviderSettings[];
  };

/** Settings whose value is a secret. Each may stand in a file, which `NAME_FILE` names. */
export const secretSettings: readonly string[] = Object.keys(settingsSchema.shape).filter((name) =>
  /_API_KEY$|_ACCESS_KEY$|_PRIVATE_KEY$|^PARLEY_.*_KEY$|_SECRET$|_TOKEN$|_HEADERS$|^DATABASE_(?:DIRECT_)?URL$|^REDIS_URL$|^HTTPS?_PROXY$|^SMTP_URL$|^AUDIT_SINK_URL$|^SEARCH_INDEX_URL$/.test(
    name,
  ),
);

/** Settings that cannot be used. Its message names all of them, one a line. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  /** A sentence each, with the name of the setting first. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['bad settings:', ...problems.map((problem) => `  ${problem}`)].join('\n'));
    this.problems = problems;
  }
}

/**
 * @param limits  replace their defaults; only tests give some.
 * @throws SettingsError naming every bad setting at once, so one restart fixes them all.
 */
export function loadSettings(env: NodeJS.ProcessEnv, limits: Partial<Limits> = {}): Settings {
  const { env: all, problems } = given(env);
  const result = settingsSchema.safeParse(all);
  const isRefused = problems.length > 0 || problemsOfSignIn(all).length > 0 || problemsOfAuditSink(all).length > 0;
  if (!result.success || isRefused) throw new SettingsError(settingsProblems(env));
  const oidcProviders = readOidcProviders(all).providers;
  return Object.freeze({ ...defaultLimits, ...limits, ...result.data, oidcProviders });
}

/** What is wrong with the settings, a sentence each; empty when all can be used, also together. */
export function settingsProblems(env: NodeJS.ProcessEnv): readonly string[] {
  const { env: all, problems } = given(env);
  const { error } = settingsSchema.safeParse(all);
  const namedProblems = new Map<string, string>();
  for (const issue of error?.issues ?? []) {
    const name = String(issue.path[0]);
    if (!namedProblems.has(name)) namedProblems.set(name, describeProblem(name, issue, all[name] ?? ''));
  }
  return [
    ...problems,
    ...namedProblems.values(),
    ...problemsOfSignIn(all),
    ...problemsOfAuditSink(all),
    ...problemsTogether(all),
  ];
}

/** The settings that can be used, and defaults in place of the others: for what is checked beside them. */
export function usableSettings(env: NodeJS.ProcessEnv): { readonly settings: Settings; readonly bad: ReadonlySet<string> } {
  const { env: all } = given(env);
  const { error } = settingsSchema.safeParse(all);
  const bad = new Set((error?.issues ?? []).map(({ path }) => String(path[0])));
  const settings = settingsSchema.parse(Object.fromEntries(Object.entries(all).filter(([name]) => !bad.has(name))));
  return { settings: { ...defaultLimits, ...settings, oidcProviders: readOidcProviders(all).providers }, bad };
}

/** The environment with the secrets of files. A variable without a text is one that is not set: files of services and containers write it so. */
function given(environment: NodeJS.ProcessEnv): ReturnType<typeof withSecretFiles> {
  const names = [...secretSettings, ...oidcSecretNames(environment)];
  const { env: all, problems } = withSecretFiles(withProxies(environment), names);
  return { env: Object.fromEntries(Object.entries(all).filter(([, value]) => value?.trim() !== '')), problems };
}

/** Settings that are also read in lower case, as other programs do. Where both are set, the one in capitals counts. */
export const settingsInEitherCase: readonly string[] = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'];

function withProxies(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = settingsInEitherCase.filter(
    (name) => [undefined, ''].includes(env[name]?.trim()) && env[`${name}_FILE`] === undefined,
  );
  return { ...env, ...Object.fromEntries(names.map((name) => [name, env[name.toLowerCase()]])) };
}

function describeProblem(name: string, issue: z.core.$ZodIssue, value: string): string {
  const says: unknown = issue.code === 'custom' ? issue.params?.says : undefined;
  if (typeof says === 'string') return `${says}.`;
  const schema = (settingsSchema.shape as Readonly<Record<string, z.ZodType>>)[name];
  const description = schema === undefined ? 'something else' : describeAllowed(schema);
  return `${name} must be ${description}, not ${displayValue(name, value)}.`;
}

/** What would let in the wrong people, or nobody: no start goes on with it. */
function problemsOfSignIn(env: NodeJS.ProcessEnv): readonly string[] {
  const { providers, problems } = readOidcProviders(env);
  const isClosed = env.SIGN_IN === 'oidc' && providers.length === 0;
  const isOpen = env.TRUSTED_USER_HEADER !== undefined && env.TRUSTED_USER_PROXIES === undefined;
  const isWithoutHeader = env.TRUSTED_USER_ORGANIZATION !== undefined && env.TRUSTED_USER_HEADER === undefined;
  return [
    ...problems,
    ...(isClosed ? ['SIGN_IN must be all without a provider: set OIDC_<NAME>_ISSUER and OIDC_<NAME>_CLIENT_ID.'] : []),
    ...(isWithoutHeader ? ['TRUSTED_USER_HEADER must be set with TRUSTED_USER_ORGANIZATION: it names the people.'] : []),
    ...(isOpen ? ['TRUSTED_USER_PROXIES must be set with TRUSTED_USER_HEADER: else anybody could be anybody.'] : []),
  ];
}

/** With one of the two nothing would be sent, and nobody would know: no start goes on with it. */
function problemsOfAuditSink({ AUDIT_SINK_URL, AUDIT_SINK_SECRET }: NodeJS.ProcessEnv): readonly string[] {
  if (AUDIT_SINK_URL !== undefined && AUDIT_SINK_SECRET === undefined) {
    const command = 'echo "whsec_$(openssl rand -base64 32)"';
    return [`AUDIT_SINK_SECRET must be set with AUDIT_SINK_URL, here and at the receiver; ${command} makes one.`];
  }
  if (AUDIT_SINK_URL === undefined && AUDIT_SINK_SECRET !== undefined) {
    return ['AUDIT_SINK_URL must be set with AUDIT_SINK_SECRET: the address that takes the entries of the audit log.'];
  }
  return [];
}

/** @throws Error in words for who starts the service. They never show the address, which may have a token. */
function readSinkUrl(text: string): void {
  const url = URL.parse(text);
  if (url === null || !web.includes(url.protocol))
    throw new Error('AUDIT_SINK_URL must be an address such as https://siem.example.com/parley');
  if (url.username !== '' || url.password !== '')
    throw new Error('AUDIT_SINK_URL must have no user and no password: the receiver knows the service by its signature');
}

/** What each setting allows, and its neighbours do not. Whoever uses them says so too. */
function problemsTogether(env: NodeJS.ProcessEnv): readonly string[] {
  const problems: string[] = [];
  if (env.DATABASE_DIRECT_URL !== undefined && env.DATABASE_URL === undefined) {
    problems.push('DATABASE_DIRECT_URL needs DATABASE_URL: it is a second way to the same database.');
  }
  if (env.DATABASE_URL !== undefined && env.PARLEY_MASTER_KEY === undefined) {
    problems.push(
      'PARLEY_MASTER_KEY must be set with DATABASE_URL, and the same for every instance: any secret text of 16 characters or more.',
    );
  }
  if (env.REDIS_URL !== undefined && env.DATABASE_URL === undefined) {
    problems.push('DATABASE_URL must be set with REDIS_URL: the embedded database has one instance, which needs no Redis.');
  }
  if (
    env.BLOB_URL?.startsWith('s3:') === true &&
    (env.AWS_ACCESS_KEY_ID === undefined || env.AWS_SECRET_ACCESS_KEY === undefined)
  ) {
    problems.push('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set with a BLOB_URL of S3.');
  }
  if (env.SMTP_URL !== undefined && env.SMTP_FROM === undefined) {
    problems.push('SMTP_FROM must be set with SMTP_URL: the address that mail is from, such as Parley <parley@example.com>.');
  }
  return problems;
}
