import { readSecret } from '../../lib/files/secret-files.ts';
import { type Settings, settingsProblems, usableSettings } from '../../settings.ts';
import { checkAuditSink } from './audit-sink.ts';
import { checkDatabase } from './database.ts';
import { checkEgress } from './egress.ts';
import { checkFiles } from './files.ts';
import { type Finding, good, warning, wrong } from './finding.ts';
import { checkFolders } from './folders.ts';
import { checkMail } from './mail.ts';
import { mistypedSettings, removedSettings } from './mistyped.ts';
import { checkModels } from './models.ts';
import { checkPort } from './port.ts';
import { checkRedis } from './redis.ts';
import { checkSearchIndex } from './search-index.ts';
import { checkSignIn } from './sign-in.ts';

/** Everything that can be checked without a start. What bad settings would decide is checked with their defaults, and left out of the findings. */
export async function checkAll(env: NodeJS.ProcessEnv): Promise<readonly Finding[]> {
  const { settings, bad } = usableSettings(env);
  const isAbout = (...names: readonly string[]) => names.some((name) => bad.has(name));
  const [database, redis, files, port, models, egress, signIn, mail, auditSink, searchIndex] = await Promise.all([
    isAbout('DATABASE_URL', 'DATA_DIR') ? [] : checkDatabase(settings),
    isAbout('REDIS_URL') ? [] : checkRedis(settings),
    isAbout('BLOB_URL') ? [] : checkFiles(settings),
    isAbout('HOST', 'PORT') ? [] : checkPort(settings),
    checkModels(settings, (name) => readSecret(env, name)),
    isAbout('EGRESS_ALLOW', 'EGRESS_DNS_SERVERS', 'HTTPS_PROXY', 'HTTP_PROXY') ? [] : checkEgress(settings),
    isAbout('EGRESS_ALLOW', 'EGRESS_DNS_SERVERS', 'HTTPS_PROXY', 'HTTP_PROXY') ? [] : checkSignIn(settings),
    isAbout('SMTP_URL', 'SMTP_FROM') ? [] : checkMail(settings),
    isAbout('AUDIT_SINK_URL', 'AUDIT_SINK_SECRET', 'EGRESS_ALLOW', 'EGRESS_DNS_SERVERS', 'HTTPS_PROXY', 'HTTP_PROXY')
      ? []
      : checkAuditSink(settings),
    isAbout('SEARCH_INDEX_URL') ? [] : checkSearchIndex(settings),
  ]);
  return [
    ...settingsFindings(env),
    ...removedSettings(env).map((name) =>
      warning('settings', `${name} is no setting any more.`, 'CHANGELOG.md says what holds instead.'),
    ),
    ...mistypedSettings(env).map(({ name, meant: meantSetting }) =>
      warning('settings', `${name} is no setting.`, `Did you mean ${meantSetting}?`),
    ),
    ...(isAbout('DATA_DIR', 'BLOB_URL') ? [] : checkFolders(settings)),
    ...[database, redis, files, port, models, egress, signIn, mail, auditSink, searchIndex].flat(),
  ];
}

/** What is wrong with what a start needs of this machine at once, without the network: to be told together with another reason not to start. */
export async function checkQuickly(env: NodeJS.ProcessEnv): Promise<readonly Finding[]> {
  const { settings, bad } = usableSettings(env);
  const findings = [
    ...settingsFindings(env),
    ...checkFolders(settings),
    ...(bad.has('HOST') ? [] : [await checkPort(bad.has('PORT') ? { ...settings, PORT: 0 } : settings)]),
    ...(await modelFindings(settings, bad, env)),
  ];
  return findings.filter(({ level }) => level === 'wrong');
}

/** Of a provider with a bad setting nobody knows the models. */
async function modelFindings(settings: Settings, bad: ReadonlySet<string>, env: NodeJS.ProcessEnv): Promise<readonly Finding[]> {
  if (settings.DEFAULT_MODEL === undefined || bad.has('MODELS_FILE')) return [];
  const [provider = '', name] = settings.DEFAULT_MODEL.split('/');
  const isUnsure = [...bad].some((setting) => name === undefined || setting.startsWith(`${provider.toUpperCase()}_`));
  if (isUnsure) return [];
  return (await checkModels(settings, (name) => readSecret(env, name))).filter(({ message }) =>
    message.startsWith('DEFAULT_MODEL'),
  );
}

function settingsFindings(env: NodeJS.ProcessEnv): readonly Finding[] {
  const problems = settingsProblems(env);
  return problems.length === 0
    ? [good('settings', 'All settings can be used.')]
    : problems.map((problem) => wrong('settings', problem));
}
