import { setTimeout as wait } from 'node:timers/promises';
import type { ReadEnvironment } from '../../engine/models/clouds/identity.ts';
import { configuredProviders } from '../../engine/models/providers/configured.ts';
import { type ModelsFile, readModelsFile } from '../../engine/models/providers/models-file.ts';
import type { Provider } from '../../engine/models/providers/provider.ts';
import type { ModelRouter } from '../../engine/models/router.ts';
import { displayValue } from '../../lib/text/display-value.ts';
import type { Settings } from '../../settings.ts';
import { StartRefusal } from '../../storage/ground/opening/start-refusal.ts';
import { type Finding, findCode, good, sentences, warning, wrong } from './finding.ts';

const timeoutMs = 5_000;
const namedMax = 8;

/** Asks every provider for its models, and looks for DEFAULT_MODEL among them. */
export async function checkModels(settings: Settings, environment: ReadEnvironment): Promise<readonly Finding[]> {
  let file: ModelsFile;
  try {
    file = settings.MODELS_FILE === undefined ? { providers: [], routes: [], prices: {} } : readModelsFile(settings.MODELS_FILE);
  } catch (error) {
    return [wrong('models', (error instanceof Error ? error.message : String(error)).replace(/^bad configuration:\s*/, ''))];
  }
  const providers = configuredProviders(settings, file, environment, () => new Date());
  const listings = await Promise.all(providers.map(listing));
  await Promise.all(providers.map((provider) => provider.close()));
  return [
    ...keysWithoutValue(file, environment),
    ...listings.map(({ finding }) => finding),
    ...defaultModel(settings, file, listings),
  ];
}

interface Listing {
  readonly id: string;
  /** Undefined when the provider did not tell. */
  readonly names: readonly string[] | undefined;
  readonly finding: Finding;
}

async function listing({ id, list, identity }: Provider): Promise<Listing> {
  try {
    const names = (await list(AbortSignal.timeout(timeoutMs))).map(({ name }) => name);
    const problem = await identity?.check();
    if (problem !== undefined) {
      const message = `This service cannot sign in at ${id}: ${problem}.`;
      return {
        id,
        names,
        finding: wrong('models', message, 'Correct the identity of the workload, as docs/models-file.md says.'),
      };
    }
    if (identity !== undefined) {
      return { id, names, finding: good('models', `${id} signs this service in; ${names.length} model(s) are configured.`) };
    }
    if (names.length === 0)
      return { id, names: undefined, finding: warning('models', `${id} lists no models.`, 'Load one there.') };
    return { id, names, finding: good('models', `${id} answers, with ${names.length} model(s).`) };
  } catch (error) {
    return { id, names: undefined, finding: unreachable(id, error) };
  }
}

function unreachable(id: string, error: unknown): Finding {
  const message = error instanceof Error ? error.message : String(error);
  const status = /answered (\d+)/.exec(message)?.[1];
  const key = `Correct its key (${id.toUpperCase()}_API_KEY or the apiKeyEnv of MODELS_FILE).`;
  if (status === '401' || status === '403') return wrong('models', `${id} refuses the key (${status}).`, key);
  if (status !== undefined) {
    return warning(
      'models',
      `${id} does not list its models (it answers ${status}).`,
      'See whether its address is right and ends as the provider says, often in /v1.',
    );
  }
  const reason = findCode(error) ?? (error instanceof Error ? error.name : 'no answer');
  return wrong('models', `${id} cannot be reached (${reason}).`, 'Start it, or correct its address.');
}

function keysWithoutValue(file: ModelsFile, environment: ReadEnvironment): readonly Finding[] {
  return file.providers.flatMap((provider) => {
    const { id, apiKeyEnv } = { apiKeyEnv: undefined, ...provider };
    return apiKeyEnv === undefined || environment(apiKeyEnv) !== undefined
      ? []
      : [
          wrong(
            'models',
            `The provider ${id} of MODELS_FILE takes its key from ${apiKeyEnv}, which is not set.`,
            `Set ${apiKeyEnv}.`,
          ),
        ];
  });
}

function defaultModel({ DEFAULT_MODEL }: Settings, file: ModelsFile, listings: readonly Listing[]): readonly Finding[] {
  if (DEFAULT_MODEL === undefined) return [];
  const ids = [
    ...file.routes.map((route) => route.id),
    ...listings.flatMap(({ id, names }) => (names ?? []).map((name) => `${id}/${name}`)),
  ];
  const isThere = ids.some((id) => id === DEFAULT_MODEL || id.endsWith(`/${DEFAULT_MODEL}`));
  if (isThere) return [good('models', `DEFAULT_MODEL ${DEFAULT_MODEL} is there.`)];
  // A provider that does not tell what it has may have it.
  const mayBeThere = listings.some(({ id, names }) => names === undefined && DEFAULT_MODEL.startsWith(`${id}/`));
  return mayBeThere ? [] : [unknownModel(DEFAULT_MODEL, ids)];
}

function unknownModel(modelId: string, ids: readonly string[]): Finding {
  const namedModels = ids.slice(0, namedMax).join(', ');
  const more = ids.length > namedMax ? ` and ${ids.length - namedMax} more` : '';
  return wrong(
    'models',
    `DEFAULT_MODEL must be the id of a model that is there, not ${displayValue('DEFAULT_MODEL', modelId)}.`,
    `There are ${namedModels}${more}.`,
  );
}

/**
 * Asks a router that has been told to list its models. A provider that does not answer in time may have the model.
 *
 * @throws StartRefusal when there is no such model.
 */
export async function refuseUnknownModel(
  modelId: string,
  models: Pick<ModelRouter, 'find' | 'list'>,
  timeoutMs: number,
): Promise<void> {
  const late = wait(timeoutMs, 'late' as const, { ref: false });
  if ((await Promise.race([models.find(modelId), late])) !== undefined) return;
  const ids = (await models.list()).map(({ id }) => id);
  throw new StartRefusal(sentences(unknownModel(modelId, ids)));
}
