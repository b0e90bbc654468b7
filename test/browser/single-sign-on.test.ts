import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../support/browser/browser.ts';
import { openPage, visible } from '../support/browser/pages.ts';
import { startIdentityProvider } from '../support/people/identity-provider.ts';
import { withService } from '../support/service.ts';

const provider = await startIdentityProvider();
const { service, make } = await withService('plain', { env: { ...provider.settings('idp'), OIDC_IDP_LABEL: 'Our <Company>' } });

beforeAll(() => provider.register(service.url, 'idp'));
afterAll(() => provider.close());

describe.skipIf(!hasBrowser())('single sign-on, in Chromium', () => {
  it('leads from the button through the provider to GraphiQL, and out there too', async () => {
    const { data } = await service.client().graphql('{ viewer { organization { id tenantId } } }');
    const { email } = await make.person({ organization: data.viewer.organization, name: 'Ann Example' });
    provider.signsIn({ sub: 'ann', email, email_verified: true });
    const { page } = await openPage(`${service.url}/sign-in?next=/graphql`);
    await page.waitForSelector('.provider', { visible: true });
    expect(await visible(page, '#providers')).toContain('Sign in with Our <Company>');
    await page.click('.provider');
    await page.waitForFunction(
      () => document.getElementById('key-status')?.textContent?.includes('signed in as Ann Example') === true,
    );
    expect(page.url()).toBe(`${service.url}/graphql`);
    // The cookie is out of reach of scripts.
    expect(await page.evaluate(() => document.cookie)).toBe('');
    await page.waitForSelector('#site-sign-out', { visible: true });
    await page.click('#site-sign-out');
    await page.waitForFunction((issuer) => location.href.startsWith(`${issuer}/session/end`), {}, provider.issuer);
    await page.goto(`${service.url}/sign-in`);
    await page.waitForSelector('.provider', { visible: true });
  });

  it('says in plain words why somebody is refused', async () => {
    provider.signsIn({ sub: 'eve', email: 'eve@example.org', email_verified: false });
    const { page } = await openPage(`${service.url}/sign-in`);
    await page.waitForSelector('.provider', { visible: true });
    await Promise.all([page.waitForSelector('#problem', { visible: true }), page.click('.provider')]);
    await page.waitForFunction(() => location.pathname.endsWith('/callback'));
    expect(await visible(page, '#problem')).toContain('is not verified');
  });
});
