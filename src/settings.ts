import { z } from 'zod';
import { allowanceGrammar, parseAllowance } from './engine/egress/allowance.ts';
import { dnsServersGrammar, parseDnsServers } from './engine/egress/dns-servers.ts';
import { headerListGrammar, parseHeaderList } from './engine/tracing/header-list.ts';
import { corsOriginsGrammar, parseCorsOrigins } from './lib/cors-origins.ts';
import { displayValue } from './lib/display-value.ts';
import {
  allowedOf,
  count,
  days,
  oneOf,
  optionalDatabaseUrl,
  optionalMatch,
  optionalText,
  optionalUrl,
  part,
  percent,
  rate,
  readBy,
  text,
  timeMs,
  url,
  whole,
} from './lib/setting-kinds.ts';
import { blobAddressGrammar, parseBlobAddress } from './storage/blobs/address.ts';

const MiB = 1024 * 1024;
const web = ['http:', 'https:'];

/** Every setting the process reads, unit in its name. No other file reads `process.env`. `docs/configuration.md` is printed from this. */
export const settingsSchema = z.object({
  HOST: text('127.0.0.1', 'an address or a name of this machine; 0.0.0.0 or :: listens on all').describe('Listen address.'),
  PORT: whole(4000, 0, 65_535).describe('TCP port; 0 takes any free one and prints it.'),
  PUBLIC_URL: optionalUrl(web, 'https://parley.example.com').describe(
    'Base of links that Parley hands out. Default: made from HOST and PORT.',
  ),
  CORS_ORIGINS: readBy(parseCorsOrigins, corsOriginsGrammar).describe(
    'Web pages that may call the service from a browser. Default: only pages of its own origin.',
  ),
  DATA_DIR: text('./data', 'a folder that this process may write to, on a real disk').describe(
    'Embedded database, blobs, generated master key (mode 0600).',
  ),
  DATABASE_URL: optionalDatabaseUrl().describe('PostgreSQL server. Default: the embedded database in DATA_DIR.'),
  DATABASE_POOL_MAX: count(10).describe('Connections to the database.'),
  DATABASE_CHECKOUT_TIMEOUT_MS: timeMs(15_000).describe(
    'Time to get one of these connections; a request that waits longer is answered 503.',
  ),
  DATABASE_READ_TIMEOUT_MS: timeMs(10_000).describe(
    'PostgreSQL server only: time for one statement that a caller waits for, retrieval included. Longer ones answer 503.',
  ),
  DATABASE_WRITE_TIMEOUT_MS: timeMs(30_000).describe(
    'PostgreSQL server only: time for each statement of a transaction that a caller waits for. Longer ones answer 503.',
  ),
  DATABASE_BACKGROUND_TIMEOUT_MS: timeMs(600_000).describe('PostgreSQL server only: time for one statement of a job.'),
  DATABASE_FSYNC: oneOf(['on', 'off'], 'on').describe(
    'off: the embedded database is faster on a slow disk, and a power failure may lose or corrupt it.',
  ),
  DISK_FREE_MIN_BYTES: count(16 * MiB).describe(
    'With less free space than this on the disk of DATA_DIR or of the blobs, writes answer 507 and /readyz answers 503.',
  ),
  DISK_RESERVE_BYTES: rate(32 * MiB).describe(
    'Space that the embedded database reserves, so that it can finish its work when the disk is full.',
  ),
  BLOB_URL: readBy(parseBlobAddress, blobAddressGrammar).describe(
    'Where blobs live: a folder, or an S3-compatible store, which several instances share. Default: file://DATA_DIR/blobs.',
  ),
  AWS_ACCESS_KEY_ID: optionalText('the id of a key of the store').describe('Only with a BLOB_URL of S3.'),
  AWS_SECRET_ACCESS_KEY: optionalText('the secret of that key').describe('Only with a BLOB_URL of S3.'),
  AWS_SESSION_TOKEN: optionalText('the token of a temporary key').describe('Only with a BLOB_URL of S3 and a temporary key.'),
  AWS_REGION: optionalMatch(/^[a-z0-9-]+$/, 'a region such as eu-central-1').describe(
    'Region of the bucket, unless BLOB_URL has one. Default: us-east-1, which other stores than AWS ignore.',
  ),
  PARLEY_ADMIN_KEY: optionalMatch(/^[\x21-\x7e]{32,200}$/, '32 to 200 printable characters without blanks').describe(
    'The first key: any string of 32 to 200 characters. Default: made at the first start and printed once.',
  ),
  DEMO: oneOf(['on', 'off'], 'on').describe(
    'off: the first start makes no demo agent. The demo agent answers questions about Parley from its own manual.',
  ),
  PARLEY_MASTER_KEY: optionalMatch(
    /^[^,]{16,}(?:,[^,]{16,})*$/,
    'a secret text of 16 characters or more, or several with commas',
  ).describe(
    'Encrypts stored secrets. Several values, separated by commas, rotate: the first encrypts, all decrypt. Default: made in DATA_DIR.',
  ),
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
    'JSON file with further providers, routes with fallbacks, prices and limits.',
  ),
  DEFAULT_MODEL: optionalText('the id of a model that is there, such as openai/gpt-5 or parley/offline').describe(
    'What agents without a model use. Default: the first available.',
  ),
  EMBEDDING_MODEL: optionalMatch(/^[^/\s]+\/\S+$/, 'a provider and a model such as openai/text-embedding-3-small').describe(
    'Makes embeddings: `provider/name` of an OpenAI-compatible provider.',
  ),
  EMBEDDING_DIMENSIONS: optionalMatch(/^[1-9]\d{0,3}$/, 'a whole number from 1 to 9999').describe(
    'Dimensions to ask the embedding model for, where it takes such a number; at most 4,000 can be kept. Default: as many as it makes.',
  ),
  EMBEDDING_BATCH_TEXTS_MAX: whole(64, 1, 2_048).describe('Passages in one request for vectors.'),
  EMBEDDING_BATCH_TOKENS_MAX: count(16_000).describe('Tokens in one request for vectors, by an upper estimate.'),
  RERANK_URL: optionalUrl(web, 'https://rerank.example.com/v1/rerank').describe(
    'The whole address of a reranker: `POST {model, query, documents, top_n}`. The best 50 passages of a search are sorted by its answer.',
  ),
  RERANK_API_KEY: optionalText('a key of the reranker').describe('Sent to it as a bearer token.'),
  RERANK_MODEL: optionalText('a model of the reranker').describe('Sent to it as `model`.'),
  RERANK_TIMEOUT_MS: timeMs(2_000).describe('A search goes on without a reranker that has not answered by then.'),
  IMAGE_MODEL: optionalMatch(
    /^[^/\s,]+\/[^\s,]+( *, *[^/\s,]+\/[^\s,]+)*$/,
    'a provider and a model such as openai/gpt-image-1, or several with commas between them',
  ).describe(
    'Makes images: `provider/name` of an OpenAI-compatible provider or of Google. Of several, separated by commas, the first is the default; requests may ask for the others.',
  ),
  IMAGE_TIMEOUT_MS: timeMs(120_000).describe('Time for one request to make images.'),
  IMAGE_MAX_BYTES: count(20 * MiB).describe('Largest image that a provider may answer; CHAT_FILE_MAX_BYTES holds too.'),
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
  GITHUB_API_URL: url(web, 'https://api.github.com').describe('The repository host.'),
  GITHUB_APP_ID: optionalText('the number of a GitHub App').describe('With its private key: repositories can be read.'),
  GITHUB_APP_SLUG: optionalText('the name of that App in addresses').describe('Where people install it.'),
  GITHUB_APP_PRIVATE_KEY: optionalText('a key in PEM, or the path of its file').describe('Signs for the App.'),
  GITHUB_CLIENT_ID: optionalText('the client id of the App').describe(
    'With its secret: people show which installations are theirs.',
  ),
  GITHUB_CLIENT_SECRET: optionalText('the client secret of the App').describe('Belongs to GITHUB_CLIENT_ID.'),
  CONNECTOR_TIMEOUT_MS: timeMs(60_000).describe('Time for one call of a drive, wiki, tracker or repository host.'),
  CONNECTOR_CONCURRENCY: count(2).describe(
    'Sources of one tenant listed at one time in this process; one more may be of another tenant.',
  ),
  CONNECTOR_BACKOFF_MS: timeMs(1_000, 60_000).describe(
    'First wait after another service failed; it grows with each failure. A Retry-After of the service counts instead.',
  ),
  CRAWL_TIMEOUT_MS: timeMs(30_000).describe('Time for one reply to the crawler.'),
  CRAWL_USER_AGENT: optionalMatch(/^[\x20-\x7e]{1,200}$/, 'a name of printable ASCII characters').describe(
    'What the crawler calls itself. Default: Parley/<version>, and PUBLIC_URL when it is set.',
  ),
  CRAWL_HOST_CONCURRENCY: whole(2, 1, 16).describe('Requests of the crawler to one host at one time.'),
  CRAWL_DELAY_MS: whole(0, 0, 60_000).describe(
    'Least time between two requests to one host; a longer crawl-delay of its robots.txt counts.',
  ),
  EGRESS_ALLOW: readBy(parseAllowance, allowanceGrammar).describe(
    'Private targets that URLs from users may reach. A named host is allowed whatever it resolves to. An allowed address is reachable by every name that resolves to it.',
  ),
  EGRESS_DNS_SERVERS: readBy(parseDnsServers, dnsServersGrammar).describe(
    'Name servers that look up the hosts of URLs from users. Default: those of the system.',
  ),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info').describe('Least severe log shown.'),
  LOG_FORMAT: oneOf(['auto', 'pretty', 'json'], 'auto').describe('auto: pretty on a terminal, else json.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalUrl(web, 'http://localhost:4318').describe(
    'An OpenTelemetry collector (OTLP over HTTP, JSON) that gets the traces, at /v1/traces below this address. Default: no traces are made.',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: readBy(parseHeaderList, headerListGrammar).describe('Headers of requests to the collector.'),
  OTEL_SERVICE_NAME: text('parley', 'a name').describe('What traces call this service.'),
  OTEL_TRACES_SAMPLER: oneOf(
    ['always_on', 'always_off', 'traceidratio', 'parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'],
    'parentbased_always_on',
  ).describe(
    'Which traces are recorded. parentbased: as the traceparent of the request says; requests without one by the rest of the name.',
  ),
  OTEL_TRACES_SAMPLER_ARG: part(1).describe('Only with traceidratio: the part of the traces that is recorded.'),
  OTEL_BSP_SCHEDULE_DELAY: timeMs(5_000).describe('Spans are sent at most this many milliseconds after their end.'),
  OTEL_SDK_DISABLED: oneOf(['true', 'false'], 'false').describe('true: no traces, whatever the other settings say.'),
  ROLE: oneOf(['all', 'web', 'worker'], 'all').describe('What this process does: serve, work through jobs, or both.'),
  BODY_MAX_BYTES: count(8 * MiB).describe('Largest JSON body.'),
  BODY_IDLE_TIMEOUT_MS: timeMs(30_000).describe('A request is given up when nothing of its body arrives for this long.'),
  UPLOAD_MAX_BYTES: count(50 * MiB).describe('Largest file of a data source.'),
  CHAT_FILE_MAX_BYTES: count(5 * MiB).describe('Largest chat file.'),
  CHAT_FILES_MAX: count(500).describe('Files of one chat.'),
  UPLOADS_PENDING_MAX: count(20).describe('Uploads in parts that one user may have at once.'),
  FILES_MAX: count(10_000).describe('Files that one user may keep outside chats and data sources.'),
  CHAT_FILE_TOKENS_MAX: count(50_000).describe(
    'Tokens of text that a model gets from the files of one message; the rest is cut.',
  ),
  MESSAGES_MAX: count(2_000).describe('Most messages in one request, and most messages of a conversation that a model gets.'),
  TOOLS_MAX: count(128).describe('Most tools in one request.'),
  BUNDLE_CONTENT_MAX_BYTES: count(4 * MiB).describe('Most bytes of uploaded files that one exported agent carries.'),
  BUNDLE_FETCH_MAX_BYTES: count(256 * MiB).describe(
    'Most bytes fetched from the addresses in one imported bundle; further files are left out with a warning.',
  ),
  PROMPT_FETCH_MAX_BYTES: count(20 * MiB).describe(
    'Most bytes that are fetched from the addresses of one request, images included.',
  ),
  VECTOR_STORE_FILES_MAX: count(10_000).describe('Most files of one vector store.'),
  AGENT_DATA_SOURCES_MAX: count(1_000).describe('Most data sources of one agent.'),
  LIST_MAX: whole(100, 100, 10_000).describe('Largest page of a list. REST returns 100 by default.'),
  LIST_PAGE_MAX_BYTES: count(16 * MiB).describe(
    'Most bytes of the rows of one page. A page of long rows is shorter than asked for, and its cursor continues behind it.',
  ),
  USAGE_BLOCK_TOKENS: count(100_000).describe('Most tokens that a process reserves from the limit of an organization at once.'),
  USAGE_LEASE_MS: timeMs(30_000).describe('Reserved tokens are free again when their process is silent for this long.'),
  AUDIT_RETENTION_DAYS: days(365).describe('Age at which entries of the audit log are deleted.'),
  AUDIT_REFUSALS_PER_MINUTE_MAX: count(60).describe(
    'Refused calls of one key in a minute that get an audit entry each; further ones share one entry with a count.',
  ),
  RUN_EVENTS_RETENTION_DAYS: days(30).describe(
    'The events of a chat run are deleted this long after its end; the messages stay in the chat.',
  ),
  RUN_TIMEOUT_MS: timeMs(600_000).describe('A model run is cut off after this.'),
  THREAD_WAITING_MAX: count(20).describe('Requests that may wait on one thread while it answers another.'),
  SEARCH_URL: optionalUrl(web, 'https://searx.example.com').describe(
    'Base address of the search service that web_search asks; the path of the provider follows. Default: web_search is off.',
  ),
  SEARCH_API_KEY: optionalText('a key of the search service').describe('Key for SEARCH_URL, where it wants one.'),
  SEARCH_PROVIDER: oneOf(['searxng', 'brave', 'tavily'], 'searxng').describe('How SEARCH_URL and X_SEARCH_URL are asked.'),
  X_SEARCH_URL: optionalUrl(web, 'https://x-search.example.com').describe(
    'Base address of a service that searches posts of a social network, asked like SEARCH_URL. Default: includeXSearch is refused.',
  ),
  X_SEARCH_API_KEY: optionalText('a key of that service').describe('Key for X_SEARCH_URL, where it wants one.'),
  SEARCH_TIMEOUT_MS: timeMs(10_000).describe('Time for one search of the web.'),
  SEARCH_CALLS_MAX: count(16).describe('Searches of the web at one time in this process; tenants and organizations share them.'),
  PAGE_TIMEOUT_MS: timeMs(20_000).describe('Time for web_search to fetch one page, redirects included.'),
  PAGE_MAX_BYTES: count(5 * MiB).describe('Largest page that web_search opens.'),
  PYTHON_TIMEOUT_MS: timeMs(20_000).describe('Time for one program of a model (python and sandbox).'),
  PYTHON_MEMORY_MAX_BYTES: count(512 * MiB).describe('Memory that one program may take, its interpreter included.'),
  PYTHON_FILES_MAX_BYTES: count(32 * MiB).describe(
    'Bytes of the files of a chat that one program finds, and bytes of the files that it may write or change.',
  ),
  PYTHON_FILES_MAX: count(20).describe('Files that one program may write or change.'),
  PYTHON_STATE_TTL_MS: timeMs(3_600_000).describe(
    'Variables and further files of programs are kept for the next program of the same chat for this long after the last one.',
  ),
  PYTHON_STATE_MAX_BYTES: count(8 * MiB).describe(
    'Largest state that the programs of one chat keep; larger variables are left out.',
  ),
  PYTHON_PROGRAMS_MAX: count(2).describe(
    'Programs (python and sandbox) of one tenant at one time in this process; one more may run for another tenant. Others wait.',
  ),
  SPREADSHEETS_MAX: count(2).describe(
    'Calls of the tool spreadsheet of one tenant at one time in this process; one more may run for another tenant. Others wait. Time and memory: those of EXTRACT_*.',
  ),
  MEMORIES_MAX: count(500).describe('Memories of one user in one organization.'),
  MEMORY_MAX_CHARS: count(2_000).describe('Longest text of one memory, in UTF-16 code units.'),
  RUN_LEASE_MS: timeMs(15_000).describe('A stored run whose process is silent for this long is taken over.'),
  MODEL_CONNECT_TIMEOUT_MS: timeMs(10_000).describe('Time for a connection to a model provider.'),
  MODEL_FIRST_BYTE_TIMEOUT_MS: timeMs(120_000).describe('Time until a provider begins to answer.'),
  MODEL_FIRST_TOKEN_TIMEOUT_MS: timeMs(120_000).describe(
    'Time until the first token of an answer, thinking included, or until the whole of one that comes in one piece. Comments and empty events of a provider do not count. The next model of a route is asked then.',
  ),
  MODEL_IDLE_TIMEOUT_MS: timeMs(120_000).describe('Longest time within an answer without a further token.'),
  MODEL_RETRIES_MAX: whole(2, 0, 10).describe('Further tries before the first token.'),
  ANSWER_MAX_CHARS: count(8_000_000).describe(
    'Longest answer of one run that is kept (text, thinking, calls), in UTF-16 code units of JSON text. A longer answer is cut, as by max_output_tokens.',
  ),
  TOOL_ROUNDS_MAX: count(16).describe('Model calls in one run; the service calls tools between them.'),
  SUBAGENTS_MAX: count(5).describe('Subagents that one call of deep_research may start; two work at one time.'),
  SUBAGENT_TIMEOUT_MS: timeMs(120_000).describe('Time of one subagent.'),
  SUBAGENT_OUTPUT_TOKENS_MAX: count(4_096).describe('Tokens that a subagent may write in one model call.'),
  SUBAGENT_TOKENS_MAX: count(200_000).describe(
    'Tokens of all subagents of one run together, those that subagents start included. A call that does not fit any more is not made.',
  ),
  API_FUNCTION_TIMEOUT_MS: timeMs(30_000).describe('Time for one call of an API_FUNCTION tool, redirects included.'),
  API_FUNCTION_REPLY_MAX_BYTES: count(MiB).describe('Largest reply that an API_FUNCTION tool reads.'),
  TOOL_RESULT_MAX_CHARS: count(20_000).describe('Longest tool result that a model gets, in UTF-16 code units; the rest is cut.'),
  MCP_SERVERS_FILE: optionalText('the path of a JSON file').describe(
    'JSON file with MCP servers that agents and requests may name: programs of this machine, or addresses.',
  ),
  MCP_PUBLIC_AGENTS: oneOf(['on', 'off'], 'off').describe(
    "on: /mcp also lists agents of other organizations that a key may use; off: those of the key's organization.",
  ),
  MCP_START_TIMEOUT_MS: timeMs(30_000).describe(
    'Time to connect to an MCP server and list its tools, the start of its program included.',
  ),
  MCP_CALL_TIMEOUT_MS: timeMs(60_000).describe('Time for one call of a tool of an MCP server.'),
  MCP_REPLY_MAX_BYTES: count(8 * MiB).describe('Largest answer of an MCP server that is read.'),
  MCP_IDLE_TIMEOUT_MS: timeMs(300_000).describe(
    'A session with an MCP server, or its program, ends after so long without a call.',
  ),
  MCP_SESSIONS_MAX: count(256).describe(
    'Sessions with MCP servers at addresses at one time in this process; an organization may have a quarter of them.',
  ),
  MCP_TOOLS_TTL_MS: timeMs(300_000).describe("Age at which an MCP server's list of tools is fetched again."),
  EGRESS_CONNECT_TIMEOUT_MS: timeMs(10_000).describe('Time for a connection to an address that a user named.'),
  EGRESS_FETCH_TIMEOUT_MS: timeMs(15_000).describe('Time for one address of a prompt, an image or a bundle, redirects included.'),
  EGRESS_LOOKUP_TIMEOUT_MS: timeMs(5_000).describe('Time to look up one name of a URL from a user.'),
  EGRESS_LOOKUPS_MAX: count(128).describe(
    'Names looked up at one time in this process; an organization may have an eighth of them.',
  ),
  EGRESS_CALLS_MAX: count(256).describe(
    'Calls to URLs from users at one time in this process; an organization may have a quarter of them. Others wait.',
  ),
  MODEL_LIST_TTL_MS: timeMs(60_000).describe("Age at which a provider's list of models is fetched again."),
  RUNS_ACTIVE_MAX: count(10_000).describe('Runs at one time in this process; more answer 503.'),
  SHARE_TENANT_MAX_PERCENT: percent(90).describe(
    'Part of any pool of this process (runs, streams, WebSockets, uploads, active requests) that one tenant alone may hold; the rest stays free for other tenants.',
  ),
  SHARE_ORGANIZATION_MAX_PERCENT: percent(90).describe('Part of the share of its tenant that one organization alone may hold.'),
  RATE_LIMIT_REQUESTS_PER_MINUTE_KEY: rate(1_200_000).describe(
    'Requests that one key may make in a minute, at all instances together; more answer 429. 0: no limit.',
  ),
  RATE_LIMIT_REQUESTS_PER_MINUTE_ORGANIZATION: rate(2_400_000).describe(
    'Requests that all keys of one organization may make in a minute, at all instances together; more answer 429. 0: no limit.',
  ),
  RATE_LIMIT_FAILED_KEYS_PER_MINUTE_ADDRESS: rate(1_200).describe(
    'Requests without a valid key that one address may make in a minute at this process; more answer 429 without a look-up. 0: no limit.',
  ),
  TRUSTED_PROXY_HOPS: whole(0, 0, 10).describe(
    'Number of your proxies in front of the service that append to X-Forwarded-For. The audit log and the limits by address then take the client address from that header; 0 ignores it.',
  ),
  REQUESTS_ACTIVE_MAX: count(32).describe(
    'Requests of one tenant (without a run) that this process handles at one time; one more may be of another tenant. Others wait their turn.',
  ),
  REQUESTS_WAITING_MAX: count(1_000).describe('Requests of one organization that may wait for their turn; more answer 429.'),
  REQUEST_WAIT_TIMEOUT_MS: timeMs(15_000).describe('A request that has waited this long for its turn is answered 503.'),
  UPLOADS_ACTIVE_MAX: count(200).describe('Uploads that this process receives at one time; more answer 503.'),
  SSE_HEARTBEAT_MS: timeMs(12_000).describe('Longest silence on an open stream.'),
  SSE_BUFFER_MAX_BYTES: count(MiB).describe('Bytes that may wait for a slow reader; reading from the source pauses above this.'),
  SSE_STALL_TIMEOUT_MS: timeMs(15_000).describe(
    'A client that reads nothing of its reply (a stream, a list, a file, a page, WebSocket messages) for this long is disconnected.',
  ),
  SUBSCRIPTIONS_MAX: count(10_000).describe(
    'GraphQL subscriptions without a run that are open at this process; more answer 503. Those with a run count as runs.',
  ),
  SUBSCRIPTIONS_PER_ORGANIZATION_MAX: count(300).describe(
    'GraphQL subscriptions without a run, and reserved event streams, that one organization may have open at this process; more answer 429.',
  ),
  SOCKETS_MAX: count(5_000).describe('WebSockets of the responses API that are open at this process; more answer 503.'),
  SOCKETS_PER_ORGANIZATION_MAX: count(400).describe(
    'WebSockets of the responses API that one organization may have open at this process; more answer 429.',
  ),
  PIPELINED_REQUESTS_MAX: count(100).describe(
    'Requests that may wait on one connection behind the active one; one more closes the connection.',
  ),
  REPLIES_UNSENT_MAX_BYTES: count(128 * MiB).describe(
    'Bytes of finished replies that may wait for slow clients. One organization may hold half of them; beyond that it gets 503.',
  ),
  SOCKETS_PER_KEY_MAX: count(100).describe(
    'WebSockets of the responses API that one key may have open at this process; more answer 429.',
  ),
  SOCKET_LIFETIME_MS: timeMs(3_600_000, 86_400_000).describe(
    'A WebSocket of the responses API accepts no requests after this time, and is closed.',
  ),
  SHUTDOWN_GRACE_MS: timeMs(20_000).describe(
    'Time for replies in flight to end after SIGTERM. Runs still active a quarter of it (at most 3 seconds) before its end are stopped, so that their streams end properly.',
  ),
  EVENT_LOOP_BLOCKED_MAX_MS: timeMs(60_000).describe(
    'The process ends itself, to be started again, when its event loop has been blocked this long. From 2 seconds on a line names what was under way.',
  ),
  EXTRACT_TIMEOUT_MS: timeMs(30_000).describe('Time to extract the text of one document.'),
  EXTRACT_MEMORY_MAX_BYTES: count(300 * MiB).describe('Memory that reading one document may take.'),
  EXTRACT_TEXT_MAX_CHARS: count(20_000_000).describe('Text of one document, in UTF-16 code units; one with more is refused.'),
  INDEX_LEASE_MS: timeMs(30_000).describe('An item whose worker is silent for this long is queued again.'),
  INDEX_CONCURRENCY: count(2).describe(
    'Items of one tenant indexed at one time in this process; one more may be of another tenant.',
  ),
  PROMPT_READERS_MAX: count(2).describe(
    'Files of prompts of one tenant that are read at one time in this process; one more may be of another tenant. Others wait their turn, but never for indexing.',
  ),
  QUERY_REWRITE_MODEL: optionalMatch(/^[^/\s]+\/\S+$/, 'a provider and a model such as openai/gpt-4o-mini').describe(
    'The model that writes out a question which continues a conversation, before knowledge is searched: `provider/name`. Default: none; the question is searched with words of the messages before it.',
  ),
  RETRIEVAL_PASSAGES_MAX: count(8).describe('Passages given to a model for one question.'),
  RETRIEVAL_TOKENS_MAX: count(4_000).describe('Tokens of passages given to a model for one question.'),
  RETRIEVAL_EMBEDDING_TIMEOUT_MS: timeMs(2_000).describe(
    'A search goes on by words alone when the vector of its question is not there by then.',
  ),
  RETRIEVAL_VECTOR_WEIGHT: part(0.5).describe(
    'How much meaning counts in a search, against words: 0 words alone, 1 meaning alone.',
  ),
  GRAPHQL_DEPTH_MAX: count(12).describe('Deepest GraphQL selection.'),
  GRAPHQL_TOKENS_MAX: count(4_000).describe('Most tokens in a GraphQL document.'),
  GRAPHQL_ALIASES_MAX: count(50).describe('Most aliases in a GraphQL document.'),
  GRAPHQL_DIRECTIVES_MAX: count(20).describe('Most directives in a GraphQL document.'),
  GRAPHQL_DOCUMENT_MAX_CHARS: count(262_144).describe(
    'Longest GraphQL document, in UTF-16 code units. Long values belong into variables, which BODY_MAX_BYTES bounds.',
  ),
  GRAPHQL_FIELDS_MAX: count(20_000).describe('Most fields of a GraphQL document, with its fragments expanded.'),
  GRAPHQL_COST_MAX: count(20_000).describe(
    'Highest estimated cost of a GraphQL operation: 1 for each object, 0.2 for each text and 0.05 for each other value.',
  ),
  REPLY_MAX_BYTES: count(64 * MiB).describe('Largest JSON reply of both APIs; a request for more is refused.'),
});
export type Settings = Readonly<z.infer<typeof settingsSchema>>;

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

/** @throws SettingsError naming every bad setting at once, so one restart fixes them all. */
export function loadSettings(env: NodeJS.ProcessEnv): Settings {
  const parsed = settingsSchema.safeParse(given(env));
  if (!parsed.success) throw new SettingsError(settingsProblems(env));
  return Object.freeze(parsed.data);
}

/** What is wrong with the settings, a sentence each; empty when all can be used, also together. */
export function settingsProblems(env: NodeJS.ProcessEnv): readonly string[] {
  const { error } = settingsSchema.safeParse(given(env));
  const named = new Map<string, string>();
  for (const issue of error?.issues ?? []) {
    const name = String(issue.path[0]);
    if (!named.has(name)) named.set(name, problemOf(name, issue, env[name] ?? ''));
  }
  return [...named.values(), ...problemsTogether(given(env))];
}

/** The settings that can be used, and defaults in place of the others: for what is checked beside them. */
export function usableSettings(env: NodeJS.ProcessEnv): { readonly settings: Settings; readonly bad: ReadonlySet<string> } {
  const { error } = settingsSchema.safeParse(given(env));
  const bad = new Set((error?.issues ?? []).map(({ path }) => String(path[0])));
  const settings = settingsSchema.parse(Object.fromEntries(Object.entries(given(env)).filter(([name]) => !bad.has(name))));
  return { settings, bad };
}

/** A variable without a text is one that is not set: files of services and containers write it so. */
function given(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim() !== ''));
}

function problemOf(name: string, issue: z.core.$ZodIssue, value: string): string {
  const says: unknown = issue.code === 'custom' ? issue.params?.says : undefined;
  if (typeof says === 'string') return `${says}.`;
  const schema = (settingsSchema.shape as Readonly<Record<string, z.ZodType>>)[name];
  const allowed = schema === undefined ? 'something else' : allowedOf(schema);
  return `${name} must be ${allowed}, not ${displayValue(name, value)}.`;
}

/** What each setting allows, and its neighbours do not. Whoever uses them says so too. */
function problemsTogether(env: NodeJS.ProcessEnv): readonly string[] {
  const problems: string[] = [];
  if (env.DATABASE_URL !== undefined && env.PARLEY_MASTER_KEY === undefined) {
    problems.push(
      'PARLEY_MASTER_KEY must be set with DATABASE_URL, and the same for every instance: any secret text of 16 characters or more.',
    );
  }
  if (
    env.BLOB_URL?.startsWith('s3:') === true &&
    (env.AWS_ACCESS_KEY_ID === undefined || env.AWS_SECRET_ACCESS_KEY === undefined)
  ) {
    problems.push('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set with a BLOB_URL of S3.');
  }
  return problems;
}
