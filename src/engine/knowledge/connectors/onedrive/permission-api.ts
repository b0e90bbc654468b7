import type { GroupMembers, ItemPermissions } from '../../../../entities/knowledge/permissions.ts';
import { inParts } from '../../../../lib/in-parts.ts';
import { type JsonObject, membersOf, readElements, readString } from '../../../../lib/json/json.ts';
import type { ConnectorServices } from '../connector.ts';
import { SourceError } from '../error.ts';
import { toUnreadable } from '../permission-reading/unknown.ts';
import { parseWait, type ServiceRequest, type ServiceToken } from '../service-client/client.ts';
import { CursorTrail } from '../service-client/cursor-trail.ts';
import { latest, toLink } from './api.ts';
import { readGrants, tenantGroup } from './grants.ts';
import { loadGroup } from './group-members.ts';
import { type DriveItem, readItem } from './item.ts';
import { graphRefusal } from './refusal.ts';

export interface ItemAddress {
  /** Undefined: the account's own drive. */
  readonly drive: string | undefined;
  readonly id: string;
}

export interface SharingPage {
  readonly items: readonly (DriveItem & { readonly isSharedAnew: boolean })[];
  readonly nextLink: string | undefined;
  readonly deltaLink: string | undefined;
}

const batchMax = 20;
/** Graph takes these together only. */
const sharingChanges = 'deltashowremovedasdeleted, deltatraversepermissiongaps, deltashowsharingchanges';
const neededRight = 'Needed: an account that owns the item, or may see who has access to it.';

/** Who may open items of Microsoft Graph. Every call throws SourceError, or the signal's reason. */
export class GraphSharingApi {
  readonly #base: string;
  readonly #vendors: ConnectorServices['vendors'];
  readonly #request: (url: string) => ServiceRequest;
  readonly #signal: AbortSignal;
  #domains: Promise<readonly string[]> | undefined;

  constructor(
    { settings, vendors }: Pick<ConnectorServices, 'settings' | 'vendors'>,
    token: ServiceToken,
    signal: AbortSignal,
    attempts?: number,
  ) {
    const tries = attempts === undefined ? {} : { attempts };
    this.#base = settings.MICROSOFT_API_URL.replace(/(?<!\/)\/+$/, '');
    this.#vendors = vendors;
    this.#request = (url) => ({ service: 'OneDrive', url, token, refusal: graphRefusal, ...tries });
    this.#signal = signal;
  }

  /** Who may open items, in the order of the items: twenty with one request. */
  async permissions(items: readonly ItemAddress[]): Promise<readonly ItemPermissions[]> {
    const loadPart = async (part: readonly ItemAddress[]) => {
      const replies = await this.#batch(part.map((item) => `${toPath(item)}/permissions`));
      return Promise.all(replies.map((reply) => this.#readPermissions(reply)));
    };
    return (await Promise.all([...inParts(items, batchMax)].map(loadPart))).flat();
  }

  /** Ids of the folders that items lie in, in the order of the items; undefined for the top of a drive and for what is hidden. */
  async parents(items: readonly ItemAddress[]): Promise<readonly (string | undefined)[]> {
    const parents: (string | undefined)[] = [];
    for (const part of inParts(items, batchMax)) {
      const replies = await this.#batch(part.map((item) => `${toPath(item)}?$select=id,parentReference`));
      parents.push(...replies.map(({ body }) => readString(membersOf(body.parentReference).id)));
    }
    return parents;
  }

  /**
   * What was shared otherwise. Undefined: Graph does not say that it tells such changes, which needs Sites.FullControl.All.
   *
   * @param from  `latest`, or a link of an earlier page.
   */
  async changes(drive: string | undefined, from: string): Promise<SharingPage | undefined> {
    const first = `${this.#base}${toPath({ drive, id: 'root' })}/delta?token=latest`;
    const url = from === latest ? first : (toLink(this.#base, from) ?? first);
    const { headers, body } = await this.#vendors.send(
      { ...this.#request(url), headers: { prefer: sharingChanges } },
      this.#signal,
    );
    if (headers['preference-applied']?.includes('deltashowsharingchanges') !== true) return undefined;
    const reply = parsed(body);
    const items = readValue(reply).map((one) => ({
      ...readItem(one),
      isSharedAnew: /^true$/i.test(String(membersOf(one)['@microsoft.graph.sharedChanged'])),
    }));
    const nextLink = this.#nextLink(reply);
    const deltaLink = toLink(this.#base, reply['@odata.deltaLink']);
    if (nextLink === undefined && deltaLink === undefined)
      throw new SourceError('BAD_REPLY', 'OneDrive ended its changes without a link to the next ones.');
    return { items, nextLink, deltaLink };
  }

  group(id: string): Promise<GroupMembers> {
    const graph = {
      get: (path: string) => this.#get(this.#base + path),
      listAll: (path: string) => this.#listAll(this.#base + path),
    };
    return loadGroup(graph, id);
  }

  async #get(url: string): Promise<JsonObject> {
    return membersOf(await this.#vendors.json(this.#request(url), this.#signal));
  }

  async #listAll(first: string): Promise<readonly unknown[]> {
    const trail = new CursorTrail('Microsoft Graph');
    const all: unknown[] = [];
    let link: string | undefined;
    do {
      const reply = await this.#get(link ?? first);
      all.push(...readValue(reply));
      link = trail.follow(first, link, this.#nextLink(reply));
    } while (link !== undefined);
    return all;
  }

  /** The replies to at most twenty requests. */
  async #batch(paths: readonly string[]): Promise<readonly BatchReply[]> {
    const body = { requests: paths.map((url, index) => ({ id: String(index), method: 'GET', url })) };
    const reply = membersOf(await this.#vendors.json({ ...this.#request(`${this.#base}/$batch`), body }, this.#signal));
    const byId = new Map(readElements(reply.responses).map((one) => [membersOf(one).id, membersOf(one)]));
    return paths.map((_path, index) => readReply(byId.get(String(index))));
  }

  async #readPermissions(reply: BatchReply): Promise<ItemPermissions> {
    if (reply.refusal !== undefined) return toUnreadable(reply.refusal, neededRight);
    const next = this.#nextLink(reply.body);
    const grants = readValue(reply.body);
    const all = next === undefined ? grants : [...grants, ...(await this.#listAll(next))];
    const isForAll = all.some((grant) => membersOf(membersOf(grant).link).scope === 'organization');
    return readGrants(all, isForAll ? await this.#loadDomains() : []);
  }

  /** Of the organization, which a link may be for; none where Graph does not say them. */
  #loadDomains(): Promise<readonly string[]> {
    this.#domains ??= this.group(tenantGroup).then(({ members }) =>
      'unknown' in members ? [] : members.flatMap((member) => (member.kind === 'domain' ? [member.domain] : [])),
    );
    return this.#domains;
  }

  #nextLink(reply: JsonObject): string | undefined {
    return toLink(this.#base, reply['@odata.nextLink']);
  }
}

interface BatchReply {
  readonly body: JsonObject;
  readonly refusal: SourceError | undefined;
}

/** One reply of a batch. @throws SourceError where it may be better later. */
function readReply(reply: JsonObject | undefined): BatchReply {
  const status = reply?.status;
  if (typeof status !== 'number') throw new SourceError('BAD_REPLY', 'OneDrive left out a reply of a batch.');
  const body = membersOf(reply?.body);
  if (status < 300) return { body, refusal: undefined };
  const wait = parseWait(readString(membersOf(reply?.headers)['Retry-After']));
  if (status === 429)
    throw new SourceError('RATE_LIMITED', 'OneDrive asks to be called less often. It is tried again later.', wait);
  if (status >= 500) throw new SourceError('UNREACHABLE', `OneDrive failed (status ${status}). It is tried again later.`, wait);
  if (status === 401) throw new SourceError('AUTH', 'OneDrive does not accept the connection any more: connect it again.');
  const code = status === 404 || status === 410 ? 'NOT_FOUND' : 'FORBIDDEN';
  return { body: {}, refusal: new SourceError(code, `OneDrive does not say who may open it (status ${status}).`) };
}

function toPath({ drive, id }: ItemAddress): string {
  const place = drive === undefined ? '/me/drive' : `/drives/${encodeURIComponent(drive)}`;
  return id === 'root' ? `${place}/root` : `${place}/items/${encodeURIComponent(id)}`;
}

/** A list without its member is a reply that was cut, and never an empty one. */
function readValue({ value }: JsonObject): readonly unknown[] {
  if (!Array.isArray(value)) throw new SourceError('BAD_REPLY', 'OneDrive answered without the list that was asked for.');
  return value;
}

function parsed(body: Buffer): JsonObject {
  try {
    return membersOf(JSON.parse(body.toString('utf8')));
  } catch {
    throw new SourceError('BAD_REPLY', 'OneDrive answered with something that is no JSON.');
  }
}
