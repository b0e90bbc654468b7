import { crawlBounds } from '../entities/knowledge/data-source.ts';
import { describeMembers, integerRange } from './ground/schema.ts';

/** Data sources: the bounds of a crawl. */

const bounded = ({ min, max, default: fallback }: (typeof crawlBounds)[keyof typeof crawlBounds]) =>
  integerRange(min, max, { default: fallback });

describeMembers('AddWebUrlDataSourceInput', {
  maxPages: bounded(crawlBounds.maxPages),
  maxMemory: bounded(crawlBounds.maxMemory),
  timeout: bounded(crawlBounds.timeout),
});
