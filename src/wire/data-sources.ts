import { z } from 'zod';
import { refreshPeriods, repoHostModes } from '../entities/knowledge/data-source.ts';
import { body, readAs } from './ground/body.ts';
import { list, oneOfTexts, text } from './ground/schema.ts';

/** The bodies of requests that add sources, where REST has another form than GraphQL. */

export const uploadTokenBody = body('CreateUploadTokenInput', 'The file that will be sent. Other members are ignored.', {
  filename: text('Required, here or as `name`: 1 to 200 characters.').nullish(),
  name: text('Another name of `filename`.').nullish(),
  contentType: text('Its media type. Default application/octet-stream.').nullish(),
  mimeType: text('Another name of `contentType`.').nullish(),
  size: readAs('Int', z.int().meta({ description: 'Required: its bytes; at most UPLOAD_MAX_BYTES of the service.' })).nullish(),
});

export const repoHostSourceBody = body('AddRepoHostDataSourceInput', 'Repositories at a repository host.', {
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
