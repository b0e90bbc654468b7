import { setTimeout as sleep } from 'node:timers/promises';
import type { EgressHead } from '../../../../egress/egress.ts';
import { EgressError } from '../../../../egress/error.ts';
import { SourceError } from '../../error.ts';
import { ofEgress, parseWait } from '../../service-client/client.ts';
import { productToken } from '../user-agent.ts';
import { readRobotsRules } from './robots-rules.ts';
import { mayPass, type Visitor, visit } from './visitor.ts';

/** The part of a robots.txt that is read, as RFC 9309 says. */
const bytesMax = 500 * 1024;
/** Patterns with wildcards are compared with each address: more of them would take the process its time. */
const wildcardCharsMax = 50_000;
const redirectsMax = 5;
const triesMax = 3;
const waitMaxMs = 60_000;

/** What a site lets the crawler read. */
export interface Robots {
  allows(url: string): boolean;
  readonly delayMs: number;
  readonly sitemaps: readonly string[];
}

/**
 * Reads the robots.txt of an origin. A status of 4xx allows everything.
 *
 * @throws SourceError UNREACHABLE, RATE_LIMITED, FORBIDDEN: nothing may be read now. @throws the signal's reason.
 */
export async function readRobots(visitor: Visitor, origin: string, signal: AbortSignal, backoffMs: number): Promise<Robots> {
  for (let tries = 1; ; tries += 1) {
    const { text, failure } = await ask(visitor, origin, signal);
    if (failure === undefined) return parseRobots(origin, text, visitor.userAgent);
    const waitMs = failure.retryAfterMs ?? backoffMs * 2 ** tries;
    if (failure.code === 'UNREACHABLE' && tries === triesMax) throw ended(failure);
    if (!failure.isRetryable || tries === triesMax || waitMs > waitMaxMs) throw failure;
    await sleep(waitMs, undefined, { signal });
  }
}

/** A site whose robots.txt does not answer may not be read in this run; the job queue need not insist. */
function ended({ code, message }: SourceError): SourceError {
  return new SourceError(code, `${message} Refresh the source to try again.`, undefined, true);
}

type Asked = { readonly text: string; readonly failure?: never } | { readonly failure: SourceError; readonly text?: never };

async function ask(visitor: Visitor, origin: string, signal: AbortSignal): Promise<Asked> {
  const url = `${origin}/robots.txt`;
  try {
    const request = { url, bytesMax: 16 * bytesMax, redirectsMax, delayMs: 0 };
    return await visit(visitor, request, signal, async (head, content): Promise<Asked> => {
      if (head.status === 429 || head.status >= 500) return { failure: toRefusal(url, head) };
      return { text: head.status >= 200 && head.status < 300 ? await readStart(content) : '' };
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof EgressError)) throw error;
    // RFC 9309: a redirect that leads nowhere is as good as no robots.txt.
    if (error.code === 'TOO_MANY_REDIRECTS') return { text: '' };
    const reason = `${ofEgress(error).message} The site's robots.txt has to be read before its pages.`;
    return { failure: new SourceError(mayPass(error) ? 'UNREACHABLE' : 'FORBIDDEN', reason) };
  }
}

function toRefusal(url: string, { status, headers }: EgressHead): SourceError {
  const code = status === 429 ? 'RATE_LIMITED' : 'UNREACHABLE';
  const message = `${url} answered ${status}, so nothing of the site may be read now.`;
  return new SourceError(code, message, parseWait(headers['retry-after']));
}

async function readStart(content: AsyncIterable<Uint8Array>): Promise<string> {
  const blocks: Uint8Array[] = [];
  let bytes = 0;
  for await (const block of content) {
    blocks.push(block);
    bytes += block.length;
    if (bytes >= bytesMax) break;
  }
  return Buffer.concat(blocks)
    .subarray(0, bytesMax)
    .toString('utf8')
    .replace(/^\ufeff/, '');
}

/** @throws SourceError FORBIDDEN for rules that cannot be compared in reasonable time. */
export function parseRobots(origin: string, text: string, userAgent: string): Robots {
  const { allows, delaySeconds = 0, sitemaps, wildcardChars } = readRobotsRules(text, productToken(userAgent));
  if (wildcardChars > wildcardCharsMax) {
    throw new SourceError('FORBIDDEN', `${origin}/robots.txt has more patterns than can be obeyed, so the site is not read.`);
  }
  return { allows, sitemaps, delayMs: Number.isFinite(delaySeconds) ? Math.max(0, delaySeconds * 1_000) : 0 };
}
