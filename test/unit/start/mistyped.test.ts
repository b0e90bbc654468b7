import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settingsInEitherCase, settingsSchema } from '../../../src/settings.ts';
import { mistypedSettings, unreadSettings } from '../../../src/start/checks/mistyped.ts';

const meantBy = (name: string) => mistypedSettings({ [name]: 'x' })[0]?.meant;
const settingNames = Object.keys(settingsSchema.shape);
/** Too short to guess: other programs use the names that are near to them. */
const neverGuessed = settingNames.filter((name) => name.replaceAll('_', '').length < 7);

describe('a variable that was meant as a setting', () => {
  it.each(settingNames.filter((name) => !neverGuessed.includes(name)))(
    '%s is recognized without an underscore and in lower case',
    (name) => {
      expect(mistypedSettings({ [name]: 'x' })).toEqual([]);
      if (name.includes('_') && name !== 'LOG_LEVEL') expect(meantBy(name.replace('_', ''))).toBe(name);
      if (!settingsInEitherCase.includes(name)) expect(meantBy(name.toLowerCase())).toBe(name);
    },
  );

  it.each([
    ['OPENAI_APIKEY', 'OPENAI_API_KEY'],
    ['OPENAI_KEY', 'OPENAI_API_KEY'],
    ['OPEN_AI_API_KEY', 'OPENAI_API_KEY'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['EMBEDING_MODEL', 'EMBEDDING_MODEL'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['RUN_TIMEOUT', 'RUN_TIMEOUT_MS'],
    ['MASTER_KEY', 'PARLEY_MASTER_KEY'],
    ['PARLEY_DATABASE_URL', 'DATABASE_URL'],
    ['OLLAMA_URL', 'OLLAMA_BASE_URL'],
  ])('%s is %s', (name, meant) => {
    expect(meantBy(name)).toBe(meant);
  });

  it('is never one that a usual machine, container, cluster or build has', () => {
    const usual = `HOME HOSTNAME HOSTTYPE LANG LANGUAGE LC_ALL LOGNAME LS_COLORS MAIL OLDPWD PATH PWD SHELL SHLVL TERM TMPDIR TZ USER USERNAME
      EDITOR VISUAL PAGER DISPLAY XAUTHORITY XDG_RUNTIME_DIR XDG_SESSION_ID XDG_DATA_DIRS DBUS_SESSION_BUS_ADDRESS SSH_AUTH_SOCK SSH_CLIENT
      SSH_CONNECTION SSH_TTY SUDO_USER COLORTERM LOGLEVEL DEBUG NODE_ENV NODE_OPTIONS NODE_PATH NODE_VERSION NODE_EXTRA_CA_CERTS NODE_COMPILE_CACHE
      NPM_CONFIG_LOGLEVEL npm_config_user_agent npm_lifecycle_event npm_package_json INIT_CWD INVOCATION_ID JOURNAL_STREAM SYSTEMD_EXEC_PID
      NOTIFY_SOCKET HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy no_proxy SSL_CERT_FILE REQUESTS_CA_BUNDLE MALLOC_ARENA_MAX MALLOC_TRIM_THRESHOLD_ UV_THREADPOOL_SIZE
      AWS_PROFILE AWS_DEFAULT_REGION AWS_ACCESS_KEY AWS_SECRET_KEY AWS_CONFIG_FILE AWS_ROLE_ARN AWS_WEB_IDENTITY_TOKEN_FILE
      GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_PROJECT GEMINI_API_KEY OPENAI_API_BASE OPENAI_ORG_ID OPENAI_ORGANIZATION OPENAI_API_VERSION
      AZURE_OPENAI_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_MODEL MISTRAL_API_KEY OLLAMA_HOST OLLAMA_MODELS HF_TOKEN HUGGING_FACE_HUB_TOKEN
      POSTGRES_PASSWORD POSTGRES_USER POSTGRES_DB PGHOST PGPORT PGUSER PGPASSWORD PGDATABASE DATABASE_HOST DATABASE_PORT DATABASE_NAME DB_URL
      REDIS_URL SERVICE_NAME CLIENT_ID CLIENT_SECRET API_KEY API_URL BASE_URL SECRET_KEY PORT_RANGE HOSTS ROLES DEMOS
      KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_PORT_443_TCP_ADDR PARLEY_PORT PARLEY_SERVICE_HOST PARLEY_SERVICE_PORT
      PARLEY_PORT_4000_TCP PARLEY_PORT_4000_TCP_ADDR SEARCH_PORT SEARCH_SERVICE_HOST DATABASE_SERVICE_HOST DATABASE_PORT_5432_TCP
      CI GITHUB_ACTION GITHUB_ACTIONS GITHUB_ACTOR GITHUB_BASE_REF GITHUB_ENV GITHUB_EVENT_NAME GITHUB_GRAPHQL_URL GITHUB_HEAD_REF GITHUB_JOB
      GITHUB_REF GITHUB_REPOSITORY GITHUB_RUN_ID GITHUB_SERVER_URL GITHUB_SHA GITHUB_TOKEN GITHUB_WORKSPACE GITHUB_PATH GITHUB_OUTPUT
      GITHUB_SECRET RUNNER_OS RUNNER_TEMP CI_JOB_ID CI_PROJECT_URL GITLAB_CI BUILD_ID
      OTEL_METRICS_EXPORTER OTEL_TRACES_EXPORTER OTEL_LOGS_EXPORTER OTEL_RESOURCE_ATTRIBUTES OTEL_EXPORTER_OTLP_PROTOCOL
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT OTEL_EXPORTER_OTLP_TIMEOUT OTEL_BSP_EXPORT_TIMEOUT OTEL_BSP_MAX_QUEUE_SIZE OTEL_PROPAGATORS
      PARLEY_URL PARLEY_API_KEY PARLEY_KEY PARLEY_TYPED_IN PARLEY AI GROUP TOOLS MESSAGE THREAD`;
    const env = Object.fromEntries(usual.split(/\s+/).map((name) => [name, 'x']));
    expect(mistypedSettings(env)).toEqual([]);
  });

  it('may be the name of a key in the file of the operator', () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-mistyped-'));
    const path = join(folder, 'models.json');
    writeFileSync(path, JSON.stringify({ providers: [{ id: 'other', apiKeyEnv: 'OPENAI_APIKEY' }] }));
    expect(mistypedSettings({ OPENAI_APIKEY: 'x', MODELS_FILE: path })).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it('that earlier versions had is named with where its successor stands', () => {
    expect(unreadSettings({ RUN_LEASE_MS: '1', OPENAI_APIKEY: 'x', PORT: '1' })).toEqual([
      'RUN_LEASE_MS is no setting any more and has no effect; CHANGELOG.md says what holds instead',
      'OPENAI_APIKEY is no setting; did you mean OPENAI_API_KEY?',
    ]);
  });
});
