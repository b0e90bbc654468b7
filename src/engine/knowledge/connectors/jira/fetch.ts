import { readString } from '../../../../lib/json/json.ts';
import { openConnection, openSite, type SiteApi, siteApi } from '../atlassian/site.ts';
import type { ConnectorServices, FetchedContent, FetchTask } from '../connector.ts';
import { writeBounded } from '../service-client/write-bounded.ts';
import { createTrackerApi, type TrackerApi } from './api.ts';
import { commentMarkdown, issueFields, issueMarkdown } from './issue-markdown.ts';

/** Writes an issue as Markdown, with all its comments, one page of them after the other. */
export async function fetchIssue(services: ConnectorServices, task: FetchTask): Promise<FetchedContent> {
  const { item, path, bytesMax, signal } = task;
  const api = createTrackerApi(services, await siteOf(services, task), signal);
  await writeBounded(streamContent(api, item.uniqueId, signal), path, bytesMax);
  return { mimeType: 'text/markdown' };
}

async function* streamContent(api: TrackerApi, id: string, signal: AbortSignal): AsyncGenerator<Buffer, void, void> {
  yield Buffer.from(issueMarkdown(await api.issue(id, issueFields)));
  for (let listedCount = 0; ; ) {
    signal.throwIfAborted();
    const { comments, total } = await api.comments(id, listedCount);
    if (listedCount === 0 && comments.length > 0) yield Buffer.from('\n## Comments\n');
    for (const comment of comments) yield Buffer.from(commentMarkdown(comment));
    listedCount += comments.length;
    if (comments.length === 0 || listedCount >= total) return;
  }
}

/** The listing noted the site, so that not every issue asks for it. */
async function siteOf(services: ConnectorServices, { source, item, signal }: FetchTask): Promise<SiteApi> {
  const cloudId = readString(item.metadata.cloudId);
  if (cloudId === undefined) return openSite(services, 'jira', source, signal);
  return siteApi(services, 'jira', cloudId, await openConnection(services, source));
}
