import type { DocumentWriter } from '../document-writer.ts';
import { headingText, markdownBlocks } from '../markdown-blocks.ts';

const frontMatter = /^\ufeff?(---|\+\+\+)[ \t]*\r?\n([\s\S]*?)(?:\r?\n)?\1[ \t]*(?:\r?\n|$)/;
/** A rule at the start without a second one within this length does not open front matter. */
const frontMatterMaxChars = 64 * 1024;

/** Markdown stays as it is, without its front matter, whose title comes before the first heading's. */
export function readMarkdown(text: string, writer: DocumentWriter): void {
  const match = frontMatter.exec(text.slice(0, frontMatterMaxChars));
  const body = match === null ? text.replace(/^\ufeff/, '') : text.slice(match[0].length);
  const named = match === null ? undefined : /^title[ \t]*[:=][ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|([^\n]*))/im.exec(match[2] ?? '');
  // Front matter is left out, and its lines count.
  writer.firstLine = 1 + (match?.[0].match(/\r\n?|\n/g)?.length ?? 0);
  writer.text(body, markdownBlocks);
  writer.title = named?.[1] ?? named?.[2] ?? named?.[3] ?? firstHeading(body);
}

/** The first heading of the highest level near the start. */
export function firstHeading(markdown: string): string | null {
  const top = markdown.slice(0, 4096).replace(/\r\n?/g, '\n');
  for (const { kind, level, charStart, charEnd } of markdownBlocks(top)) {
    if (kind === 'heading' && (level ?? 6) <= 2) return headingText(top.slice(charStart, charEnd));
  }
  return null;
}
