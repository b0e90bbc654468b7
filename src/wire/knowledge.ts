import { crawlBounds } from '../entities/knowledge/data-source.ts';
import { describeMembers, integerRange } from './ground/schema.ts';

/** Data sources: the bounds of a crawl. */

const boundedInteger = ({ min, max, default: fallback }: (typeof crawlBounds)[keyof typeof crawlBounds]) =>
  integerRange(min, max, { default: fallback });

describeMembers('AddWebUrlDataSourceInput', {
  maxPages: boundedInteger(crawlBounds.maxPages),
  maxMemory: boundedInteger(crawlBounds.maxMemory),
  timeout: boundedInteger(crawlBounds.timeout),
});
