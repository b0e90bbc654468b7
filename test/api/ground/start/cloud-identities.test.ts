import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkAll } from '../../../../src/start/checks/checks.ts';
import { bedrockModel, roleArn, startAws } from '../../../fixtures/upstreams/clouds/aws.ts';
import { startIssuer } from '../../../fixtures/upstreams/clouds/issuer.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-identities-'));
const tokenFile = join(folder, 'token');
const modelsFile = join(folder, 'models.json');
const issuer = await startIssuer();
const aws = await startAws(issuer, () => new Date());
await issuer.writeToken(tokenFile, 'sts.amazonaws.com');
const provider = { id: 'aws', wire: 'bedrock', region: 'eu-central-1', baseUrl: aws.url, models: [{ name: bedrockModel }] };
writeFileSync(modelsFile, JSON.stringify({ providers: [provider] }));
const env = {
  MODELS_FILE: modelsFile,
  AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
  AWS_ROLE_ARN: roleArn,
  AWS_ENDPOINT_URL_STS: `${aws.url}/sts`,
};
afterAll(async () => {
  await aws.close();
  rmSync(folder, { recursive: true, force: true });
});
const { service } = await withService('plain', { env: { ...env, MODEL_RETRIES_MAX: '0' } });
const doctor = async (more: Readonly<Record<string, string>> = {}) =>
  (await checkAll({ DATA_DIR: '/nowhere', PORT: '0', ...env, ...more })).filter(
    ({ check, message }) => check === 'models' && message.includes('aws'),
  );

describe('a provider that the identity of the workload opens', () => {
  it('answers a completion, and its models are listed', async () => {
    const root = service.client();
    const { data } = await root.graphql('{ installation { models { id } health { state problems } } }');
    expect(data.installation.models).toContainEqual({ id: `aws/${bedrockModel}` });
    expect(data.installation.health).toEqual({ state: 'READY', problems: [] });
    const reply = await root.post('/api/v1/chat/completions', {
      model: `aws/${bedrockModel}`,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(reply).toMatchObject({ status: 200, body: { choices: [{ message: { content: 'Hello "€"' } }] } });
  });

  it('is checked by parley doctor', async () => {
    expect(await doctor()).toEqual([
      { check: 'models', level: 'good', message: 'aws signs this service in; 1 model(s) are configured.' },
    ]);
    const advice = 'Correct the identity of the workload, as docs/models-file.md says.';
    expect(await doctor({ AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/other' })).toEqual([
      {
        ...{ check: 'models', level: 'wrong', advice },
        message: `This service cannot sign in at aws: ${aws.url}/sts answers 400 (AccessDenied).`,
      },
    ]);
    expect(await doctor({ AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'nothing') })).toMatchObject([
      {
        level: 'wrong',
        message: expect.stringMatching(/AWS_WEB_IDENTITY_TOKEN_FILE names \S+nothing, which cannot be read: ENOENT/),
      },
    ]);
  });

  it('says what of the models file is wrong', async () => {
    const file = join(folder, 'wrong.json');
    writeFileSync(file, JSON.stringify({ providers: [{ ...provider, apiKeyEnv: 'KEY', region: 'EU/central', models: [] }] }));
    const [finding] = (await checkAll({ DATA_DIR: '/nowhere', PORT: '0', MODELS_FILE: file })).filter(
      ({ check }) => check === 'models',
    );
    for (const told of ['providers[0].region', 'providers[0].models', 'apiKeyEnv']) expect(finding?.message).toContain(told);
  });

  it('is not ready without its identity: a run fails, /readyz tells it without details', async () => {
    await service.restart({ AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/other' });
    const problem = 'This service cannot sign in at the model provider aws; its log and parley doctor say why.';
    await eventually(async () => {
      expect(await service.nobody.get('/readyz')).toMatchObject({ status: 200, body: { status: 'ready', degraded: problem } });
    });
    const reply = await service.client().post('/api/v1/chat/completions', {
      model: `aws/${bedrockModel}`,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(reply).toMatchObject({
      status: 502,
      body: { error: { message: expect.stringContaining('This service cannot sign in at the model provider "aws"') } },
    });
  });
});
