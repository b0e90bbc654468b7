import { writeFile } from 'node:fs/promises';
import { readString } from '../../../../lib/json/json.ts';
import { openConnection, openSite, type SiteApi, siteApi } from '../atlassian/site.ts';
import type { FetchedContent, FetchTask } from '../connector.ts';
import { SourceError } from '../error.ts';
import { createWikiApi } from './api.ts';
import { readWikiConfig } from './config.ts';
import { driveSource } from './drive-files.ts';
import type { WikiServices } from './list.ts';
import { pageMarkdown } from './page-markdown.ts';

/** Writes a page as Markdown, an attachment as it is, a linked file as the drive's connector gives it. */
export async function fetchWiki(services: WikiServices, task: FetchTask): Promise<FetchedContent> {
  const { attachedTo, driveFileId } = task.item.metadata;
  if (typeof driveFileId === 'string') return fetchDriveFile(services, task, driveFileId);
  const site = await siteOf(services, task);
  if (typeof attachedTo === 'string') return fetchAttachment(services, site, task, attachedTo);
  const page = await createWikiApi(services, site, '', task.signal).pageWithBody(task.item.uniqueId);
  const content = Buffer.from(pageMarkdown(page));
  if (content.length > task.bytesMax) {
    throw new SourceError('TOO_LARGE', `The page has more than ${task.bytesMax} bytes, which is the limit.`);
  }
  await writeFile(task.path, content, { mode: 0o600 });
  return { mimeType: 'text/markdown' };
}

/** The listing noted the site, so that not every page asks for it. */
async function siteOf(services: WikiServices, { source, item, signal }: FetchTask): Promise<SiteApi> {
  const cloudId = readString(item.metadata.cloudId);
  if (cloudId === undefined) return openSite(services, 'confluence', source, signal);
  return siteApi(services, 'confluence', cloudId, await openConnection(services, source));
}

async function fetchAttachment(
  { vendors }: WikiServices,
  site: SiteApi,
  { source, item, path, bytesMax, signal }: FetchTask,
  pageId: string,
): Promise<FetchedContent> {
  const download = (address: string) =>
    vendors.download({ ...site.request(address), headers: { accept: '*/*' }, owner: source, path, bytesMax }, signal);
  const [page, id] = [encodeURIComponent(pageId), encodeURIComponent(item.uniqueId)];
  try {
    // The link in the listing is for browsers and takes no token; this address does, and redirects to the file.
    await download(`/wiki/rest/api/content/${page}/child/attachment/${id}/download`);
  } catch (error) {
    const link = readString(item.metadata.downloadLink);
    const isElsewhere = error instanceof SourceError && error.code === 'NOT_FOUND' && link?.startsWith('/') === true;
    if (!isElsewhere || link === undefined) throw error;
    await download(link.startsWith('/wiki/') ? link : `/wiki${link}`);
  }
  return {};
}

async function fetchDriveFile({ drive }: WikiServices, task: FetchTask, id: string): Promise<FetchedContent> {
  const { driveAccount } = readWikiConfig(task.source);
  if (driveAccount === undefined) {
    throw new SourceError(
      'CONFIGURATION',
      'The source names no account that reads files of Google Drive: add it again with selectedDriveAccount.',
    );
  }
  const source = driveSource(task.source, driveAccount, id, task.item.filename);
  return drive.fetch({ ...task, source });
}
