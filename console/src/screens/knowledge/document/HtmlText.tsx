import { parseDocument } from 'htmlparser2';
import { createElement, Fragment, type ReactNode, useMemo } from 'react';
import { OutsideLink, readAddress } from '../../../parts/markdown/Inline.tsx';
import { useMarkInView } from '../../../parts/markdown/mark-in-view.ts';
import { type Mark, splitByMarks } from '../../../parts/markdown/marks.ts';
import { findDirection } from '../../../parts/markdown/reading/direction.ts';
import styles from './document.module.css';
import { passageRanges } from './marks.ts';

/** Elements that are drawn as what they are; all without their attributes. */
const drawnElements = new Set(
  'p blockquote ul ol li dl dt dd pre code kbd samp em i strong b del s ins u small sub sup figure figcaption details summary table caption thead tbody tfoot tr'.split(
    ' ',
  ),
);
const cells = new Set(['td', 'th']);
/** What stands in them is no text for readers. */
const droppedElements = new Set(
  'script style noscript template head title iframe object embed applet svg math canvas audio video source track input button select textarea option dialog map area link meta base frame frameset portal'.split(
    ' ',
  ),
);
/** In tables, white space between elements is not allowed. */
const withoutText = new Set(['table', 'thead', 'tbody', 'tfoot', 'tr']);
const blocks = new Set('div section article main header footer aside nav address form fieldset center'.split(' '));
const depthMax = 100;

/**
 * HTML of strangers as elements of React. The browser never reads it: of what a parser makes of it, only texts, known elements and links are taken. Pictures
 * are shown by their words.
 */
export function HtmlText({
  html,
  words,
  support,
}: {
  readonly html: string;
  readonly words: string | undefined;
  readonly support: string | undefined;
}) {
  const { content, marks } = useMemo(() => drawHtml(html, words, support), [html, words, support]);
  const place = useMarkInView<HTMLDivElement>(marks);
  return (
    <div ref={place} className={styles.html} dir={findDirection(html.replaceAll(/<[^>]{0,2000}>/g, ' '))}>
      {content}
    </div>
  );
}

function drawHtml(html: string, words: string | undefined, support: string | undefined) {
  const nodes = parseDocument(html).children;
  const texts = listTexts(nodes, 0);
  const marks = new Map<HtmlNode, readonly Mark[]>();
  const note = (wanted: string | undefined, kind: Mark['kind']) => {
    const pieces = texts.map((node) => node.data);
    for (const { index, start, end } of wanted === undefined ? [] : passageRanges(pieces, wanted)) {
      const node = texts[index];
      if (node !== undefined) marks.set(node, [...(marks.get(node) ?? []), { start, end, kind }]);
    }
  };
  note(words, 'passage');
  note(support, 'support');
  return { content: drawNodes(nodes, { marks, above: [] }, 0), marks: [...marks.values()].flat() };
}

type HtmlNode = ReturnType<typeof parseDocument>['children'][number];
type HtmlElement = Extract<HtmlNode, { readonly attribs: unknown }>;
type HtmlText = Extract<HtmlNode, { readonly data: string }>;

const isElement = (node: HtmlNode): node is HtmlElement => 'attribs' in node;
const isText = (node: HtmlNode): node is HtmlText => node.type === 'text';

/** The texts that are drawn, in their order. */
function listTexts(nodes: readonly HtmlNode[], depth: number): readonly HtmlText[] {
  if (depth > depthMax) return [];
  return nodes.flatMap((node) => {
    if (isText(node)) return [node];
    return isElement(node) && !droppedElements.has(node.name) ? listTexts(node.children, depth + 1) : [];
  });
}

interface Drawing {
  readonly marks: ReadonlyMap<HtmlNode, readonly Mark[]>;
  /** The levels of the headings that the next one stands under. */
  readonly above: number[];
}

/** @param inside  the name of the element around. */
function drawNodes(nodes: readonly HtmlNode[], drawing: Drawing, depth: number, inside = ''): ReactNode {
  if (depth > depthMax) return null;
  const drawNode = (node: HtmlNode): ReactNode => {
    if (isElement(node)) return drawElement(node, drawing, depth + 1);
    return isText(node) && !withoutText.has(inside) ? drawText(node.data, drawing.marks.get(node)) : null;
  };
  // As arguments, not as a list: nodes need no keys.
  return createElement(Fragment, undefined, ...nodes.map(drawNode));
}

function drawText(text: string, marks: readonly Mark[] | undefined): ReactNode {
  if (marks === undefined) return text;
  const pieces = splitByMarks(text, 0, marks).map(({ text: piece, kind }) =>
    kind === undefined ? piece : createElement('mark', { 'data-kind': kind }, piece),
  );
  return createElement(Fragment, undefined, ...pieces);
}

function drawElement(element: HtmlElement, drawing: Drawing, depth: number): ReactNode {
  const { name, attribs, children } = element;
  if (droppedElements.has(name)) return null;
  if (name === 'br' || name === 'hr') return createElement(name);
  if (name === 'img') return drawPicture(attribs.alt?.trim() ?? '');
  const inside = drawNodes(children, drawing, depth, name);
  if (name === 'a') {
    const words = listTexts(children, depth).map(({ data }) => data);
    return (
      <WebLink address={attribs.href ?? ''} words={words.join('')}>
        {inside}
      </WebLink>
    );
  }
  if (/^h[1-6]$/.test(name)) return createElement(`h${placeHeading(drawing.above, Number(name[1]))}`, { dir: 'auto' }, inside);
  if (cells.has(name)) return createElement(name, readSpans(attribs), inside);
  if (drawnElements.has(name)) return createElement(name, name === 'pre' ? { dir: 'ltr', tabIndex: 0 } : undefined, inside);
  return blocks.has(name) ? <div>{inside}</div> : inside;
}

function drawPicture(words: string): ReactNode {
  return words === '' ? null : <span className={styles.quiet}>[{words}]</span>;
}

/** The level in the page, whose title is its h1: one below the heading above. */
function placeHeading(above: number[], level: number): number {
  while ((above.at(-1) ?? 0) >= level) above.pop();
  above.push(level);
  return Math.min(1 + above.length, 6);
}

function readSpans(attribs: Readonly<Record<string, string>>): { readonly colSpan: number; readonly rowSpan: number } {
  const read = (name: string) => Math.min(Math.max(Number.parseInt(attribs[name] ?? '1', 10) || 1, 1), 100);
  return { colSpan: read('colspan'), rowSpan: read('rowspan') };
}

function WebLink({
  address,
  words,
  children,
}: {
  readonly address: string;
  readonly words: string;
  readonly children: ReactNode;
}) {
  const url = readAddress(address, 'document');
  if (url === undefined || words.trim() === '') return children;
  return (
    <OutsideLink url={url} words={words}>
      {children}
    </OutsideLink>
  );
}
