import { Router } from 'express';
import type { Deps } from '../domain/deps.ts';
import { linkedChatFile, linkedRunFile } from '../domain/files/linked.ts';
import { linkedContent } from '../domain/knowledge/items.ts';
import { fileLinkParameter } from '../engine/files/file-links.ts';
import { contentLinkParameter } from '../engine/knowledge/content-links.ts';
import { requestIdOf } from '../http/context.ts';
import type { Metrics } from '../http/log/metrics.ts';
import { sendDownload } from '../http/reply/download.ts';
import { queryOf } from './call/call.ts';
import { passBadEscape } from './router.ts';

/**
 * GET of an original, or of a file that a tool made, by a signed link: the signature stands for a key, so a reader of an answer opens its sources in a browser. A request
 * without the parameter, and one whose link is refused but which has a key, goes on to the route for callers with keys.
 */
export function createContentLinks(deps: Deps, metrics: Metrics): Router {
  const meter = metrics.meter('getKnowledgeItemContent');
  const fileMeter = metrics.meter('getChatFileContent');
  const router = Router({ strict: true, caseSensitive: true });
  return router
    .get('/api/v1/data-sources/:dataSourceId/knowledge/:id/content', async (req, res, next) => {
      const signed = new URLSearchParams(queryOf(req)).get(contentLinkParameter);
      if (signed === null) return next();
      res.locals.meter = meter;
      try {
        const download = await linkedContent(deps, req.params, signed);
        await sendDownload(res, download, requestIdOf(req), req.method === 'HEAD');
      } catch (error) {
        if (req.headers.authorization === undefined) throw error;
        next();
      }
    })
    .get('/api/v1/chats/:chatId/files/:fileId/content', async (req, res, next) => {
      const signed = new URLSearchParams(queryOf(req)).get(fileLinkParameter);
      if (signed === null) return next();
      res.locals.meter = fileMeter;
      try {
        const download = await linkedChatFile(deps, req.params, signed);
        await sendDownload(res, download, requestIdOf(req), req.method === 'HEAD');
      } catch (error) {
        if (req.headers.authorization === undefined) throw error;
        next();
      }
    })
    .get('/api/v1/run-files', async (req, res) => {
      res.locals.meter = fileMeter;
      const signed = new URLSearchParams(queryOf(req)).get(fileLinkParameter) ?? '';
      await sendDownload(res, await linkedRunFile(deps, signed), requestIdOf(req), req.method === 'HEAD');
    })
    .use(passBadEscape);
}
