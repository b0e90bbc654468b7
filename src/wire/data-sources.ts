import { z } from 'zod';
import type { SourceKind } from '../engine/knowledge/connectors/kind.ts';
import { connectedKinds } from '../engine/knowledge/connectors/registry.ts';
import { type ConnectedType, refreshPeriods, repoHostModes } from '../entities/knowledge/data-source.ts';
import { body, readAs } from './ground/body.ts';
import { describeMembers, integerRange, list, oneOfTexts, text } from './ground/schema.ts';

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
