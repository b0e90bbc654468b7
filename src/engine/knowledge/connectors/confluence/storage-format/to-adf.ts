import { type AdfMark, type AdfNode, adfNode, adfText } from '../../atlassian/adf/node.ts';
import { macroNodes } from './macros.ts';
import { childNamed, childrenNamed, parseStorage, type StorageElement, textBelow } from './tree.ts';

/** A page in Confluence's storage format as an ADF document, which is the richer of the two. */
export function storageToAdf(storage: string): AdfNode {
  return adfNode('doc', nodesIn(parseStorage(storage), []));
}

const marks: Readonly<Record<string, string>> = {
  strong: 'strong',
  b: 'strong',
  em: 'em',
  i: 'em',
  s: 'strike',
  del: 'strike',
  strike: 'strike',
  code: 'code',
};
/** Raised and lowered text is one mark of two kinds. */
const scripts: ReadonlySet<string> = new Set(['sup', 'sub']);
const blocks: Readonly<Record<string, string>> = {
  p: 'paragraph',
  ul: 'bulletList',
  li: 'listItem',
  blockquote: 'blockquote',
  'ac:task-list': 'taskList',
  div: 'layoutColumn',
  section: 'layoutColumn',
  'ac:layout-cell': 'layoutColumn',
};
/** What people do not read. */
const hiddenElements: ReadonlySet<string> = new Set([
  'ac:parameter',
  'ac:placeholder',
  'ac:adf-attribute',
  'script',
  'style',
  'template',
  'colgroup',
]);

function nodesIn({ children }: StorageElement, nodeMarks: readonly AdfMark[]): readonly AdfNode[] {
  return children.flatMap((child) => {
    if (typeof child !== 'string') return toNodes(child, nodeMarks);
    const text = child.replace(/\s+/g, ' ');
    return text === '' ? [] : [adfText(text, nodeMarks)];
  });
}

function toNodes(element: StorageElement, nodeMarks: readonly AdfMark[]): readonly AdfNode[] {
  const { name, attributes } = element;
  if (hiddenElements.has(name)) return [];
  const inner = () => nodesIn(element, nodeMarks);
  const block = blocks[name];
  if (block !== undefined) return [adfNode(block, inWords(inner()))];
  const mark = marks[name];
  if (mark !== undefined) return nodesIn(element, [...nodeMarks, { type: mark, attrs: {} }]);
  if (scripts.has(name)) return nodesIn(element, [...nodeMarks, { type: 'subsup', attrs: { type: name } }]);
  if (/^h[1-6]$/.test(name)) return [adfNode('heading', inner(), { level: Number(name[1]) })];
  switch (name) {
    case 'ol':
      return [adfNode('orderedList', inWords(inner()), { order: Number(attributes.start ?? 1) })];
    case 'br':
      return [adfNode('hardBreak')];
    case 'hr':
      return [adfNode('rule')];
    case 'pre':
      return [adfNode('codeBlock', [adfText(textBelow(element))])];
    case 'a':
      return nodesIn(element, [...nodeMarks, { type: 'link', attrs: { href: attributes.href } }]);
    case 'time':
      return [adfText(attributes.datetime ?? textBelow(element), nodeMarks)];
    case 'img':
      return media(attributes.alt ?? '');
    case 'table':
      return [adfNode('table', listRows(element))];
    case 'ac:structured-macro':
    case 'ac:macro':
      return macroNodes(element, (body) => nodesIn(body, []));
    case 'ac:link':
      return linkNodes(element, nodeMarks);
    case 'ac:image':
      return imageNodes(element);
    case 'ac:emoticon':
      return [adfNode('emoji', [], { text: attributes['ac:emoji-fallback'] ?? '' })];
    case 'ac:task':
      return [taskNode(element)];
    case 'ac:adf-extension':
      return extensionNodes(element);
    default:
      return inner();
  }
}

/** Without the white space between blocks, which is no text. */
function inWords(nodes: readonly AdfNode[]): readonly AdfNode[] {
  return nodes.filter(({ type, text }, index) => {
    if (type !== 'text' || text.trim() !== '') return true;
    return nodes[index - 1] !== undefined && nodes[index + 1] !== undefined;
  });
}

/** The rows of a table itself, and not those of tables within its cells. */
function listRows(table: StorageElement): readonly AdfNode[] {
  return table.children.flatMap((child) => {
    if (typeof child === 'string') return [];
    if (child.name !== 'tr') return /^t(?:head|body|foot)$/.test(child.name) ? listRows(child) : [];
    const cells = child.children.flatMap((cell) => {
      if (typeof cell === 'string' || !/^t[hd]$/.test(cell.name)) return [];
      const { rowspan, colspan } = cell.attributes;
      return [adfNode(cell.name === 'th' ? 'tableHeader' : 'tableCell', inWords(nodesIn(cell, [])), { rowspan, colspan })];
    });
    return [adfNode('tableRow', cells)];
  });
}

/** A link to a page, a file, a person or an address. The addresses of pages are not in the storage format, only their titles. */
function linkNodes(link: StorageElement, nodeMarks: readonly AdfMark[]): readonly AdfNode[] {
  const body = childNamed(link, 'ac:link-body');
  const words = body === undefined ? [] : nodesIn(body, nodeMarks);
  const plain = textBelow(childNamed(link, 'ac:plain-text-link-body')).trim();
  const url = childNamed(link, 'ri:url')?.attributes['ri:value'];
  const linkMarks = url === undefined ? nodeMarks : [...nodeMarks, { type: 'link', attrs: { href: url } }];
  if (words.length > 0) return words;
  if (plain !== '') return [adfText(plain, linkMarks)];
  if (childNamed(link, 'ri:user') !== undefined) return [adfNode('mention')];
  const page = childNamed(link, 'ri:page') ?? childNamed(link, 'ri:blog-post');
  const name =
    page?.attributes['ri:content-title'] ??
    childNamed(link, 'ri:attachment')?.attributes['ri:filename'] ??
    childNamed(link, 'ri:space')?.attributes['ri:space-key'] ??
    url ??
    link.attributes['ac:anchor'];
  return name === undefined ? nodesIn(link, nodeMarks) : [adfText(name, linkMarks)];
}

function imageNodes(image: StorageElement): readonly AdfNode[] {
  const name = image.attributes['ac:alt'] ?? childNamed(image, 'ri:attachment')?.attributes['ri:filename'];
  const caption = childNamed(image, 'ac:caption');
  return [...media(name ?? ''), ...(caption === undefined ? [] : [adfNode('caption', inWords(nodesIn(caption, [])))])];
}

function media(name: string): readonly AdfNode[] {
  return name === '' ? [] : [adfNode('mediaInline', [], { alt: name })];
}

function taskNode(task: StorageElement): AdfNode {
  const isDone = textBelow(childNamed(task, 'ac:task-status')).trim() === 'complete';
  const body = childNamed(task, 'ac:task-body');
  return adfNode('taskItem', body === undefined ? [] : inWords(nodesIn(body, [])), { state: isDone ? 'DONE' : 'TODO' });
}

/** A part that only the newer editor knows: as itself, else as what is there for older ones. */
function extensionNodes(extension: StorageElement): readonly AdfNode[] {
  const node = childNamed(extension, 'ac:adf-node');
  const contents = node === undefined ? [] : childrenNamed(node, 'ac:adf-content');
  if (node === undefined || contents.length === 0) {
    const fallback = childNamed(extension, 'ac:adf-fallback') ?? node;
    return fallback === undefined ? [] : nodesIn(fallback, []);
  }
  const inner = contents.flatMap((content) => nodesIn(content, []));
  if (node.attributes.type !== 'panel') return inner;
  const kind = childrenNamed(node, 'ac:adf-attribute').find(({ attributes }) => attributes.key === 'panel-type');
  return [adfNode('panel', inner, { panelType: textBelow(kind).trim() })];
}
