import { unreadableKind } from '../../extract/readable.ts';
import type { ConnectorServices, ListedItem, ListedPage, ListTask } from '../connector.ts';
import type { WikiApi, WikiAttachment, WikiPage } from './api.ts';
import { isHidden } from './walk.ts';

interface AttachmentListing {
  readonly services: ConnectorServices;
  readonly task: ListTask;
  readonly api: WikiApi;
  readonly cloudId: string;
}

/** The attachments of a page. Files that hold no text are listed with the reason why they are not read. */
export async function* listAttachments(
  { services, task, api, cloudId }: AttachmentListing,
  page: WikiPage,
): AsyncGenerator<Omit<ListedPage, 'place'>, void, void> {
  let next: string | undefined;
  do {
    task.signal.throwIfAborted();
    const part = await api.attachments(page.id, next).catch((error: unknown) => {
      // The page was deleted since it was listed.
      if (isHidden(error)) return undefined;
      throw error;
    });
    if (part === undefined) return;
    if (part.results.length > 0) {
      const bytesMax = services.settings.UPLOAD_MAX_BYTES;
      yield { items: part.results.map((attachment) => listedAttachment(attachment, page, cloudId, bytesMax)) };
    }
    next = part.next;
  } while (next !== undefined);
}

function listedAttachment(attachment: WikiAttachment, page: WikiPage, cloudId: string, bytesMax: number): ListedItem {
  const { id, title, mediaType, sizeBytes, version, url, downloadLink } = attachment;
  const skipNotice = unfitReason(attachment, bytesMax);
  return {
    uniqueId: id,
    parentUniqueId: page.id,
    name: title,
    url: url ?? page.url,
    changeKey: version === null ? null : String(version),
    filename: title,
    mimeType: mediaType,
    sizeBytes,
    metadata: { cloudId, attachedTo: page.id, ...(downloadLink === null ? {} : { downloadLink }) },
    ...(skipNotice === undefined ? {} : { skipped: skipNotice }),
  };
}

function unfitReason({ title, mediaType, sizeBytes }: WikiAttachment, bytesMax: number): ListedItem['skipped'] {
  const kind = unreadableKind(title, mediaType);
  if (kind !== undefined) return { code: 'UNSUPPORTED', message: `The file is ${kind}: it holds no text that could be read.` };
  if (sizeBytes === null || sizeBytes <= bytesMax) return undefined;
  return { code: 'TOO_LARGE', message: `The file has ${sizeBytes} bytes; the limit is ${bytesMax} (UPLOAD_MAX_BYTES).` };
}
