import { type AdfNode, adfNode, adfText } from '../../atlassian/adf/node.ts';
import { childNamed, readParameter, type StorageElement, textBelow } from './tree.ts';

type Inner = (element: StorageElement) => readonly AdfNode[];

/** Panels by the name of their macro. Old notes are yellow and old warnings red, as their names say. */
const panels: ReadonlySet<string> = new Set(['info', 'note', 'tip', 'warning', 'panel', 'success', 'error']);

/** What a macro shows: its text if it holds any, else what it points at; nothing for one that is made of other pages, such as a list of contents. */
export function macroNodes(macro: StorageElement, inner: Inner): readonly AdfNode[] {
  const name = macro.attributes['ac:name'] ?? '';
  const title = readParameter(macro, 'title');
  const body = childNamed(macro, 'ac:rich-text-body');
  const plain = childNamed(macro, 'ac:plain-text-body');
  if (name === 'code' || name === 'noformat') {
    const code = adfNode('codeBlock', [adfText(textBelow(plain).replace(/^\n/, ''))], {
      language: readParameter(macro, 'language'),
    });
    return title === '' ? [code] : [adfNode('paragraph', [adfText(title)]), code];
  }
  if (panels.has(name)) return [adfNode('panel', body === undefined ? [] : inner(body), { panelType: name, title })];
  if (name === 'expand') return [adfNode('expand', body === undefined ? [] : inner(body), { title })];
  if (name === 'status') return [adfNode('status', [], { text: title })];
  if (name === 'jira') {
    const key = readParameter(macro, 'key');
    return key === '' ? [] : [adfText(key)];
  }
  if (body !== undefined) return inner(body);
  if (plain !== undefined) return [adfNode('codeBlock', [adfText(textBelow(plain))])];
  return pointedAt(macro);
}

/** The file or address in a parameter of a macro, such as one that shows a file. */
function pointedAt(macro: StorageElement): readonly AdfNode[] {
  const pending = [...macro.children];
  for (let child = pending.shift(); child !== undefined; child = pending.shift()) {
    if (typeof child === 'string') continue;
    const { 'ri:filename': filename, 'ri:value': value } = child.attributes;
    if (child.name === 'ri:attachment' && filename !== undefined) return [adfNode('mediaInline', [], { alt: filename })];
    if (child.name === 'ri:url' && value !== undefined) return [adfNode('inlineCard', [], { url: value })];
    if (child.name !== 'ac:structured-macro') pending.push(...child.children);
  }
  const url = readParameter(macro, 'url');
  return /^https?:\/\//i.test(url) ? [adfNode('inlineCard', [], { url })] : [];
}
