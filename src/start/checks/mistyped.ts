import { readFileSync } from 'node:fs';
import { oidcSettings, parseOidcSetting } from '../../lib/settings/oidc-settings.ts';
import { editDistance } from '../../lib/text/edit-distance.ts';
import { secretSettings, settingsInEitherCase, settingsSchema } from '../../settings.ts';

/** A variable that is no setting, and the setting that was probably meant. */
export interface MistypedSetting {
  readonly name: string;
  readonly meant: string;
}

const settingNames = Object.keys(settingsSchema.shape);
/** Settings of earlier versions. Their values are fixed now. */
const removedNames: ReadonlySet<string> = new Set(
  `DATABASE_CHECKOUT_TIMEOUT_MS DATABASE_READ_TIMEOUT_MS DATABASE_WRITE_TIMEOUT_MS DATABASE_BACKGROUND_TIMEOUT_MS DATABASE_FSYNC
    DISK_RESERVE_BYTES EMBEDDING_BATCH_TEXTS_MAX EMBEDDING_BATCH_TOKENS_MAX RERANK_TIMEOUT_MS IMAGE_TIMEOUT_MS
    IMAGE_MAX_BYTES CONNECTOR_TIMEOUT_MS CONNECTOR_CONCURRENCY CONNECTOR_BACKOFF_MS CRAWL_TIMEOUT_MS OTEL_BSP_SCHEDULE_DELAY
    BODY_IDLE_TIMEOUT_MS CHAT_FILES_MAX UPLOADS_PENDING_MAX FILES_MAX CHAT_FILE_TOKENS_MAX MESSAGES_MAX TOOLS_MAX
    BUNDLE_CONTENT_MAX_BYTES BUNDLE_FETCH_MAX_BYTES PROMPT_FETCH_MAX_BYTES VECTOR_STORE_FILES_MAX AGENT_DATA_SOURCES_MAX LIST_MAX
    LIST_PAGE_MAX_BYTES USAGE_BLOCK_TOKENS USAGE_LEASE_MS AUDIT_REFUSALS_PER_MINUTE_MAX THREAD_WAITING_MAX SEARCH_TIMEOUT_MS
    SEARCH_CALLS_MAX PAGE_TIMEOUT_MS PAGE_MAX_BYTES PYTHON_TIMEOUT_MS PYTHON_FILES_MAX_BYTES PYTHON_FILES_MAX PYTHON_STATE_MAX_BYTES
    PYTHON_PROGRAMS_MAX SPREADSHEETS_MAX MEMORIES_MAX MEMORY_MAX_CHARS RUN_LEASE_MS MODEL_CONNECT_TIMEOUT_MS
    MODEL_FIRST_BYTE_TIMEOUT_MS MODEL_IDLE_TIMEOUT_MS MODEL_RETRIES_MAX ANSWER_MAX_CHARS SUBAGENTS_MAX SUBAGENT_TIMEOUT_MS
    SUBAGENT_OUTPUT_TOKENS_MAX SUBAGENT_TOKENS_MAX API_FUNCTION_TIMEOUT_MS API_FUNCTION_REPLY_MAX_BYTES TOOL_RESULT_MAX_CHARS
    MCP_START_TIMEOUT_MS MCP_CALL_TIMEOUT_MS MCP_REPLY_MAX_BYTES MCP_IDLE_TIMEOUT_MS MCP_SESSIONS_MAX MCP_TOOLS_TTL_MS
    EGRESS_CONNECT_TIMEOUT_MS EGRESS_FETCH_TIMEOUT_MS EGRESS_LOOKUP_TIMEOUT_MS EGRESS_LOOKUPS_MAX EGRESS_CALLS_MAX MODEL_LIST_TTL_MS
    SHARE_TENANT_MAX_PERCENT SHARE_ORGANIZATION_MAX_PERCENT RATE_LIMIT_FAILED_KEYS_PER_MINUTE_ADDRESS REQUESTS_ACTIVE_MAX
    REQUESTS_WAITING_MAX REQUEST_WAIT_TIMEOUT_MS UPLOADS_ACTIVE_MAX SSE_HEARTBEAT_MS SSE_BUFFER_MAX_BYTES SSE_STALL_TIMEOUT_MS
    SUBSCRIPTIONS_MAX SUBSCRIPTIONS_PER_ORGANIZATION_MAX SUBSCRIPTIONS_PER_PERSON_MAX SOCKETS_MAX SOCKETS_PER_ORGANIZATION_MAX PIPELINED_REQUESTS_MAX
    REPLIES_UNSENT_MAX_BYTES SOCKETS_PER_KEY_MAX SOCKET_LIFETIME_MS EVENT_LOOP_BLOCKED_MAX_MS EXTRACT_TIMEOUT_MS
    EXTRACT_TEXT_MAX_CHARS INDEX_LEASE_MS PROMPT_READERS_MAX RETRIEVAL_PASSAGES_MAX RETRIEVAL_TOKENS_MAX
    RETRIEVAL_EMBEDDING_TIMEOUT_MS GRAPHQL_DEPTH_MAX GRAPHQL_TOKENS_MAX GRAPHQL_ALIASES_MAX
    GRAPHQL_DIRECTIVES_MAX GRAPHQL_DOCUMENT_MAX_CHARS GRAPHQL_FIELDS_MAX GRAPHQL_COST_MAX REPLY_MAX_BYTES`.split(/\s+/),
);
const settings = settingNames.map((name) => ({ name, squeezed: withoutSigns(name), words: name.split('_') }));
/** Other variables that Parley reads: those of the command line and of the script `parley`, and those that name files of secrets. */
const otherNames: ReadonlySet<string> = new Set([
  'PARLEY_URL',
  'PARLEY_API_KEY',
  'PARLEY_KEY',
  'PARLEY_TYPED_IN',
  ...secretSettings.map((name) => `${name}_FILE`),
  ...settingsInEitherCase.map((name) => name.toLowerCase()),
]);
/** Names that other programs give a meaning of their own, and that are near to a setting. */
const namesOfOthers: ReadonlySet<string> = new Set(['LOGLEVEL', 'AWS_ACCESS_KEY', 'AWS_SECRET_KEY', 'GITHUB_SECRET']);

const distanceMax = 2;
/** Shorter names are near to too many others: HOST, PORT, ROLE and DEMO are never guessed. */
const nearMinChars = 7;

/** Settings of earlier versions that an environment still has, by name. */
export function removedSettings(env: NodeJS.ProcessEnv): readonly string[] {
  return Object.keys(env)
    .filter((name) => removedNames.has(name))
    .sort();
}

/** A sentence for each variable that its operator took for a setting, by name. */
export function unreadSettings(env: NodeJS.ProcessEnv): readonly string[] {
  return [
    ...removedSettings(env).map(
      (name) => `${name} is no setting any more and has no effect; CHANGELOG.md says what holds instead`,
    ),
    ...mistypedSettings(env).map(mistypedSentence),
  ];
}

/** The variables of an environment that are no settings, but were probably meant as one, by name. Values are not looked at, but for file names. */
export function mistypedSettings(env: NodeJS.ProcessEnv): readonly MistypedSetting[] {
  const isNamedElsewhere = readerOfFiles(env);
  return Object.keys(env)
    .filter(
      (name) =>
        !settingNames.includes(name) &&
        !otherNames.has(name) &&
        !isOfProvider(name) &&
        !removedNames.has(name) &&
        !namesOfOthers.has(name.toUpperCase()),
    )
    .flatMap((name) => {
      const meantSetting = meantBy(name);
      return meantSetting === undefined || isNamedElsewhere(name) ? [] : [{ name, meant: meantSetting }];
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** What to tell of one of them. */
export function mistypedSentence({ name, meant: meantSetting }: MistypedSetting): string {
  return `${name} is no setting; did you mean ${meantSetting}?`;
}

function meantBy(name: string): string | undefined {
  const typedName = name.toUpperCase();
  // No setting but two begins with PARLEY_, so people put it before others too. PARLEY_PORT and PARLEY_HOST are left alone: Kubernetes makes
  // such variables for a service called parley.
  const bare = typedName.replace(/^PARLEY_(?=.{7})/, '');
  if (bare !== typedName && settingNames.includes(bare)) return bare;
  const squeezedName = withoutSigns(typedName);
  if (squeezedName.length < nearMinChars) return undefined;
  if (typedName.startsWith('OIDC_')) return meantOfProvider(typedName);
  return settings.find((setting) => setting.squeezed === squeezedName)?.name ?? withoutWord(typedName) ?? nearestTo(typedName);
}

/** OIDC_<NAME>_…, or the file of its secret. */
function isOfProvider(name: string): boolean {
  return parseOidcSetting(name) !== undefined || parseOidcSetting(name.replace(/_FILE$/, ''))?.setting === 'CLIENT_SECRET';
}

/** OIDC_GOOGLE_CLIENTID, OIDC_GOOGLE_SECRET, OIDC_MY_IDP_ISSUER: the setting of a provider of that name. */
function meantOfProvider(typedName: string): string | undefined {
  const [, provider = '', ...words] = typedName.split('_');
  const end = withoutSigns(words.join(''));
  if (provider === '' || end === '') return undefined;
  const ends = Object.keys(oidcSettings);
  const near = ends.find((knownEnd) => editDistance(end, withoutSigns(knownEnd)) <= (end.length < 9 ? 1 : distanceMax));
  const foundEnd = near ?? ends.find((known) => end.endsWith(withoutSigns(known)) || withoutSigns(known).endsWith(end));
  if (foundEnd === undefined) return undefined;
  const rest = end.slice(0, -withoutSigns(foundEnd).length);
  return `OIDC_${provider}${near === undefined && end.endsWith(withoutSigns(foundEnd)) ? rest : ''}_${foundEnd}`;
}

/** The setting of which the typed name lacks one word behind the first: `RUN_TIMEOUT`, `OPENAI_KEY`. PARLEY_ may lack too. */
function withoutWord(typedName: string): string | undefined {
  const words = typedName.split('_');
  if (words.length < 2) return undefined;
  const foundSettings = settings.filter((setting) => {
    if (setting.words.length !== words.length + 1 || setting.name.startsWith('OTEL_')) return false;
    const lacking = setting.words.findIndex((word, index) => word !== words[index]);
    if (lacking === 0 && setting.words[0] !== 'PARLEY') return false;
    return setting.words.toSpliced(lacking, 1).join('_') === typedName;
  });
  return foundSettings.length === 1 ? foundSettings[0]?.name : undefined;
}

function nearestTo(typedName: string): string | undefined {
  let nearest: { readonly name: string; readonly distance: number } | undefined;
  for (const { name } of settings) {
    if (name.length < nearMinChars || Math.abs(name.length - typedName.length) > distanceMax) continue;
    // A cheap look first: somebody who mistypes a name has its beginning or its end right.
    if (name.slice(0, 3) !== typedName.slice(0, 3) && name.slice(-3) !== typedName.slice(-3)) continue;
    const distance = editDistance(typedName, name);
    // In a short name two letters are a third of it.
    if (distance > (Math.min(name.length, typedName.length) < 11 ? 1 : distanceMax)) continue;
    if (nearest === undefined || distance < nearest.distance) nearest = { name, distance };
  }
  return nearest?.name;
}

function withoutSigns(name: string): string {
  return name.replace(/[^A-Z0-9]/g, '');
}

/** The operator's files may name variables for keys, with any name. */
function readerOfFiles({ MODELS_FILE, MCP_SERVERS_FILE }: NodeJS.ProcessEnv): (name: string) => boolean {
  let text: string | undefined;
  return (name) => {
    text ??= [MODELS_FILE, MCP_SERVERS_FILE].map((path) => (path === undefined ? '' : readContent(path))).join('\n');
    return text.includes(name);
  };
}

function readContent(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
