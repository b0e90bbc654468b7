import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ModelError } from '../../../src/engine/models/port.ts';
import {
  answerFrames,
  bedrockModel,
  callFrames,
  containerToken,
  eventFrame,
  roleArn,
  startAws,
} from '../../fixtures/upstreams/clouds/aws.ts';
import { clientId, managedSecret, startAzure, tenantId } from '../../fixtures/upstreams/clouds/azure.ts';
import { poolAudience, serviceAccount, startGoogleCloud } from '../../fixtures/upstreams/clouds/google.ts';
import { startIssuer, type TokenIssuer } from '../../fixtures/upstreams/clouds/issuer.ts';
import type { StandIn } from '../../fixtures/upstreams/stand-in.ts';
import { ask, collect, failureOf, makeRouter } from '../../support/runs/models.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-clouds-'));
const tokenFile = join(folder, 'token');
const never = new AbortController().signal;
let issuer: TokenIssuer;
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A clock that a test turns on. */
function clock() {
  let aheadMs = 0;
  const turnOn = (ms: number) => {
    aheadMs += ms;
  };
  return { now: () => new Date(Date.now() + aheadMs), turnOn };
}

function use(standIn: StandIn, provider: object, env: Readonly<Record<string, string>>, now: () => Date) {
  const file = join(folder, `models-${Math.random()}.json`);
  writeFileSync(file, JSON.stringify({ providers: [{ id: 'cloud', ...provider }] }));
  const models = makeRouter({ MODELS_FILE: file, ...env }, now);
  onTestFinished(async () => {
    await models.close();
    await standIn.close();
  });
  const run = (model: string, more: Parameters<typeof ask>[2] = {}) =>
    models.stream(ask(`cloud/${model}`, 'Hi', more), never).deltas;
  return { models, run };
}

const ways = {
  bedrock: {
    'the token file of a pod': (url: string) => [
      { AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile, AWS_ROLE_ARN: roleArn, AWS_ENDPOINT_URL_STS: `${url}/sts` },
      {},
    ],
    'the credentials of a container': (url: string) => [
      { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/container`, AWS_CONTAINER_AUTHORIZATION_TOKEN: containerToken },
      {},
    ],
    'the role of the machine': (url: string) => [{ AWS_EC2_METADATA_SERVICE_ENDPOINT: `${url}/` }, { instanceMetadata: true }],
  },
  vertex: {
    'workload identity federation': (url: string) => [{ GOOGLE_APPLICATION_CREDENTIALS: federationFile(url) }, {}],
    'a token at an address': (url: string) => [{ GOOGLE_APPLICATION_CREDENTIALS: federationFile(url, true) }, {}],
    'the metadata server': (url: string) => [{ GCE_METADATA_HOST: new URL(url).host }, { instanceMetadata: true }],
  },
  azure: {
    'the federated token of a pod': (url: string) => [
      {
        AZURE_FEDERATED_TOKEN_FILE: tokenFile,
        AZURE_TENANT_ID: tenantId,
        AZURE_CLIENT_ID: clientId,
        AZURE_AUTHORITY_HOST: `${url}/`,
      },
      {},
    ],
    'the managed identity of an app': (url: string) => [
      { IDENTITY_ENDPOINT: `${url}/msi/token`, IDENTITY_HEADER: managedSecret },
      {},
    ],
    'the managed identity of the machine': (url: string) => [
      { AZURE_POD_IDENTITY_AUTHORITY_HOST: url, AZURE_CLIENT_ID: clientId },
      { instanceMetadata: true },
    ],
  },
} satisfies Record<string, Record<string, (url: string) => [Record<string, string>, object]>>;

function federationFile(url: string, isByAddress = false): string {
  const file = join(folder, 'federation.json');
  const source = isByAddress
    ? {
        url: `${url}/subject-token`,
        headers: { 'x-purpose': 'test' },
        format: { type: 'json', subject_token_field_name: 'id_token' },
      }
    : { file: tokenFile };
  writeFileSync(
    file,
    JSON.stringify({
      ...{ type: 'external_account', audience: poolAudience, subject_token_type: 'urn:ietf:params:oauth:token-type:jwt' },
      token_url: `${url}/v1/token`,
      service_account_impersonation_url: `${url}/v1/projects/-/serviceAccounts/${serviceAccount}:generateAccessToken`,
      credential_source: source,
    }),
  );
  return file;
}

const audiences = { bedrock: 'sts.amazonaws.com', vertex: poolAudience, azure: 'api://AzureADTokenExchange' } as const;
const modelOf = { bedrock: bedrockModel, vertex: 'gemini-2.5-flash', azure: 'chat-small' } as const;
const start = { bedrock: startAws, vertex: startGoogleCloud, azure: startAzure } as const;
type Cloud = keyof typeof start;
const providerOf = (cloud: Cloud, url: string) => ({
  ...{ wire: cloud, baseUrl: url, models: [{ name: modelOf[cloud] }] },
  ...(cloud === 'bedrock' ? { region: 'eu-central-1' } : {}),
  ...(cloud === 'vertex' ? { project: 'acme', location: 'europe-west4' } : {}),
});

/** A provider of a cloud whose identity comes in one of its ways: by default the first. */
async function cloud<C extends Cloud>(
  name: C,
  way: string = Object.keys(ways[name])[0] as string,
  more: object = {},
  audience: string = audiences[name],
) {
  await issuer.writeToken(tokenFile, audience);
  const time = clock();
  const standIn = (await start[name](issuer, time.now)) as Awaited<ReturnType<(typeof start)[C]>>;
  const [env, options] = (ways[name] as Record<string, (url: string) => [Record<string, string>, object]>)[way]?.(
    standIn.url,
  ) ?? [{}, {}];
  return { standIn, ...time, ...use(standIn, { ...providerOf(name, standIn.url), ...options, ...more }, env, time.now) };
}
const cases = (Object.keys(ways) as Cloud[]).flatMap((name) => Object.keys(ways[name]).map((way) => [name, way] as const));
const clouds = Object.keys(ways) as Cloud[];

describe('a model of a cloud', () => {
  it.each(cases)('of %s answers this service by %s', async (name, way) => {
    const { run } = await cloud(name, way);
    const { text, finishes, usage } = await collect(run(modelOf[name]));
    expect({ text, finishes }).toEqual({ text: 'Hello "€"', finishes: ['stop'] });
    expect(usage?.inputTokens).toBeGreaterThan(0);
  });

  it.each(clouds)('of %s answers whole where nobody streams', async (name) => {
    const { run } = await cloud(name);
    const { text, finishes, usage } = await collect(run(modelOf[name], { isStreaming: false }));
    expect({ text, finishes }).toEqual({ text: 'Hello "€"', finishes: ['stop'] });
    expect(usage?.inputTokens).toBeGreaterThan(0);
  });

  it.each(clouds)('of %s costs one sign-in for many calls at once', async (name) => {
    const { run, standIn, models } = await cloud(name);
    await Promise.all(Array.from({ length: 8 }, () => collect(run(modelOf[name]))));
    await collect(run(modelOf[name]));
    expect(models.problems()).toEqual([]);
    const signIns = standIn.requests.filter(({ path }) => /^\/sts$|^\/v1\/token$|oauth2/.test(path));
    expect(signIns).toHaveLength(1);
  });

  it.each(clouds)(
    'of %s is asked with new credentials before the old ones end, and waits for them only once they have ended',
    async (name) => {
      const { run, standIn, turnOn } = await cloud(name);
      await collect(run(modelOf[name]));
      const signIns = () => standIn.requests.filter(({ path }) => /^\/sts$|^\/v1\/token$|oauth2/.test(path)).length;
      turnOn(56 * 60_000);
      // Nothing waits for the renewal, which may even fail.
      standIn.fail({ match: /sts|v1\/token|oauth2/, status: 503, times: 1 });
      await collect(run(modelOf[name]));
      await expect.poll(signIns).toBe(2);
      turnOn(2_000);
      await collect(run(modelOf[name]));
      await expect.poll(signIns).toBe(3);
      turnOn(3 * 60_000);
      await collect(run(modelOf[name]));
      expect(signIns()).toBe(3);
      turnOn(120 * 60_000);
      expect(await collect(run(modelOf[name]))).toMatchObject({ finishes: ['stop'] });
      expect(signIns()).toBe(4);
    },
  );

  it.each(clouds)('of %s cannot be asked without an identity: the caller learns no details, the operator does', async (name) => {
    const { run, models, standIn } = await cloud(name, undefined, {}, 'somebody else');
    const error = await failureOf(run(modelOf[name]));
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ code: 'UPSTREAM_ERROR', message: 'This service cannot sign in at the model provider "cloud"' });
    expect(models.problems()).toEqual([expect.stringContaining('cannot sign in at the model provider cloud')]);
    expect(standIn.requests.filter(({ path }) => path.includes(modelOf[name]))).toEqual([]);
  });

  it.each(clouds)('of %s says that the cloud refuses the identity', async (name) => {
    const { run, standIn } = await cloud(name);
    standIn.fail({
      match: /converse|Content|chat\/completions/,
      status: 403,
      body: { message: 'not authorized to perform: bedrock:InvokeModel' },
    });
    expect(await failureOf(run(modelOf[name]))).toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'The model provider "cloud" does not accept the credentials of this service',
    });
  });
});

describe('Amazon Bedrock', () => {
  it('gets the conversation, tools and marks for its cache, and its calls are read', async () => {
    const { run, standIn } = await cloud('bedrock');
    standIn.next(...callFrames());
    const tools = [{ name: 'add', description: 'Adds.', parameters: { type: 'object', properties: {} } }];
    const messages = [
      { role: 'system' as const, content: 'Be kind.' },
      { role: 'user' as const, content: 'What is 1 + 2?' },
    ];
    const { calls, finishes } = await collect(run(bedrockModel, { messages, tools }));
    expect({ calls, finishes }).toEqual({
      calls: [{ id: 'tooluse_1', name: 'add', arguments: '{"a":1,"b":2}' }],
      finishes: ['tool_calls'],
    });
    expect(standIn.bodies.at(-1)).toMatchObject({
      system: [{ text: 'Be kind.' }, { cachePoint: { type: 'default', ttl: '5m' } }],
      messages: [{ role: 'user', content: [{ text: 'What is 1 + 2?' }, { cachePoint: { type: 'default', ttl: '5m' } }] }],
      toolConfig: { tools: [{ toolSpec: { name: 'add' } }] },
    });
  });

  it.each([
    ['throttlingException', 'RATE_LIMIT_EXCEEDED', 'Too many requests, please wait.'],
    ['serviceUnavailableException', 'UPSTREAM_ERROR', 'Bedrock is unable to process your request.'],
    ['validationException', 'INVALID_VALUE', 'The value is not valid.'],
    ['validationException', 'CONTEXT_LENGTH_EXCEEDED', 'Input is too long for requested model.'],
  ])('ends an answer with an exception in its stream: %s, %s', async (type, code, message) => {
    const { run, standIn } = await cloud('bedrock');
    const begun = answerFrames('Hel').slice(0, 2);
    standIn.next(...begun, eventFrame(type, { message }, 'exception'));
    expect(await failureOf(run(bedrockModel))).toMatchObject({ code });
  });

  it.each([
    [
      'a frame with a wrong checksum',
      (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -1), Buffer.from([bytes.at(-1) === 0 ? 1 : 0])]),
    ],
    ['half a frame', (bytes: Buffer) => bytes.subarray(0, -20)],
    ['no end', (bytes: Buffer) => bytes],
  ])('fails at %s', async (_what, alter) => {
    const { run, standIn } = await cloud('bedrock');
    const [start = Buffer.alloc(0), piece = Buffer.alloc(0)] = answerFrames('Hel');
    standIn.next(start, alter(piece));
    expect(await failureOf(run(bedrockModel))).toMatchObject({ code: 'UPSTREAM_ERROR' });
  });

  it('refuses a call that another secret signed, so its stand-in checks signatures', async () => {
    const { run, standIn, turnOn } = await cloud('bedrock');
    await collect(run(bedrockModel));
    const change = (xml: unknown) => String(xml).replace(/(<SecretAccessKey>).*(<)/, '$1another$2');
    standIn.fail({ match: /sts/, alter: ({ body, ...reply }) => ({ ...reply, body: change(body) }) });
    turnOn(120 * 60_000);
    expect(await failureOf(run(bedrockModel))).toMatchObject({
      message: 'The model provider "cloud" does not accept the credentials of this service',
    });
  });

  it('does not sign with the keys of the store of files', async () => {
    const time = clock();
    const standIn = await startAws(issuer, time.now);
    const env = { AWS_ACCESS_KEY_ID: 'AKIASTORE', AWS_SECRET_ACCESS_KEY: 'secret' };
    const { run } = use(standIn, providerOf('bedrock', standIn.url), env, time.now);
    expect(await failureOf(run(bedrockModel))).toMatchObject({
      message: 'This service cannot sign in at the model provider "cloud"',
    });
    expect(standIn.requests).toEqual([]);
  });
});

describe('Google Vertex AI', () => {
  it('serves Claude too', async () => {
    const name = 'claude-sonnet-4-5@20250929';
    const { run } = await cloud('vertex', 'workload identity federation', { models: [{ name }] });
    expect(await collect(run(name))).toMatchObject({ text: 'Hello from Claude', finishes: ['stop'] });
  });
});

describe('Azure OpenAI', () => {
  it.each([[{}], [{ apiVersion: '2024-10-21' }]])('is asked at the paths of its version: %j', async (version) => {
    const { run, standIn, models } = await cloud('azure', 'the federated token of a pod', version);
    expect(await collect(run('chat-small', { cacheKey: 'chat' }))).toMatchObject({ text: 'Hello "€"', finishes: ['stop'] });
    const { vectors } = (await models.embeddingOf('cloud/chat-small')?.embed({ model: 'chat-small', input: ['a'] }, never)) ?? {};
    expect(vectors).toEqual([[0.5, 0.25]]);
    const paths = standIn.requests.map(({ path, query }) => `${path}?${query}`).filter((path) => path.startsWith('/openai'));
    const isDated = 'apiVersion' in version;
    const base = isDated ? '/openai/deployments/chat-small' : '/openai/v1';
    const query = isDated ? 'api-version=2024-10-21' : '';
    expect(paths).toEqual([`${base}/chat/completions?${query}`, `${base}/embeddings?${query}`]);
  });
});
