import type { Block } from '../document.ts';
import type { DocumentWriter } from '../document-writer.ts';
import { headingText, markdownBlocks } from '../markdown-blocks.ts';

const frontMatter = /^\ufeff?(---|\+\+\+)[ \t]*\r?\n([\s\S]*?)(?:\r?\n)?\1[ \t]*(?:\r?\n|$)/;
/** A rule at the start without a second one within this length does not open front matter. */
const frontMatterMaxChars = 64 * 1024;
/** Lines of YAML and TOML at the level of the document: members, items of lists, comments, ends of brackets. Deeper lines are indented. */
const memberLine = {
  '---': /^["']?[\p{L}\p{N}_$@][\p{L}\p{N}_ .$@/-]{0,100}["']?[ \t]*:(?:[ \t]|$)/u,
  '+++': /^["']?[\p{L}\p{N}_][\p{L}\p{N}_ .-]{0,100}["']?[ \t]*=|^\[{1,2}[^\]]/u,
};
const otherLine = /^(?:[ \t]|#|-(?:[ \t]|$)|[\]})])/;

/** Markdown stays as it is, without the rules around its front matter, whose title comes before the first heading's. */
export function readMarkdown(text: string, writer: DocumentWriter): void {
  const { matter, body } = split(text);
  const lines = matter === '' ? 0 : matter.split(/\r\n?|\n/).length;
  // The second rule becomes an empty line, so that lines count on from the first one below the first rule.
  writer.firstLine = matter === '' ? 1 + (text.length > body.length ? countRules(text, body) : 0) : 2;
  writer.text(matter === '' ? body : `${matter}\n\n${body}`, (clean) => listBlocks(clean, lines));
  const titleMatch = /^title[ \t]*[:=][ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|([^\n]*))/im.exec(matter);
  writer.title = titleMatch?.[1] ?? titleMatch?.[2] ?? titleMatch?.[3] ?? firstHeading(body);
}

/** Lines of front matter without anything in it. */
function countRules(text: string, body: string): number {
  return text.slice(0, text.length - body.length).match(/\r\n?|\n/g)?.length ?? 0;
}

/** Text between two rules at the start is front matter if it is written like it; else it is text. */
function split(text: string): { readonly matter: string; readonly body: string } {
  const match = frontMatter.exec(text.slice(0, frontMatterMaxChars));
  const plain = { matter: '', body: text.replace(/^\ufeff/, '') };
  if (match === null) return plain;
  const [whole, rule, matter = ''] = match;
  const lines = matter.split(/\r\n?|\n/).filter((line) => line.trim() !== '');
  const isMember = (line: string) => memberLine[rule === '+++' ? '+++' : '---'].test(line);
  const isMatter = lines.every((line) => isMember(line) || otherLine.test(line)) && (lines.length === 0 || lines.some(isMember));
  return isMatter ? { matter: lines.length === 0 ? '' : matter, body: text.slice(whole.length) } : plain;
}

/** The members of front matter are one block, in which passages are cut between lines. */
function* listBlocks(text: string, matterLines: number): Generator<Omit<Block, 'page'>> {
  let start = 0;
  for (let line = 0; line < matterLines; line += 1) {
    const newline = text.indexOf('\n', start);
    start = newline === -1 ? text.length : newline + 1;
  }
  const matter = text.slice(0, start);
  if (matter.trim() !== '') {
    const charStart = matter.length - matter.trimStart().length;
    yield { kind: 'table', level: null, charStart, charEnd: matter.trimEnd().length };
  }
  for (const block of markdownBlocks(text.slice(start))) {
    yield { ...block, charStart: block.charStart + start, charEnd: block.charEnd + start };
  }
}

/** The first heading of the highest level near the start. */
export function firstHeading(markdown: string): string | null {
  const top = markdown.slice(0, 4096).replace(/\r\n?/g, '\n');
  for (const { kind, level, charStart, charEnd } of markdownBlocks(top)) {
    if (kind === 'heading' && (level ?? 6) <= 2) return headingText(top.slice(charStart, charEnd));
  }
  return null;
}
