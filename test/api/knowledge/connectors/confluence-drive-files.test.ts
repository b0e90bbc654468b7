import { afterAll, expect, it } from 'vitest';
import { startAtlassian } from '../../../fixtures/upstreams/atlassian.ts';
import { GoogleDrive } from '../../../fixtures/upstreams/google-drive.ts';
import { connectedSources } from '../../../support/knowledge/connected.ts';
import { withService } from '../../../support/service.ts';

const google = await GoogleDrive.start();
const cloud = await startAtlassian();
afterAll(() => Promise.all([google.server.close(), cloud.close()]));
const { service, make } = await withService('plain', {
  env: {
    ...cloud.env,
    GOOGLE_API_URL: google.url,
    GOOGLE_TOKEN_URL: `${google.url}/token`,
    GOOGLE_CLIENT_ID: 'id',
    GOOGLE_CLIENT_SECRET: 'secret',
  },
});
const { add, run, refresh, items, texts } = connectedSources(service);

it('reads the files of Google Drive that pages of a wiki link to, and follows their changes', async () => {
  const ann = await make.person();
  const { id: aiId } = await make.agent({ owner: ann });
  const connect = async (provider: string, { access, refresh: refreshToken }: { access: string; refresh: string }) =>
    (await ann.post('/api/v1/connections', { provider, accountName: 'Ann', accessToken: access, refreshToken })).body.id;
  const file = google.add({ id: '1PlanPlanPlan', name: 'Plan.txt', mimeType: 'text/plain', text: 'The plan begins in spring.' });
  const link = (id: string) => `<p><a href="https://drive.google.com/file/d/${id}/view">Plan</a></p>`;
  const page = cloud.wiki.page(cloud.wiki.space('Plans').id, 'Plans', link(file.id) + link('1GoneGoneGone'));
  const source = { pageName: 'Plans', pageId: page.id, indexDriveFiles: true };
  const accounts = {
    oauthTokenId: await connect('WIKI', cloud.grant()),
    selectedDriveAccount: await connect('DRIVE_A', google.tokens),
  };
  const id = await add(ann, aiId, 'wiki', { ...source, ...accounts });
  expect(await run(ann, id, 1)).toMatchObject({ status: 'COMPLETED', addedCount: 2, skippedCount: 0, failedCount: 1 });
  expect((await texts(id))[file.id]).toContain('begins in spring');
  const gone = (await items(ann, id)).find(({ uniqueId }) => uniqueId === '1GoneGoneGone');
  expect(gone).toMatchObject({ indexStatus: 'FAILED', parentUniqueId: page.id, errorCode: 'NOT_FOUND' });
  google.change(file.id, { text: 'The plan begins in autumn.' });
  await refresh(ann, id);
  expect(await run(ann, id, 2)).toMatchObject({ changedCount: 1, unchangedCount: 1, removedCount: 0 });
  expect((await texts(id))[file.id]).toContain('begins in autumn');
  const error = { code: 403, message: 'The user has no access.', errors: [{ reason: 'insufficientFilePermissions' }] };
  google.server.fail({ match: new RegExp(`files/${file.id}\\?`), status: 403, body: { error }, times: 1 });
  await refresh(ann, id);
  await run(ann, id, 3);
  const forbidden = (await items(ann, id)).find(({ uniqueId }) => uniqueId === file.id);
  expect(forbidden).toMatchObject({ indexStatus: 'FAILED', errorCode: 'FORBIDDEN' });
  expect(forbidden?.errorMessage).toContain('The user has no access.');
  await refresh(ann, id);
  await run(ann, id, 4);
  expect((await texts(id))[file.id]).toContain('begins in autumn');
});
