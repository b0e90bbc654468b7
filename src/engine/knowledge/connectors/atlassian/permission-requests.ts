import { type JsonObject, membersOf, readString } from '../../../../lib/json/json.ts';
import type { Settings } from '../../../../settings.ts';
import type { ConnectorServices } from '../connector.ts';
import { SourceError } from '../error.ts';
import type { ServiceAccount } from '../permissions.ts';
import { type AtlassianProduct, productNames, type Query, type SiteApi } from './site.ts';

/** Reads an address of a site about permissions. @throws SourceError, or the signal's reason. */
export type PermissionGet = (path: string, query?: Query) => Promise<JsonObject>;

/** The right to say who somebody is. */
export const identityScope = 'read:me';

/**
 * Calls of one product about permissions. A scope that the connection lacks is a matter of these calls: FORBIDDEN, because documents can be read without
 * it.
 */
export function permissionCalls(
  { vendors }: Pick<ConnectorServices, 'vendors'>,
  product: AtlassianProduct,
  site: SiteApi,
  signal: AbortSignal,
  attempts?: number,
): { readonly get: PermissionGet; readonly post: (path: string, body: unknown) => Promise<JsonObject> } {
  // Each refusal of a scope costs a renewal of the token: a kind of call that was refused is not tried again.
  const refusedKinds = new Map<string, SourceError>();
  const toRequest = (path: string, query?: Query) => {
    const kind = path
      .split('/')
      .map((part) => (/\d/.test(part) ? '*' : part))
      .join('/');
    const refused = refusedKinds.get(kind);
    if (refused !== undefined) throw refused;
    const request = site.request(path, query);
    const refusal: typeof request.refusal = (reply) => {
      const usual = request.refusal?.(reply);
      if (usual?.code !== 'AUTH') return usual;
      const refusalError = new SourceError(
        'FORBIDDEN',
        `The connection does not allow permissions of ${productNames[product]} to be read.`,
      );
      refusedKinds.set(kind, refusalError);
      return refusalError;
    };
    return { ...request, refusal, ...(attempts === undefined ? {} : { attempts }) };
  };
  return {
    get: async (path, query) => membersOf(await vendors.json(toRequest(path, query), signal)),
    post: async (path, body) => membersOf(await vendors.json({ ...toRequest(path), body }, signal)),
  };
}

/** Whose account was connected. An address counts where Atlassian calls it verified. */
export async function readAtlassianAccount(
  { ATLASSIAN_API_URL }: Settings,
  ask: (url: string) => Promise<unknown>,
): Promise<ServiceAccount> {
  const { account_id: id, email, email_verified: isVerified } = membersOf(await ask(`${ATLASSIAN_API_URL}/me`));
  const accountId = readString(id);
  if (accountId === undefined) throw new SourceError('BAD_REPLY', 'Atlassian did not say which account it is.');
  const address = readString(email)?.toLowerCase();
  return isVerified === true && address !== undefined ? { accountId, verifiedEmail: address } : { accountId };
}

/** A list without its member is a reply that was cut, and never an empty one. */
export function readListed(reply: JsonObject, name: string, product: AtlassianProduct): readonly JsonObject[] {
  const value = reply[name];
  if (!Array.isArray(value))
    throw new SourceError('BAD_REPLY', `${productNames[product]} answered without the list that was asked for.`);
  return value.map(membersOf);
}

/** Atlassian hides most addresses: people are known by their ids alone. Apps and customers of a help desk are no people of the site. */
export function isPerson({ accountType, active, accountStatus }: JsonObject): boolean {
  const type = readString(accountType) ?? 'atlassian';
  return type === 'atlassian' && active !== false && (readString(accountStatus) ?? 'active') === 'active';
}
