import type { Archive } from '../archive.ts';
import type { DocumentWriter } from '../document-writer.ts';
import { damaged } from '../error.ts';
import { chartsIn, findPart, loadRelations, packageTitle } from '../package-parts.ts';
import { relationId } from '../xml.ts';
import { writeTable } from './markdown-table.ts';
import { type ShapeText, SlideReader } from './pptx-slide.ts';

/**
 * A presentation, slide by slide in the order of the show: the title as heading, lists, tables, diagrams, speaker notes, comments. The
 * number of a slide is its page. Hidden slides keep their number and are left out, as are slide numbers, dates, footers, charts, and macros.
 */
export async function readPptx(archive: Archive, writer: DocumentWriter): Promise<void> {
  archive.what = 'The presentation';
  const main = findPart(await loadRelations(archive, ''), 'officeDocument') ?? 'ppt/presentation.xml';
  const relations = await loadRelations(archive, main);
  const slides: string[] = [];
  const isThere = await archive.xml(main, {
    open(name, attributes) {
      const slide = name === 'sldId' ? relations.get(relationId(attributes) ?? '') : undefined;
      if (slide?.type === 'slide') slides.push(slide.target);
    },
  });
  if (!isThere) throw damaged(archive.what);
  let slidesWithoutText = 0;
  for (const [index, part] of slides.entries()) {
    if (!(await readSlide(archive, part, index + 1, writer))) slidesWithoutText += 1;
  }
  writer.omit('PAGES_WITHOUT_TEXT', slidesWithoutText, slides.length);
  writer.omit('CHARTS', chartsIn(archive));
  writer.pageCount = slides.length === 0 ? null : slides.length;
  writer.title = (await packageTitle(archive)) ?? (await slideTitle(archive, slides[0], writer));
}

/** @returns whether there was something to read, also on a hidden slide. */
async function readSlide(archive: Archive, part: string, page: number, writer: DocumentWriter): Promise<boolean> {
  const slide = new SlideReader(writer.textMaxChars);
  await archive.xml(part, slide);
  if (slide.isHidden) {
    writer.omit('HIDDEN_SLIDES');
    return true;
  }
  const relations = [...(await loadRelations(archive, part)).values()].filter(({ isExternal }) => !isExternal);
  const loadRelated = async (relationType: string) => {
    const shapes: ShapeText[] = [];
    for (const { target } of relations.filter(({ type }) => type === relationType)) {
      const reader = new SlideReader(writer.textMaxChars);
      await archive.xml(target, reader);
      shapes.push(...reader.shapes);
    }
    return shapes;
  };
  writer.omit('HIDDEN_PARTS', slide.hiddenCount);
  const shapes = [...slide.shapes, ...(await loadRelated('diagramData'))];
  const notes = (await loadRelated('notesSlide')).filter(({ role }) => role === 'body');
  const comments = await loadRelated('comments');
  // A slide of nothing but pictures leaves no heading.
  if (shapes.length + notes.length + comments.length === 0) return false;
  writer.heading(1, slide.title === '' ? `Slide ${page}` : slide.title, page);
  for (const shape of shapes) writeShape(shape, page, writer);
  for (const { lines } of notes) writer.block('paragraph', `Speaker notes: ${linesText(lines)}`, page);
  for (const { lines } of comments) writer.block('paragraph', `Comment: ${linesText(lines)}`, page);
  return true;
}

function writeShape({ role, lines, rows }: ShapeText, page: number, writer: DocumentWriter): void {
  if (role === 'title') return;
  if (rows.length > 0) writeTable(writer, rows, page);
  else if (lines.length < 2) writer.block('paragraph', linesText(lines), page);
  else
    writer.block(
      'list',
      lines.map(({ level, label, text }) => `${'  '.repeat(level)}${label === '' ? '-' : label} ${text}`).join('\n'),
      page,
    );
}

function linesText(lines: ShapeText['lines']): string {
  return lines.map(({ label, text }) => `${label} ${text}`.trimStart()).join('\n');
}

async function slideTitle(archive: Archive, part: string | undefined, writer: DocumentWriter): Promise<string | null> {
  if (part === undefined) return null;
  const slide = new SlideReader(writer.textMaxChars);
  await archive.xml(part, slide);
  return slide.title === '' ? null : slide.title;
}
