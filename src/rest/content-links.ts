import type { IncomingMessage } from 'node:http';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { Deps } from '../domain/deps.ts';
import { linkedItem } from '../domain/knowledge/linked.ts';
import { linkedChatFile, linkedRunFile } from '../domain/operations/linked-files.ts';
import { fileLinkParameter } from '../engine/files/file-links.ts';
import { contentLinkParameter } from '../engine/knowledge/content-links.ts';
import { DomainError, publicError } from '../entities/ground/errors.ts';
import { findRequestId, toOrigin } from '../http/context.ts';
import type { Metrics } from '../http/log/metrics.ts';
import { sendDownload } from '../http/reply/download.ts';
import { readQuery } from './call/call.ts';
import { passagePage, refusedLinkPage, sendContentPage } from './content-page.ts';
import { passBadEscape } from './router.ts';

/** Query parameters of a link with a passage: the original is saved, or shown where a browser can. */
const downloadParameter = 'download';
const originalParameter = 'original';

/**
 * GET of an original, of a page that shows a cited passage, or of a file of a chat or a run, by a signed link: the signature stands for a key, so a
 * reader of an answer opens its sources in a browser. A request without the parameter, and one whose link is refused but which has a key, goes on to
 * the route for callers with keys.
 */
export function createContentLinks(deps: Deps, metrics: Metrics): RequestHandler {
  const router = contentLinksRouter(deps, metrics);
  // A router whose last layer is an error middleware passes a request on a turn of the event loop later. No completion waits for that.
  return (req, res, next) => (req.method === 'GET' || req.method === 'HEAD' ? router(req, res, next) : next());
}

function contentLinksRouter(deps: Deps, metrics: Metrics): Router {
  const meter = metrics.meter('getKnowledgeItemContent');
  const fileMeter = metrics.meter('getChatFileContent');
  const router = Router({ strict: true, caseSensitive: true });
  return router
    .get('/api/v1/data-sources/:dataSourceId/knowledge/:id/content', async (req, res, next) => {
      const query = new URLSearchParams(readQuery(req));
      const signedText = query.get(contentLinkParameter);
      if (signedText === null) return next();
      res.locals.meter = meter;
      await answer(req, res, next, async () => {
        const item = await linkedItem(deps, req.params, signedText);
        const isShown = query.get(originalParameter) === '1';
        const passage = isShown || query.get(downloadParameter) === '1' ? undefined : await item.passage();
        if (passage !== undefined) {
          const makeAddress = (parameter: string) => `?${contentLinkParameter}=${signedText}&${parameter}=1`;
          const addresses = { original: makeAddress(originalParameter), download: makeAddress(downloadParameter) };
          return sendContentPage(res, 200, passagePage(passage, addresses), findRequestId(req));
        }
        await sendDownload(res, item.content(isShown), findRequestId(req), req.method === 'HEAD');
      });
    })
    .get('/api/v1/chats/:chatId/files/:fileId/content', async (req, res, next) => {
      const signed = new URLSearchParams(readQuery(req)).get(fileLinkParameter);
      if (signed === null) return next();
      res.locals.meter = fileMeter;
      await answer(req, res, next, async () => {
        const download = await linkedChatFile(deps, req.params, signed);
        await sendDownload(res, download, findRequestId(req), req.method === 'HEAD');
      });
    })
    .get('/api/v1/run-files', async (req, res) => {
      res.locals.meter = fileMeter;
      const signed = new URLSearchParams(readQuery(req)).get(fileLinkParameter) ?? '';
      await answer(req, res, undefined, async () => {
        await sendDownload(
          res,
          await linkedRunFile(deps, signed, toOrigin(deps, req)),
          findRequestId(req),
          req.method === 'HEAD',
        );
      });
    })
    .use(passBadEscape);
}

/** Answers by a link. A refused one goes on to `next` when the request has a key, and is told in words to people with a browser. */
async function answer(req: Request, res: Response, next: (() => void) | undefined, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (next !== undefined && req.headers.authorization !== undefined) return next();
    if (!(error instanceof DomainError) || res.headersSent || !wantsPage(req)) throw error;
    const { status } = publicError(error);
    sendContentPage(res, status, refusedLinkPage(error.message, status), findRequestId(req));
  }
}

function wantsPage({ headers }: IncomingMessage): boolean {
  return (headers.accept ?? '').includes('text/html') && headers.authorization === undefined;
}
