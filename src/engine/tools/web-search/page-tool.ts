import { DomainError } from '../../../entities/ground/errors.ts';
import { textWithOmissions } from '../../../entities/knowledge/omission.ts';
import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import { cutText, oneLine, storableText } from '../../../lib/text/text.ts';
import type { Egress, EgressReply } from '../../egress/egress.ts';
import { EgressError } from '../../egress/error.ts';
import { ExtractError } from '../../knowledge/extract/error.ts';
import type { Knowledge } from '../../knowledge/knowledge.ts';
import { printableArgument, textArgument } from '../arguments.ts';
import { foreignNote, markForeign } from '../foreign/foreign-text.ts';
import type { ServerTool, ToolResult } from '../server-tool.ts';
import type { AddressMemory } from './address-memory.ts';
import { mayVisit } from './domains.ts';
import type { WebSearchOptions } from './options.ts';
import type { WebSources } from './web-passage.ts';

const addressMax = 2_000;
const titleMax = 300;
const redirectsMax = 5;
const noteChars = 600;
const acceptedTypes = 'text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.5';

export interface PageReading {
  readonly egress: Egress;
  readonly knowledge: Pick<Knowledge, 'pages' | 'readDocument'>;
  readonly userAgent: string;
  /** For one page, redirects included; reading it has the time of documents. */
  readonly timeoutMs: number;
  readonly bytesMax: number;
}

export interface PageToolContext extends PageReading {
  readonly options: WebSearchOptions;
  readonly known: AddressMemory;
  readonly sources: WebSources;
  readonly owner: ShareOwner;
  readonly resultCharsMax: number;
  /** Whether the answer cites. */
  readonly isCiting: boolean;
}

/** Makes `open_page` for one run. */
export function createPageTool(context: PageToolContext): ServerTool {
  return {
    definition: {
      name: 'open_page',
      description:
        'Reads one page or document of the web: a result of web_search, a link on an opened page, or an address that the user named.',
      parameters: {
        type: 'object',
        properties: { url: { type: 'string', description: 'Its address, as it was found.' } },
        required: ['url'],
        additionalProperties: false,
      },
    },
    hint: 'Reading a page',
    ifLost: 'repeat',
    form: (args) => ({ type: 'web_search', action: { type: 'open_page', url: printableArgument(args, 'url', addressMax) } }),
    async run(args, _secrets, signal) {
      const url = readAddress(textArgument(args, 'url', addressMax), context);
      const reply = await fetchPage(url, context, signal);
      return readReply(reply, context, signal);
    },
  };
}

/** @throws DomainError for an address that is none, that the filters exclude, or that was found nowhere. */
function readAddress(addressText: string, { options, known: knownAddresses }: PageToolContext): URL {
  const url = URL.parse(addressText);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new DomainError('INVALID_VALUE', 'url must be an http(s) address');
  }
  requireVisible(url, options);
  if (!knownAddresses.has(url)) {
    throw new DomainError(
      'INVALID_VALUE',
      'This address was neither found by web_search nor named in the conversation: search for the page first',
    );
  }
  return url;
}

function requireVisible({ hostname }: URL, { filter }: WebSearchOptions): void {
  if (mayVisit(filter, hostname)) return;
  throw new DomainError('INVALID_VALUE', `Pages of ${hostname.slice(0, 100)} are excluded by the filters of this request`);
}

/** Follows redirects itself, because the filters hold on every hop. */
async function fetchPage(first: URL, context: PageToolContext, signal: AbortSignal): Promise<EgressReply> {
  const { egress, owner, bytesMax, timeoutMs, userAgent, options } = context;
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, timeout]);
  let url = first;
  try {
    for (let hops = 0; ; hops += 1) {
      const headers = { accept: acceptedTypes, 'user-agent': userAgent };
      const reply = await egress.send({ owner, url: url.href, headers, bytesMax, timeoutMs, redirectsMax: 0 }, either);
      const { location } = reply.headers;
      if (reply.status < 300 || reply.status > 308 || location === undefined) return reply;
      if (hops >= redirectsMax) throw new DomainError('UPSTREAM_ERROR', `The page redirects more than ${redirectsMax} times`);
      const next = URL.parse(location, url.href);
      if (next === null) throw new DomainError('UPSTREAM_ERROR', 'The page redirects to something that is no address');
      requireVisible(next, options);
      url = next;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EgressError) throw new DomainError('UPSTREAM_ERROR', `The page could not be read: ${error.message}`);
    if (timeout.aborted) throw new DomainError('UPSTREAM_ERROR', `The page did not arrive within ${timeoutMs} ms`);
    throw error;
  }
}

async function readReply(reply: EgressReply, context: PageToolContext, signal: AbortSignal): Promise<ToolResult> {
  const { knowledge, owner, options, known: knownAddresses, sources, resultCharsMax, isCiting } = context;
  if (reply.status < 200 || reply.status > 299)
    throw new DomainError('UPSTREAM_ERROR', `The page answered with status ${reply.status}`);
  const mimeType = (reply.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const { pathname, hostname } = new URL(reply.url);
  const filename = pathname.split('/').at(-1) || hostname;
  const document = { bytes: reply.body, filename, mimeType };
  const read = await knowledge.readDocument(owner, document, 'The page', signal);
  const text = storableText(textWithOmissions(read.text, read.omissions));
  let title = read.title ?? '';
  if (read.mimeType === 'text/html') {
    const page = await findLinks(reply, context, signal);
    for (const link of page.links) knownAddresses.add(link);
    if (title === '') ({ title } = page);
  } else knownAddresses.addText(text);
  title = cutText(oneLine(storableText(title)), titleMax) || hostname;
  knownAddresses.add(reply.url);
  const n = sources.numberOf({ url: reply.url, title, text });
  const charsMax = Math.min(options.size.pageCharsMax, resultCharsMax - noteChars - reply.url.length - title.length);
  const how = isCiting ? 'Cite the page as its number in square brackets, like [3].' : '';
  const markedText = markForeign('page', { n, url: reply.url, title }, text, charsMax);
  return { text: [foreignNote, how, markedText].filter((part) => part !== '').join('\n') };
}

/** Where a page leads. The text of one whose links cannot be read is shown all the same. */
async function findLinks(
  { body, headers, url }: EgressReply,
  { knowledge, owner, userAgent }: PageToolContext,
  signal: AbortSignal,
): Promise<{ readonly links: readonly string[]; readonly title: string }> {
  const question = { url, contentType: headers['content-type'] ?? '', said: 'PAGE', token: userAgent } as const;
  try {
    const { links, page } = await knowledge.pages.document(owner, body, question, signal);
    return { links, title: page?.title ?? '' };
  } catch (error) {
    if (error instanceof ExtractError) return { links: [], title: '' };
    throw error;
  }
}
