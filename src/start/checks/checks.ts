import { resolve } from 'node:path';
import { readEgressOptions } from '../../engine/egress/egress.ts';
import { createMailer, mailProblem } from '../../engine/mail/mailer.ts';
import { Pools } from '../../engine/sharing/pools.ts';
import { ProviderError } from '../../engine/sign-in/provider-error.ts';
import { createOidcProviders, type OidcProvider } from '../../engine/sign-in/providers.ts';
import { readSecret } from '../../lib/files/secret-files.ts';
import { displayValue } from '../../lib/text/display-value.ts';
import { type Settings, settingsProblems, usableSettings } from '../../settings.ts';
import { readBlobAddress } from '../../storage/blobs/address.ts';
import { existingPart, folderProblem, measureFreeBytes } from '../../storage/ground/opening/folders.ts';
import { StartRefusal } from '../../storage/ground/opening/start-refusal.ts';
import { redisProblem } from '../../storage/ground/redis/check.ts';
import { createOpenSearch } from '../../storage/knowledge/search-index/opensearch/opensearch.ts';
import { SearchIndexError } from '../../storage/knowledge/search-index/search-index.ts';
import { checkAuditSink } from './audit-sink.ts';
import { checkDatabase } from './database.ts';
import { checkEgress } from './egress.ts';
import { type Finding, findCode, good, warning, wrong } from './finding.ts';
import { mistypedSettings, removedSettings } from './mistyped.ts';
import { checkModels } from './models.ts';
import { checkPermissions } from './permissions.ts';
import { checkPort } from './port.ts';

/** Everything that can be checked without a start. What bad settings would decide is checked with their defaults, and left out of the findings. */
export async function checkAll(env: NodeJS.ProcessEnv): Promise<readonly Finding[]> {
  const { settings, bad } = usableSettings(env);
  const isAbout = (...names: readonly string[]) => names.some((name) => bad.has(name));
  const [database, redis, files, port, models, egress, signIn, mail, auditSink, searchIndex, permissions] = await Promise.all([
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
    isAbout('DATABASE_URL', 'PERMISSION_MAX_AGE_HOURS') ? [] : checkPermissions(settings),
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
    ...[database, redis, files, port, models, egress, signIn, mail, auditSink, searchIndex, permissions].flat(),
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

/** Whether REDIS_URL can be used, where it is set. */
async function checkRedis({ REDIS_URL }: Pick<Settings, 'REDIS_URL'>): Promise<readonly Finding[]> {
  if (REDIS_URL === undefined) return [];
  const problem = await redisProblem(REDIS_URL);
  if (problem === undefined) return [good('redis', 'Redis answers and can be written to.')];
  const { isLasting, message, advice } = problem;
  if (isLasting) return [wrong('redis', message, advice)];
  return [warning('redis', message, `${advice} Until it answers, changes are looked up in the database.`)];
}

/** Whether what answers at SEARCH_INDEX_URL can be used. */
export async function checkSearchIndex({ SEARCH_INDEX_URL, EMBEDDING_MODEL }: Settings): Promise<readonly Finding[]> {
  if (SEARCH_INDEX_URL === undefined) return [];
  const openSearch = createOpenSearch(SEARCH_INDEX_URL);
  try {
    const problem = await openSearch.problem(EMBEDDING_MODEL !== undefined);
    if (problem !== undefined)
      return [wrong('search-index', `SEARCH_INDEX_URL cannot be used: ${problem}.`, 'Parley does not start with it.')];
    return [good('search-index', 'The OpenSearch of SEARCH_INDEX_URL answers.')];
  } catch (error) {
    if (!(error instanceof SearchIndexError)) throw error;
    const message = `Of the search index of SEARCH_INDEX_URL, ${error.message}.`;
    return [warning('search-index', message, 'The database answers searches until it is there; nothing needs a restart then.')];
  } finally {
    await openSearch.close();
  }
}

/** Whether the mail server takes the user and the password of SMTP_URL. Sends nothing. */
export async function checkMail(settings: Settings): Promise<readonly Finding[]> {
  const mailer = await createMailer(settings);
  if (mailer === undefined) return [];
  try {
    await mailer.verify();
    // Whether a server takes mail of anybody, only a mail would show.
    const acceptedNote = 'The mail server of SMTP_URL takes its user and password.';
    return [
      good(
        'mail',
        mailer.hasLogin ? acceptedNote : 'The mail server of SMTP_URL answers. SMTP_URL names no user, so no sign-in was tried.',
      ),
    ];
  } catch (error) {
    return [wrong('mail', mailProblem(error).message, 'Correct SMTP_URL, or unset it: invitations then are links to copy.')];
  } finally {
    mailer.close();
  }
}

/** Whether an S3 store of BLOB_URL lets Parley write, read and delete. A folder is checked as a folder. */
async function checkFiles(settings: Settings): Promise<readonly Finding[]> {
  const address = readBlobAddress(settings);
  if (address.kind === 'folder') return [];
  const { openS3Blobs } = await import('../../storage/blobs/s3/open.ts');
  try {
    const blobs = await openS3Blobs(address, settings);
    try {
      await blobs.probe();
    } finally {
      await blobs.close();
    }
    return [good('files', `The bucket ${address.bucket} can be written to and read from.`)];
  } catch (error) {
    if (error instanceof StartRefusal) return [wrong('files', error.message)];
    const reason = findCode(error) ?? displayValue('BLOB_URL', error instanceof Error ? error.message : String(error));
    return [
      wrong(
        'files',
        `The bucket ${address.bucket} cannot be used (${reason}).`,
        'Correct BLOB_URL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
      ),
    ];
  }
}

const mebibyte = 1024 * 1024;
/** What a first start writes. */
const firstStartBytes = 48 * mebibyte;

/** Whether the folders of the settings could be written to, and whether there is room. Makes none of them. */
function checkFolders(settings: Settings): readonly Finding[] {
  const blobs = readBlobAddress(settings);
  const folders = [
    { path: settings.DATA_DIR, setting: 'DATA_DIR' },
    ...(blobs.kind === 'folder' && settings.BLOB_URL !== undefined ? [{ path: blobs.path, setting: 'BLOB_URL' }] : []),
  ];
  return folders.flatMap(({ path, setting }) => {
    const problem = folderProblem(path, setting);
    if (problem !== undefined) return [wrong('folder', problem)];
    return [good('folder', `${resolve(path)} (${setting}) can be written to.`), checkRoom(path, setting, settings)];
  });
}

function checkRoom(path: string, setting: string, { DISK_FREE_MIN_BYTES }: Settings): Finding {
  const freeBytes = measureFreeBytes(existingPart(resolve(path)));
  const neededBytes = Math.max(DISK_FREE_MIN_BYTES, firstStartBytes);
  const free = `${Math.floor(freeBytes / mebibyte)} MiB`;
  if (freeBytes >= neededBytes) return good('disk', `The disk of ${setting} has ${free} left.`);
  return wrong(
    'disk',
    `The disk of ${setting} is full: it has ${free} left, and ${Math.ceil(neededBytes / mebibyte)} MiB are needed.`,
    `Make room, or name another folder in ${setting}.`,
  );
}

const placesMax = 20;

/** Whether each provider of sign-ins has a discovery document that fits its settings. */
export async function checkSignIn(settings: Settings): Promise<readonly Finding[]> {
  const pools = new Pools({ tenantPercent: 100, organizationPercent: 100 });
  const providers = createOidcProviders(settings.oidcProviders, {
    ...readEgressOptions(settings),
    lookups: pools.queue('lookups', placesMax),
    calls: pools.queue('calls', placesMax),
  });
  const findings = await Promise.all(providers.list.map(findFinding));
  await providers.close();
  return findings;
}

async function findFinding(provider: OidcProvider): Promise<Finding> {
  const { name, issuer } = provider.settings;
  try {
    await provider.check();
    return good('sign-in', `The provider ${name} answers as ${issuer}.`);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return wrong('sign-in', error.advice ?? error.message);
  }
}
