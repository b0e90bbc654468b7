const MiB = 1024 * 1024;

/**
 * Numbers that bound what one request, key, organization or process may take. They fit every installation, so no setting changes them; code reads
 * them beside the settings, as `settings.NAME`. The unit ends the name. Tests pass smaller ones to `loadSettings`.
 */
export const defaultLimits = {
  /** Time to get a connection of the database's pool; a request that waits longer is answered 503. */
  DATABASE_CHECKOUT_TIMEOUT_MS: 15_000,
  /** PostgreSQL server only: time for one statement, retrieval included. Longer ones answer 503. */
  DATABASE_STATEMENT_TIMEOUT_MS: 15_000,
  /** PostgreSQL server only: time for each statement in a transaction of a job. */
  DATABASE_BACKGROUND_TIMEOUT_MS: 600_000,
  /** Delays the first run of repeated tasks, so that the start and the first requests come first. */
  TASKS_FIRST_AFTER_MS: 250,
  /** Passages in one request for vectors. */
  EMBEDDING_BATCH_TEXTS_MAX: 64,
  /** The search index is compared with the database anew so long after the last comparison ended. */
  SEARCH_INDEX_COMPARE_EVERY_MS: 600_000,
  /** A search goes on without a reranker that has not answered by then. */
  RERANK_TIMEOUT_MS: 2_000,
  /** Time for one request to make images. */
  IMAGE_TIMEOUT_MS: 120_000,
  /** Time for one call of a drive, wiki, tracker or repository host. */
  CONNECTOR_TIMEOUT_MS: 60_000,
  /** Sources of one tenant listed at one time in this process; one more may be of another tenant. */
  CONNECTOR_CONCURRENCY: 2,
  /** First wait after another service failed; it grows with each failure. A Retry-After of the service counts instead. */
  CONNECTOR_BACKOFF_MS: 1_000,
  /** Time for one reply to the crawler. */
  CRAWL_TIMEOUT_MS: 30_000,
  /** Spans are sent at most this many milliseconds after their end. */
  OTEL_BSP_SCHEDULE_DELAY: 5_000,
  /** A request is given up when nothing of its body arrives for this long. */
  BODY_IDLE_TIMEOUT_MS: 30_000,
  /** Links to one chat, also those that have ended. */
  CHAT_SHARES_MAX: 100,
  /** Files of one chat. */
  CHAT_FILES_MAX: 500,
  /** Uploads in parts that one user may have at once. */
  UPLOADS_PENDING_MAX: 20,
  /** Files that one user may keep outside chats and data sources. */
  FILES_MAX: 10_000,
  /** Tokens of text that a model gets from the files of one message; the rest is cut. */
  CHAT_FILE_TOKENS_MAX: 50_000,
  /** Most messages in one request, and most messages of a conversation that a model gets. */
  MESSAGES_MAX: 2_000,
  /** Most tools in one request. */
  TOOLS_MAX: 128,
  /** Most bytes fetched from the addresses in one imported bundle; further files are left out with a warning. */
  BUNDLE_FETCH_MAX_BYTES: 256 * MiB,
  /** Most bytes that are fetched from the addresses of one request, images included. */
  PROMPT_FETCH_MAX_BYTES: 20 * MiB,
  /** Most files of one vector store. */
  VECTOR_STORE_FILES_MAX: 10_000,
  /** Most data sources of one agent. */
  AGENT_DATA_SOURCES_MAX: 1_000,
  /** Largest page of a list. REST returns 100 by default. */
  LIST_MAX: 100,
  /** Most bytes of the rows of one page. A page of long rows is shorter than asked for, and its cursor continues behind it. */
  LIST_PAGE_MAX_BYTES: 16 * MiB,
  /** Reserved tokens are free again when their process is silent for this long. */
  USAGE_LEASE_MS: 30_000,
  /** Refused calls of one key in a minute that get an audit entry each; further ones share one entry with a count. */
  AUDIT_REFUSALS_PER_MINUTE_MAX: 60,
  /** Requests that may wait on one thread while it answers another. */
  THREAD_WAITING_MAX: 20,
  /** Time for one search of the web. */
  SEARCH_TIMEOUT_MS: 10_000,
  /** Searches of the web at one time in this process; tenants and organizations share them. */
  SEARCH_CALLS_MAX: 16,
  /** Time for web_search to fetch one page, redirects included. */
  PAGE_TIMEOUT_MS: 20_000,
  /** Largest page that web_search opens. */
  PAGE_MAX_BYTES: 5 * MiB,
  /** Time for one program of a model (python and sandbox). */
  PYTHON_TIMEOUT_MS: 20_000,
  /**
   * Programs (python and sandbox) of one tenant at one time in this process; one more may run for another tenant. Others wait.
   */
  PYTHON_PROGRAMS_MAX: 2,
  /**
   * Calls of the tool spreadsheet of one tenant at one time in this process; one more may run for another tenant. Others wait.
   * Time and memory: those of EXTRACT_*.
   */
  SPREADSHEETS_MAX: 2,
  /** Memories of one user in one organization. */
  MEMORIES_MAX: 500,
  /** Longest text of one memory, in UTF-16 code units. */
  MEMORY_MAX_CHARS: 2_000,
  /** A stored run whose process is silent for this long is taken over. */
  RUN_LEASE_MS: 15_000,
  /** Longest time within an answer without a further token. */
  MODEL_IDLE_TIMEOUT_MS: 120_000,
  /** Further tries before the first token. */
  MODEL_RETRIES_MAX: 2,
  /**
   * Longest answer of one run that is kept (text, thinking, calls), in UTF-16 code units of JSON text. A longer answer is cut,
   * as by max_output_tokens.
   */
  ANSWER_MAX_CHARS: 8_000_000,
  /** Subagents that one call of deep_research may start; two work at one time. */
  SUBAGENTS_MAX: 5,
  /**
   * Tokens of all subagents of one run together, those that subagents start included. A call that does not fit any more is not
   * made.
   */
  SUBAGENT_TOKENS_MAX: 200_000,
  /** Time for one call of an API_FUNCTION tool, redirects included. */
  API_FUNCTION_TIMEOUT_MS: 30_000,
  /** Largest reply that an API_FUNCTION tool reads. */
  API_FUNCTION_REPLY_MAX_BYTES: 1 * MiB,
  /** Longest tool result that a model gets, in UTF-16 code units; the rest is cut. */
  TOOL_RESULT_MAX_CHARS: 20_000,
  /** Sessions with MCP servers at addresses at one time in this process; an organization may have a quarter of them. */
  MCP_SESSIONS_MAX: 256,
  /** Time for a connection to an address that a user named. */
  EGRESS_CONNECT_TIMEOUT_MS: 10_000,
  /** Time for one address of a prompt, an image or a bundle, redirects included. */
  EGRESS_FETCH_TIMEOUT_MS: 15_000,
  /** Time to look up one name of a URL from a user. */
  EGRESS_LOOKUP_TIMEOUT_MS: 5_000,
  /** Names looked up at one time in this process; an organization may have an eighth of them. */
  EGRESS_LOOKUPS_MAX: 128,
  /** Calls to URLs from users at one time in this process; an organization may have a quarter of them. Others wait. */
  EGRESS_CALLS_MAX: 256,
  /**
   * Requests without a valid key that one address may make in a minute at this process; more answer 429 without a look-up. 0:
   * no limit.
   */
  RATE_LIMIT_FAILED_KEYS_PER_MINUTE_ADDRESS: 1_200,
  /** Requests a minute of an address for chats that are shared with anyone, without a sign-in. */
  SHARED_REQUESTS_PER_MINUTE_ADDRESS: 120,
  /**
   * Requests of one tenant (without a run) that this process handles at one time; one more may be of another tenant. Others
   * wait their turn.
   */
  REQUESTS_ACTIVE_MAX: 32,
  /** Uploads that this process receives at one time; more answer 503. */
  UPLOADS_ACTIVE_MAX: 200,
  /** How often a process looks for schedules, webhook deliveries and entries for the audit sink that are due. */
  DUE_LOOK_EVERY_MS: 2_000,
  /** Longest silence on an open stream. */
  SSE_HEARTBEAT_MS: 12_000,
  /** Bytes that may wait for a slow reader; reading from the source pauses above this. */
  SSE_BUFFER_MAX_BYTES: 1 * MiB,
  /**
   * A client that reads nothing of its reply (a stream, a list, a file, a page, WebSocket messages) for this long is
   * disconnected.
   */
  SSE_STALL_TIMEOUT_MS: 15_000,
  /** GraphQL subscriptions without a run that are open at this process; more answer 503. Those with a run count as runs. */
  SUBSCRIPTIONS_MAX: 10_000,
  /**
   * GraphQL subscriptions without a run, and reserved event streams, that one organization may have open at this process; more
   * answer 429.
   */
  SUBSCRIPTIONS_PER_ORGANIZATION_MAX: 300,
  /** Those that one person may have open of them, by all keys and browsers together; more answer 429. */
  SUBSCRIPTIONS_PER_PERSON_MAX: 100,
  /** WebSockets of the responses API that are open at this process; more answer 503. */
  SOCKETS_MAX: 5_000,
  /** Requests that may wait on one connection behind the active one; one more closes the connection. */
  PIPELINED_REQUESTS_MAX: 100,
  /**
   * Bytes of finished replies that may wait for slow clients. One organization may hold half of them; beyond that it gets 503.
   */
  REPLIES_UNSENT_MAX_BYTES: 128 * MiB,
  /** WebSockets of the responses API that one key may have open at this process; more answer 429. */
  SOCKETS_PER_KEY_MAX: 100,
  /** A WebSocket of the responses API accepts no requests after this time, and is closed. */
  SOCKET_LIFETIME_MS: 3_600_000,
  /** Processor time to extract the text of one document; it ends after four times that by the clock. */
  EXTRACT_TIMEOUT_MS: 30_000,
  /** Text of one document, in UTF-16 code units; one with more is refused. */
  EXTRACT_TEXT_MAX_CHARS: 20_000_000,
  /** An item whose worker is silent for this long is queued again. */
  INDEX_LEASE_MS: 30_000,
  /**
   * Files of prompts of one tenant that are read at one time in this process; one more may be of another tenant. Others wait
   * their turn, but never for indexing.
   */
  PROMPT_READERS_MAX: 2,
  /** Passages given to a model for one question. */
  RETRIEVAL_PASSAGES_MAX: 8,
  /** A search goes on by words alone when the vector of its question is not there by then. */
  RETRIEVAL_EMBEDDING_TIMEOUT_MS: 2_000,
  /** Deepest GraphQL selection. */
  GRAPHQL_DEPTH_MAX: 12,
  /** Most tokens in a GraphQL document. */
  GRAPHQL_TOKENS_MAX: 4_000,
  /** Most aliases in a GraphQL document. */
  GRAPHQL_ALIASES_MAX: 50,
  /** Most fields of a GraphQL document, with its fragments expanded. */
  GRAPHQL_FIELDS_MAX: 20_000,
  /** Highest estimated cost of a GraphQL operation: 1 for each object, 0.2 for each text and 0.05 for each other value. */
  GRAPHQL_COST_MAX: 20_000,
  /** Largest JSON reply of both APIs; a request for more is refused. */
  REPLY_MAX_BYTES: 64 * MiB,
};
export type Limits = Readonly<typeof defaultLimits>;
