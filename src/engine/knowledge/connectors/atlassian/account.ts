import { membersOf, readElements } from '../../../../lib/json/json.ts';
import { type AccountService, findText, toClient } from '../../connections/oauth-service.ts';
import { SourceError } from '../error.ts';
import { type MemberReader, type TextMember, textMember } from '../members.ts';
import { type AtlassianProduct, productNames } from './site.ts';

/** How an account at one product of Atlassian's cloud is connected. */
export function atlassianAccount(product: AtlassianProduct, scopes: readonly string[]): AccountService {
  const name = productNames[product];
  return {
    oauth: (settings) => ({
      name,
      authorizeUrl: settings.ATLASSIAN_AUTHORIZE_URL,
      tokenUrl: settings.ATLASSIAN_TOKEN_URL,
      client: toClient(settings.ATLASSIAN_CLIENT_ID, settings.ATLASSIAN_CLIENT_SECRET),
      clientSettings: 'ATLASSIAN_CLIENT_ID and ATLASSIAN_CLIENT_SECRET',
      scopes: ['offline_access', ...scopes],
      usesPkce: false,
      format: 'json',
      authorizeMembers: { audience: 'api.atlassian.com', prompt: 'consent' },
    }),
    async name({ ATLASSIAN_API_URL }, ask) {
      const sites = readElements(await ask(`${ATLASSIAN_API_URL}/oauth/token/accessible-resources`)).map(membersOf);
      if (sites.length === 0) throw new SourceError('FORBIDDEN', `The account has no site of ${name} that it may show.`);
      return sites.map((site) => findText(site.name, site.url)).join(', ');
    },
  };
}

/** The site that a source reads. */
export function siteMember(read: MemberReader): TextMember {
  return textMember(
    {
      input:
        "The id of one of the account's sites. Needed where the account has several and the connection's `baseUrl` names none; the source's `errorMessage` lists them then.",
      setting: "The id of the one of the account's sites that is read; null for its only one.",
    },
    read,
  );
}
