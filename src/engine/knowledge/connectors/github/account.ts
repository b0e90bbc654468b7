import { membersOf, readElements } from '../../../../lib/json/json.ts';
import type { Settings } from '../../../../settings.ts';
import { type AccountService, notRegistered, toClient } from '../../connections/oauth-service.ts';
import { SourceError } from '../error.ts';

const installationPagesMax = 20;

/** A person installs the App, and shows by their own token which installations are theirs. */
export const githubAccount: AccountService = {
  oauth: (settings) => ({
    name: 'GitHub',
    authorizeUrl: `${findWebOrigin(settings)}/login/oauth/authorize`,
    tokenUrl: `${findWebOrigin(settings)}/login/oauth/access_token`,
    client: toClient(settings.GITHUB_CLIENT_ID, settings.GITHUB_CLIENT_SECRET),
    clientSettings: 'GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET',
    scopes: [],
    usesPkce: false,
    format: 'form',
    authorizeMembers: {},
  }),
  installUrl(settings, state) {
    const { GITHUB_APP_SLUG, GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET } = settings;
    if (GITHUB_APP_SLUG === undefined || GITHUB_CLIENT_ID === undefined || GITHUB_CLIENT_SECRET === undefined) {
      throw notRegistered('GitHub', 'GITHUB_APP_SLUG, GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET');
    }
    return `${findWebOrigin(settings)}/apps/${encodeURIComponent(GITHUB_APP_SLUG)}/installations/new?state=${encodeURIComponent(state)}`;
  },
  /** The account that an installation belongs to. An installation id alone proves nothing: it must be among those of the person. */
  async name(settings, ask, installationId) {
    if (installationId === undefined) throw new SourceError('AUTH', 'The repository host did not say which installation it is.');
    for (let page = 1; page <= installationPagesMax; page += 1) {
      const reply = membersOf(await ask(`${settings.GITHUB_API_URL}/user/installations?per_page=100&page=${page}`));
      const installations = readElements(reply.installations).map(membersOf);
      const installation = installations.find(({ id }) => id === installationId);
      if (installation !== undefined) return String(membersOf(installation.account).login ?? `Installation ${installationId}`);
      if (installations.length < 100) break;
    }
    throw new SourceError('FORBIDDEN', 'This installation is not among those of your account at GitHub.');
  },
};

/** The web pages of the repository host; its API is elsewhere. */
function findWebOrigin(settings: Settings): string {
  const api = new URL(settings.GITHUB_API_URL);
  return api.hostname === 'api.github.com' ? 'https://github.com' : api.origin;
}
