import SCIMMY from 'scimmy';
import type { Deps } from '../domain/deps.ts';
import { withAuditEntry } from '../domain/ground/audit/change.ts';
import type { CallOrigin } from '../domain/ground/audit/origin.ts';
import {
  createScimGroup,
  deleteScimGroup,
  getScimGroup,
  type ScimGroupInput,
  updateScimGroup,
} from '../domain/people/scim/groups.ts';
import { createScimUser, deleteScimUser, getScimUser, type ScimUserInput, updateScimUser } from '../domain/people/scim/users.ts';
import { DomainError, publicError } from '../entities/ground/errors.ts';
import { type Caller, type MemberRole, memberRoles } from '../entities/people/caller.ts';
import type { ScimFilter, ScimGroup, ScimPage, ScimUser } from '../entities/people/scim.ts';
import { hasMembers } from '../lib/json/json.ts';

/** What a request is made with. The library hands it to the functions below, which are the same for all services of the process. */
export interface ScimContext extends CallOrigin {
  readonly deps: Deps;
  readonly caller: Caller;
  /** The group as the request read it, so that a PATCH changes the difference only. */
  group?: ScimGroup;
  /** The user as the request read it. */
  user?: ScimUser;
}

type Values = Readonly<Record<string, unknown>>;
const { Error: ScimError } = SCIMMY.Types;

/** Lists have at most so many things on a page. */
export const pageMax = 200;
const pageDefault = 100;

/** Declares what this service has, once for the process. */
export function declareResources(): void {
  if (SCIMMY.Resources.declared('User')) return;
  SCIMMY.Resources.declare(SCIMMY.Resources.User)
    .egress((resource, ctx: ScimContext) =>
      answered(ctx, async () => {
        ctx.user = await getScimUser(ctx.deps, ctx.caller, requireId(resource));
        return shownUser(ctx.user);
      }),
    )
    .ingress((resource, data, ctx: ScimContext) => answered(ctx, () => writeUser(resource.id, data as unknown as Values, ctx)))
    .degress((resource, ctx: ScimContext) =>
      answered(ctx, async () => {
        await audited(ctx, 'deleteUser', requireId(resource), (caller) => deleteScimUser(ctx.deps, caller, requireId(resource)));
      }),
    );
  SCIMMY.Resources.declare(SCIMMY.Resources.Group)
    .egress((resource, ctx: ScimContext) =>
      answered(ctx, async () => {
        ctx.group = await getScimGroup(ctx.deps, ctx.caller, requireId(resource));
        return shownGroup(ctx.group);
      }),
    )
    .ingress((resource, data, ctx: ScimContext) => answered(ctx, () => writeGroup(resource.id, data as unknown as Values, ctx)))
    .degress((resource, ctx: ScimContext) =>
      answered(ctx, async () => {
        await audited(ctx, 'deleteGroup', requireId(resource), (caller) =>
          deleteScimGroup(ctx.deps, caller, requireId(resource)),
        );
      }),
    );
}

/** What the service says about itself. The routers set other values when they are made. */
export function configure(documentationUri: string): void {
  SCIMMY.Config.set({
    documentationUri,
    ...{ patch: true, sort: false, etag: false, changePassword: false },
    ...{ bulk: { supported: false }, filter: { supported: true, maxResults: pageMax } },
  });
}

/** A page of users or groups. The library would ask for all of them. */
export function listResources(kind: 'Users' | 'Groups', query: Values, ctx: ScimContext): Promise<unknown> {
  return answered(ctx, async () => {
    const startIndex = readNumber(query, 'startIndex', 1, 1);
    const count = Math.min(readNumber(query, 'count', pageDefault, 0), pageMax);
    const page = { skip: startIndex - 1, take: count };
    const { items, total } = kind === 'Users' ? await listUsers(query, ctx, page) : await listGroups(query, ctx, page);
    return {
      schemas: [SCIMMY.Messages.ListResponse.id],
      ...{ totalResults: total, startIndex, itemsPerPage: items.length, Resources: items },
    };
  });
}

async function listUsers(query: Values, { deps, caller }: ScimContext, page: ScimPage) {
  const { attributes } = new SCIMMY.Resources.User(undefined, toSelection(query));
  const wantedFilter = parseFilter(query.filter, {
    username: 'email',
    'emails.value': 'email',
    externalid: 'externalId',
    id: 'id',
  });
  const { items, total } = await deps.storage.people.scim.listUsers(caller.orgId, wantedFilter, page);
  const base = String(SCIMMY.Resources.User.basepath());
  return { total, items: items.map((user) => new SCIMMY.Schemas.User(shownUser(user), 'out', base, attributes)) };
}

async function listGroups(query: Values, { deps, caller }: ScimContext, page: ScimPage) {
  const { attributes } = new SCIMMY.Resources.Group(undefined, toSelection(query));
  const wantedFilter = parseFilter(query.filter, { displayname: 'name', externalid: 'externalId', id: 'id' });
  const { items, total } = await deps.storage.people.scim.listGroups(caller.orgId, wantedFilter, page);
  const base = String(SCIMMY.Resources.Group.basepath());
  return { total, items: items.map((group) => new SCIMMY.Schemas.Group(shownGroup(group), 'out', base, attributes)) };
}

/** The attributes that are asked for: the library reads them. */
function toSelection(query: Values): Values {
  const { attributes, excludedAttributes } = query;
  return {
    ...(attributes === undefined ? {} : { attributes }),
    ...(excludedAttributes === undefined ? {} : { excludedAttributes }),
  };
}

/** The one comparison of a filter: `userName eq "ann@example.com"`, `emails[type eq "work"].value eq "…"`. @throws ScimError invalidFilter. */
function parseFilter(text: unknown, names: Readonly<Record<string, ScimFilter['attribute']>>): ScimFilter | undefined {
  if (text === undefined) return undefined;
  const filterMatch = /^\s*([\w:.]+?)(?:\[type eq "work"\])?(\.value)?\s+eq\s+("(?:[^"\\]|\\.)*")\s*$/i.exec(String(text));
  const path = `${filterMatch?.[1] ?? ''}${filterMatch?.[2] ?? ''}`
    .toLowerCase()
    .replace(/^urn:ietf:params:scim:schemas:core:2\.0:(user|group):/, '');
  const attribute = names[path === 'emails' ? 'emails.value' : path];
  const value = filterMatch?.[3] === undefined ? undefined : textIn(filterMatch[3]);
  if (attribute !== undefined && value !== undefined) return { attribute, value };
  throw new ScimError(
    400,
    'invalidFilter',
    `A filter compares one of these with eq and a text: ${Object.keys(names).join(', ')}`,
  );
}

function textIn(json: string): string | undefined {
  try {
    return String(JSON.parse(json));
  } catch {
    return undefined;
  }
}

function readNumber(query: Values, name: string, missing: number, least: number): number {
  const givenValue = query[name];
  if (givenValue === undefined) return missing;
  const number = Number(givenValue);
  if (!Number.isInteger(number) || Math.abs(number) > 1_000_000_000)
    throw new ScimError(400, 'invalidValue', `${name} must be a whole number`);
  return Math.max(number, least);
}

async function writeUser(id: string | undefined, data: Values, ctx: ScimContext) {
  const input = userInput(data, ctx.user);
  const write = (caller: Caller) =>
    id === undefined ? createScimUser(ctx.deps, caller, input) : updateScimUser(ctx.deps, caller, id, input);
  const changes = Object.entries({ email: input.email, active: input.isActive, role: input.role }).flatMap(([member, value]) =>
    value === undefined ? [] : [{ member, value }],
  );
  return shownUser(await audited(ctx, id === undefined ? 'createUser' : 'updateUser', id, write, changes));
}

async function writeGroup(id: string | undefined, data: Values, ctx: ScimContext) {
  const members = Array.isArray(data.members) ? data.members : [];
  const input: ScimGroupInput = {
    name: toText(data.displayName) ?? '',
    externalId: toText(data.externalId) ?? null,
    memberIds: members.map((member: unknown) => (hasMembers(member) && typeof member.value === 'string' ? member.value : '')),
  };
  const write = async (caller: Caller) => {
    if (id === undefined) return createScimGroup(ctx.deps, caller, input);
    return updateScimGroup(ctx.deps, caller, ctx.group ?? (await getScimGroup(ctx.deps, caller, id)), input);
  };
  const changes = [{ member: 'name', value: input.name.slice(0, 200) }];
  return shownGroup(await audited(ctx, id === undefined ? 'createGroup' : 'updateGroup', id, write, changes));
}

function audited<T>(
  { deps, caller, requestId, address }: ScimContext,
  action: string,
  id: string | undefined,
  work: (caller: Caller) => Promise<T>,
  changes: readonly { readonly member: string; readonly value: string | boolean }[] = [],
): Promise<T> {
  const call = { action: `Scim.${action}`, ids: id === undefined ? [] : [id], orgId: caller.orgId, changes, requestId, address };
  return withAuditEntry(deps, caller, call, work);
}

/** @param before  the user as a PATCH found it: what it shows is in `data` too, where the PATCH did not change it. */
function userInput(data: Values, before: ScimUser | undefined): ScimUserInput {
  const name: Values = hasMembers(data.name) ? data.name : {};
  const [givenName, familyName] = [toText(name.givenName) ?? null, toText(name.familyName) ?? null];
  const joinedText = joinedName({ givenName, familyName });
  // A name that nobody gave as such is made anew of its parts.
  const isMade = before !== undefined && [joinedName(before), before.email.split('@', 1)[0]].includes(before.name);
  const givenNames = [data.displayName, name.formatted].filter((text) => !isMade || text !== before.name).map(toText);
  const shownName = givenNames.find((text) => text !== undefined) ?? (joinedText === '' ? undefined : joinedText);
  return {
    ...{
      email: toText(data.userName) ?? '',
      name: shownName,
      givenName,
      familyName,
      externalId: toText(data.externalId) ?? null,
    },
    isActive: typeof data.active === 'boolean' ? data.active : undefined,
    role: findRole(data.roles),
  };
}

function joinedName({ givenName, familyName }: Pick<ScimUser, 'givenName' | 'familyName'>): string {
  return [givenName, familyName].filter((part) => part !== null).join(' ');
}

/** The primary role, else the first. @throws ScimError invalidValue for one that does not exist. */
function findRole(roles: unknown): MemberRole | undefined {
  const values = Array.isArray(roles) ? roles.filter(hasMembers) : [];
  const roleValue = (values.find(({ primary }) => primary === true) ?? values[0])?.value;
  if (roleValue === undefined) return undefined;
  const role = memberRoles.find((one) => one === String(roleValue).toUpperCase());
  if (role === undefined) throw new ScimError(400, 'invalidValue', `roles must name one of ${memberRoles.join(', ')}`);
  return role;
}

function shownUser(user: ScimUser) {
  const { id, email, name, givenName, familyName, externalId, role, membershipId, createdAt, updatedAt } = user;
  return {
    id,
    ...(externalId === null ? {} : { externalId }),
    userName: email,
    displayName: name,
    name: { formatted: name, ...(givenName === null ? {} : { givenName }), ...(familyName === null ? {} : { familyName }) },
    emails: [{ value: email, type: 'work', primary: true }],
    active: membershipId !== undefined,
    roles: [{ value: role, primary: true }],
    meta: { created: createdAt.toISOString(), lastModified: updatedAt.toISOString() },
  };
}

function shownGroup({ id, name, externalId, members, createdAt, updatedAt }: ScimGroup) {
  return {
    id,
    ...(externalId === null ? {} : { externalId }),
    displayName: name,
    members: members.map(({ userId, email }) => ({ value: userId, display: email, type: 'User' })),
    meta: { created: createdAt.toISOString(), lastModified: updatedAt.toISOString() },
  };
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function requireId({ id }: { readonly id?: string | undefined }): string {
  return id ?? '';
}

/** Tells failures as the standard does. The library calls every other error a missing resource. */
async function answered<T>({ deps, requestId }: ScimContext, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ScimError) throw error;
    // The library throws these for attributes that do not exist.
    if (error instanceof TypeError && error.message.includes('Filter')) throw new ScimError(400, 'invalidFilter', error.message);
    if (!(error instanceof DomainError)) deps.logger.error({ err: error, requestId }, 'unexpected failure');
    const { status, message } = publicError(error);
    throw new ScimError(status, toScimType(status), message);
  }
}

/** The keyword of RFC 7644, section 3.12. */
export function toScimType(status: number): string {
  return status === 409 ? 'uniqueness' : status === 400 ? 'invalidValue' : '';
}
