import { Parser } from 'htmlparser2';
import { SourceError } from '../../error.ts';

/** An element of Confluence's storage format: XHTML with elements of its own, such as `ac:structured-macro`. */
export interface StorageElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (StorageElement | string)[];
}

/** No person nests so deep; deeper elements lie beside each other, so that no page exhausts the stack. */
const depthMax = 60;
/** The parser takes quadratic time for more open elements. Confluence closes what it opens. */
const openMax = 2_000;

/**
 * Reads the storage format in one pass, in linear time: it is read in the process of the service.
 *
 * @returns an element without a name that holds the page.
 * @throws SourceError UNSUPPORTED for a page whose elements are not closed.
 */
export function parseStorage(storage: string): StorageElement {
  const root: StorageElement = { name: '', attributes: {}, children: [] };
  const open: StorageElement[] = [root];
  /** How many elements are open that lie too deep to be a parent. */
  let tooDeep = 0;
  const parent = () => open.at(-1) ?? root;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const element: StorageElement = { name, attributes, children: [] };
        parent().children.push(element);
        if (open.length < depthMax) open.push(element);
        else tooDeep += 1;
        if (tooDeep > openMax) throw new SourceError('UNSUPPORTED', 'The elements of the page are nested too deeply to be read.');
      },
      onclosetag() {
        if (tooDeep > 0) tooDeep -= 1;
        else if (open.length > 1) open.pop();
      },
      ontext(text) {
        const { children } = parent();
        const last = children.length - 1;
        // The parser gives an entity apart from the text around it.
        if (typeof children[last] === 'string') children[last] += text;
        else children.push(text);
      },
    },
    { recognizeCDATA: true, recognizeSelfClosing: true },
  );
  parser.write(storage.replaceAll('\0', ''));
  parser.end();
  return root;
}

/** The children that are elements of a name. */
export function childrenNamed({ children }: StorageElement, name: string): readonly StorageElement[] {
  return children.filter((child): child is StorageElement => typeof child !== 'string' && child.name === name);
}

export function childNamed(element: StorageElement, name: string): StorageElement | undefined {
  return childrenNamed(element, name)[0];
}

/** All text below an element, as it stands there. */
export function textBelow(element: StorageElement | undefined): string {
  if (element === undefined) return '';
  return element.children.map((child) => (typeof child === 'string' ? child : textBelow(child))).join('');
}

/** The value of a macro's parameter. */
export function readParameter(macro: StorageElement, name: string): string {
  const parameter = childrenNamed(macro, 'ac:parameter').find(({ attributes }) => attributes['ac:name'] === name);
  return textBelow(parameter).trim();
}
