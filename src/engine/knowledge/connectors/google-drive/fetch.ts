import { readString } from '../../../../lib/json/json.ts';
import { EgressError } from '../../../egress/error.ts';
import type { ConnectorServices, FetchedContent, FetchTask } from '../connector.ts';
import { SourceError } from '../error.ts';
import { ofEgress } from '../service-client/client.ts';
import { writeBounded } from '../service-client/write-bounded.ts';
import { createDriveApi, type DriveApi } from './api.ts';
import { listExports, type NativeExport } from './native.ts';

/** Writes a file, or the export of a document that Google keeps in a form of its own. */
export async function fetchDriveA(services: ConnectorServices, task: FetchTask): Promise<FetchedContent> {
  const { source, item, path, bytesMax, signal } = task;
  const token = await services.tokens.open(String(source.data.oauthTokenId), source);
  const api = createDriveApi(services, token, signal);
  const forms = listExports(readString(item.metadata.nativeType) ?? '');
  const [form] = forms;
  if (form === undefined) {
    await services.vendors.download({ ...api.content(item.uniqueId, undefined), owner: source, path, bytesMax }, signal);
    return {};
  }
  let isTooLarge = false;
  const request = api.content(item.uniqueId, form.mimeType);
  try {
    const refusal: typeof request.refusal = (reply) => {
      const refusalError = request.refusal?.(reply);
      isTooLarge = refusalError?.code === 'TOO_LARGE';
      return refusalError;
    };
    await services.vendors.download({ ...request, refusal, owner: source, path, bytesMax }, signal);
    return describe(item.name, form);
  } catch (error) {
    if (!isTooLarge) throw error;
    return await fetchLinked(services, task, api, forms);
  }
}

/** Fetches a document that is too large for an export by one of the links that it has instead. */
async function fetchLinked(
  services: ConnectorServices,
  task: FetchTask,
  api: DriveApi,
  forms: readonly NativeExport[],
): Promise<FetchedContent> {
  const { source, item, path, bytesMax, signal } = task;
  const links = await api.exportLinks(item.uniqueId);
  const form = forms.find(({ mimeType }) => links.has(mimeType));
  const url = form === undefined ? undefined : links.get(form.mimeType);
  if (form === undefined || url === undefined) {
    throw new SourceError(
      'TOO_LARGE',
      'The document is larger than the 10 MB that Google exports, and has no link to a larger export.',
    );
  }
  if (isGoogles(services, url)) {
    const request = api.content(item.uniqueId, form.mimeType);
    await services.vendors.download({ ...request, url, owner: source, path, bytesMax }, signal);
    return describe(item.name, form);
  }
  try {
    const timeoutMs = services.settings.CONNECTOR_TIMEOUT_MS;
    await services.egress.receive({ owner: source, url, bytesMax, timeoutMs }, signal, async ({ status }, content) => {
      if (status >= 300) throw new SourceError('BAD_REPLY', `The link to the export of the document answered ${status}.`);
      await writeBounded(content, path, bytesMax);
    });
  } catch (error) {
    throw error instanceof EgressError ? ofEgress(error, bytesMax) : error;
  }
  return describe(item.name, form);
}

/** Whether an address may get the token: it is the operator's, or the one that Google's own links to exports have. */
function isGoogles({ settings }: ConnectorServices, url: string): boolean {
  const origin = URL.parse(url)?.origin;
  return origin === new URL(settings.GOOGLE_API_URL).origin || origin === 'https://docs.google.com';
}

function describe(name: string, { ending, mimeType }: NativeExport): FetchedContent {
  return { filename: `${name}${ending}`, mimeType };
}
