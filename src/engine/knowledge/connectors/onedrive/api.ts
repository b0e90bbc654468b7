import { membersOf, readElements, readString } from '../../../../lib/json/json.ts';
import type { ConnectorServices } from '../connector.ts';
import { SourceError } from '../error.ts';
import type { ServiceRequest, ServiceToken } from '../service-client/client.ts';
import { CursorTrail } from '../service-client/cursor-trail.ts';
import { type DriveItem, readItem } from './item.ts';
import { graphRefusal } from './refusal.ts';

export interface ItemPage {
  readonly items: readonly DriveItem[];
  readonly nextLink: string | undefined;
  /** On the last page of a delta: where the next one begins. */
  readonly deltaLink: string | undefined;
}

/** Drives of Microsoft Graph with one account. A drive is named by its id; undefined is the account's own. Calls throw SourceError, or the signal's reason. */
export interface GraphApi {
  item(drive: string | undefined, id: string): Promise<DriveItem>;
  children(drive: string | undefined, id: string, link: string | undefined): Promise<ItemPage>;
  search(drive: string | undefined, text: string, link: string | undefined): Promise<ItemPage>;
  /** @param from  a link of an earlier page; `latest`: only what changes from now on; undefined: everything. */
  delta(drive: string | undefined, from: string | undefined): Promise<ItemPage>;
  /** The drives that belong to the account, without its own. */
  drives(): Promise<readonly { readonly id: string; readonly name: string }[]>;
  /** A request for content. */
  content(drive: string | undefined, id: string): ServiceRequest;
}

export const latest = 'latest';
const pageSize = 100;

export function createGraphApi(
  { settings, vendors }: Pick<ConnectorServices, 'settings' | 'vendors'>,
  token: ServiceToken,
  signal: AbortSignal,
): GraphApi {
  const base = settings.MICROSOFT_API_URL.replace(/(?<!\/)\/+$/, '');
  const request = (url: string): ServiceRequest => ({ service: 'OneDrive', url, token, refusal: graphRefusal });
  const driveUrl = (drive: string | undefined) =>
    drive === undefined ? `${base}/me/drive` : `${base}/drives/${encodeURIComponent(drive)}`;
  const itemUrl = (drive: string | undefined, id: string) =>
    id === 'root' ? `${driveUrl(drive)}/root` : `${driveUrl(drive)}/items/${encodeURIComponent(id)}`;
  const get = async (url: string) => membersOf(await vendors.json(request(url), signal));
  const trail = new CursorTrail('OneDrive');
  const pageAt = async (first: string, link: string | undefined): Promise<ItemPage> => {
    const { value, ...reply } = await get(link ?? first);
    // A list without its member is a reply that was cut, and never an empty folder.
    if (!Array.isArray(value)) throw new SourceError('BAD_REPLY', 'OneDrive answered without the list that was asked for.');
    const nextLink = trail.follow(first, link, toLink(base, reply['@odata.nextLink']));
    return { items: value.map(readItem), nextLink, deltaLink: toLink(base, reply['@odata.deltaLink']) };
  };
  return {
    item: async (drive, id) => readItem(await get(itemUrl(drive, id))),
    children: (drive, id, link) => pageAt(`${itemUrl(drive, id)}/children?$top=${pageSize}`, toLink(base, link)),
    search(drive, text, link) {
      const q = encodeURIComponent(text.replaceAll("'", "''"));
      return pageAt(`${driveUrl(drive)}/root/search(q='${q}')?$top=${pageSize}`, toLink(base, link));
    },
    async delta(drive, from) {
      const query = from === latest ? 'token=latest' : `$top=${pageSize}`;
      const page = await pageAt(`${driveUrl(drive)}/root/delta?${query}`, from === latest ? undefined : toLink(base, from));
      if (page.nextLink === undefined && page.deltaLink === undefined) {
        throw new SourceError('BAD_REPLY', 'OneDrive ended its changes without a link to the next ones.');
      }
      return page;
    },
    async drives() {
      const { value } = await get(`${base}/me/drives?$top=${pageSize}`);
      const own = readString((await get(driveUrl(undefined))).id);
      return readElements(value).flatMap((one) => {
        const { id, name } = membersOf(one);
        return typeof id !== 'string' || id === own ? [] : [{ id, name: readString(name) ?? id }];
      });
    },
    content: (drive, id) => ({ ...request(`${itemUrl(drive, id)}/content`), headers: { accept: '*/*' } }),
  };
}

/** A link to a further page. @throws SourceError BAD_REPLY for one that leads elsewhere: it would get the token. */
export function toLink(base: string, link: unknown): string | undefined {
  if (typeof link !== 'string' || link === '') return undefined;
  const url = URL.parse(link);
  const own = new URL(`${base}/`);
  if (url === null || url.origin !== own.origin || !url.pathname.startsWith(own.pathname)) {
    throw new SourceError('BAD_REPLY', 'OneDrive continues a list at another address than MICROSOFT_API_URL.');
  }
  return link;
}
