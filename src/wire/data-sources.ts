import { z } from 'zod';
import type { SourceKind } from '../engine/knowledge/connectors/kind.ts';
import { connectedKinds } from '../engine/knowledge/connectors/registry.ts';
import { type ConnectedType, refreshPeriods, repoHostModes } from '../entities/knowledge/data-source.ts';
import { body, readAs } from './ground/body.ts';
import { described, describeMembers, integerRange, list, oneOfTexts, text } from './ground/schema.ts';
import { memberShape, shapedType } from './ground/shape.ts';

/** The bodies of requests that add sources, where REST has another form than GraphQL. */

export const uploadTokenBody = body('CreateUploadTokenInput', 'The file that will be sent. Other members are ignored.', {
  filename: text('Required, here or as `name`: 1 to 200 characters.').nullish(),
  name: text('Another name of `filename`.').nullish(),
  contentType: text('Its media type. Default application/octet-stream.').nullish(),
  mimeType: text('Another name of `contentType`.').nullish(),
  size: readAs('Int', z.int().meta({ description: 'Required: its bytes; at most UPLOAD_MAX_BYTES of the service.' })).nullish(),
});

const repoHostSourceBody = body('AddRepoHostDataSourceInput', 'Repositories at a repository host.', {
  mode: readAs('RepoHostMode', oneOfTexts('Which repositories.', repoHostModes)),
  repoHostAppInstallationId: readAs(
    'Int',
    z.int().meta({ description: "The number of an installation that is one of the caller's connections." }),
  ),
  repos: list('Names like `owner/repository`: 1 to 500 where `mode` is repos, none where it is all.', z.string()).nullish(),
  dataRefreshPeriod: readAs(
    'RefreshPeriod',
    oneOfTexts('How often it is read again by itself. Default NEVER.', refreshPeriods),
  ).nullish(),
});

/** The bodies of kinds that REST adds in another form than GraphQL, beyond names. */
export const sourceBodies: Readonly<Partial<Record<ConnectedType, z.ZodObject>>> = { REPO_HOST: repoHostSourceBody };

/** The name of the operation of REST that adds sources of a kind: `addTrackerDataSource`. */
export function operationName({ noun, each }: Pick<SourceKind, 'noun' | 'each'>): string {
  return `add${noun}DataSource${each === undefined ? '' : 's'}`;
}

/** The input type of a kind: `AddTrackerDataSourceInput`. */
export function inputName(kind: Pick<SourceKind, 'noun' | 'each'>): string {
  const name = operationName(kind);
  return `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
}

/** The member of `AddDataSourceInput` that adds a kind: `tracker`. */
export function choiceName({ noun }: Pick<SourceKind, 'noun'>): string {
  return `${noun[0]?.toLowerCase()}${noun.slice(1)}`;
}

for (const kind of connectedKinds) {
  const numbers = Object.entries(kind.members).flatMap(([name, member]) =>
    member.form === 'number' ? [[name, member.bounds] as const] : [],
  );
  const ranges = numbers.map(([name, { min, max, default: fallback }]) => [name, integerRange(min, max, { default: fallback })]);
  if (ranges.length > 0) describeMembers(inputName(kind), Object.fromEntries(ranges));
}

/** Data sources and their items, as REST shows them. */

/** GraphQL has the settings of each kind: a route has what a source was added with as they are kept, by its term `asPayload`. */
export const sourceShapes = {
  indexPercentage: memberShape(
    'DataSource.indexPercentage',
    text('Whole percent from "0" to "100"; "100" only when nothing is left to do.'),
    (percent: number) => String(percent),
  ),
  data: memberShape(
    'DataSource.data',
    described({ description: 'What it was added with; the shape depends on its type.' }),
    ({ payload }: { readonly payload: unknown }) => payload,
  ),
} as const;

interface SelectedAgents {
  readonly nodes: readonly { readonly id: string; readonly name: string; readonly src: string | null }[];
}
const usingAgent = shapedType('UsingAgent', 'An agent that has a source attached, as lists of sources show it.', {
  id: text('The id of the agent.'),
  name: text('Its name.'),
  src: text('Its picture: an address, or a data URL.'),
});
const user = shapedType('UserSummary', 'A person, or a service, that keys act as.', {
  id: text('The id of the user.'),
  email: text('In lower case.'),
  name: text('As shown to others.'),
});
type SelectedUser = z.output<typeof user>;

/** Of a source with those who use it. */
export const sourceDetailShapes = {
  ...sourceShapes,
  ais: memberShape(
    'DataSource.ais',
    list('The agents that have it attached, as far as the caller may use them.', usingAgent),
    ({ nodes }: SelectedAgents) => nodes.map(({ id, name, src }) => ({ id, name, src: src ?? '' })),
  ),
  ownerUser: memberShape(
    'DataSource.ownerUser',
    user.meta({ description: 'Who added it.' }),
    (owner: SelectedUser | null, { ownerUserId }: { readonly ownerUserId: string }) =>
      owner ?? { id: ownerUserId, email: '', name: '' },
  ),
} as const;

export const itemShapes = {
  type: memberShape('KnowledgeItem.type', text('The type of its source.'), (type: string) => type),
  documentsBlobUrl: memberShape(
    'KnowledgeItem.documentsBlobUrl',
    text('Where its passages are kept as a file; empty: they are in the database.'),
    () => '',
  ),
  indexPercentage: memberShape('KnowledgeItem.indexPercentage', text('Whole percent from "0" to "100".'), (percent: number) =>
    String(percent),
  ),
} as const;

export const hitShapes = {
  type: memberShape('KnowledgeSearchHit.type', text('The type of the item, as citations have it.'), (type: string) => type),
} as const;
