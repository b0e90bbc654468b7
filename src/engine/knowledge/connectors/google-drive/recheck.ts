import { readString } from '../../../../lib/json/json.ts';
import type { ConnectorServices } from '../connector.ts';
import { SourceError } from '../error.ts';
import type { RecheckTask } from '../permissions.ts';
import type { ServiceRequest } from '../service-client/client.ts';
import { permissionFields, readPermissions } from './permission-api.ts';
import { driveRefusal } from './refusal.ts';

/** Asks for the permissions of files in one call: the batch address of Drive takes a hundred. Those of a file with more than a page are not given. */
export async function recheckFiles(services: ConnectorServices, task: RecheckTask): Promise<ReadonlySet<string>> {
  const { source, items, signal } = task;
  const token = await services.tokens.open(String(source.data.oauthTokenId), source);
  const boundary = `parley_${crypto.randomUUID()}`;
  const request: ServiceRequest = {
    service: 'Google Drive',
    url: `${services.settings.GOOGLE_API_URL.replace(/(?<!\/)\/+$/, '')}/batch/drive/v3`,
    headers: { 'content-type': `multipart/mixed; boundary=${boundary}` },
    body: writeBatch(
      items.map(({ uniqueId }) => uniqueId),
      boundary,
    ),
    attempts: 1,
    token,
    refusal: driveRefusal,
  };
  const { headers, body } = await services.vendors.send(request, signal);
  const replies = readBatch(headers['content-type'] ?? '', body.toString('utf8'));
  const open = new Set<string>();
  for (const [index, { uniqueId }] of items.entries()) {
    const reply = replies.get(index);
    if (!Array.isArray(reply?.permissions) || readString(reply.nextPageToken) !== undefined) continue;
    if (await task.opens(readPermissions(reply.permissions))) open.add(uniqueId);
  }
  return open;
}

function writeBatch(fileIds: readonly string[], boundary: string): string {
  const query = new URLSearchParams({
    ...{ fields: `nextPageToken,permissions(${permissionFields})`, pageSize: '100', supportsAllDrives: 'true' },
  });
  const parts = fileIds.map(
    (id, index) =>
      `--${boundary}\r\ncontent-type: application/http\r\ncontent-id: <item-${index}>\r\n\r\nGET /drive/v3/files/${encodeURIComponent(id)}/permissions?${query}\r\n\r\n`,
  );
  return `${parts.join('')}--${boundary}--\r\n`;
}

/** The bodies of the good replies, by the number of their request: replies may come in any order. */
function readBatch(contentType: string, body: string): ReadonlyMap<number, Readonly<Record<string, unknown>>> {
  const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1];
  if (boundary === undefined) throw new SourceError('BAD_REPLY', 'Google Drive answered a batch with something that is none.');
  const replies = new Map<number, Readonly<Record<string, unknown>>>();
  for (const part of body.split(`--${boundary}`)) {
    const index = /^content-id:\s*<response-item-(\d+)>/im.exec(part)?.[1];
    if (index === undefined || !/^HTTP\/1\.1 200\b/m.test(part)) continue;
    const [begin, end] = [part.indexOf('{'), part.lastIndexOf('}')];
    try {
      replies.set(Number(index), JSON.parse(part.slice(begin, end + 1)) as Readonly<Record<string, unknown>>);
    } catch {
      // A reply that was cut says nothing of its file.
    }
  }
  return replies;
}
