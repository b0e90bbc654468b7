import { getDocumentProxy, getResolvedPDFJS } from 'unpdf';
import type { PDFDocumentProxy, PDFPageProxy } from 'unpdf/pdfjs';
import { collectGlyphs, type Layers } from './glyphs.ts';
import { collectLines } from './lines.ts';
import { findRaisedWords, type RaisedWord } from './raised-words.ts';

/** What pdf.js knows of a PDF besides its layout: layers, the order of lines from right to left, values of forms, notes. */
export interface PdfDetails {
  /** Whether some layers are off, so that pages may hold text that no viewer shows. */
  readonly hasHiddenLayers: boolean;
  /** The lines of a page that viewers show. @param number  from 1. */
  lines(number: number): Promise<ShownLines>;
  /** Values of form fields, text boxes and notes of a page. */
  annotations(number: number): Promise<string[]>;
  close(): Promise<void>;
}

export interface ShownLines {
  readonly lines: readonly string[];
  /** Whether layers that are off hold text of the page; it is not in `lines`. */
  readonly hasHiddenText: boolean;
  readonly raisedWords: readonly RaisedWord[];
}

export async function openDetails(bytes: Uint8Array): Promise<PdfDetails> {
  // pdf.js keeps the array and takes no Buffer, so it gets a copy.
  const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0, stopAtErrors: false });
  const { AnnotationMode, OPS } = await getResolvedPDFJS();
  const layers = await loadLayers(document);
  const withPage = async <T>(number: number, read: (page: PDFPageProxy) => Promise<T>): Promise<T> => {
    const page = await document.getPage(number);
    try {
      return await read(page);
    } finally {
      page.cleanup();
    }
  };
  return {
    hasHiddenLayers: layers.hasHidden,
    lines: (number) =>
      withPage(number, async (page) => {
        const glyphs = collectGlyphs(await page.getOperatorList({ annotationMode: AnnotationMode.DISABLE }), OPS, layers);
        const visible = glyphs.filter(({ isHidden }) => !isHidden);
        return {
          lines: collectLines(visible),
          raisedWords: findRaisedWords(visible),
          hasHiddenText: glyphs.some(({ isHidden, text }) => isHidden && text.trim() !== ''),
        };
      }),
    annotations: (number) => withPage(number, async (page) => (await page.getAnnotations()).flatMap(annotationText)),
    close: () => document.loadingTask.destroy(),
  };
}

async function loadLayers(document: PDFDocumentProxy): Promise<Layers & { readonly hasHidden: boolean }> {
  const config = await document.getOptionalContentConfig();
  const hasHidden = [...config].some(([, group]) => !(group as { readonly visible: boolean }).visible);
  return { hasHidden, isVisible: (group) => config.isVisible(group) };
}

/** What `getAnnotations` of pdf.js gives; untrusted. */
interface Annotation {
  readonly subtype?: unknown;
  readonly annotationFlags?: unknown;
  readonly contentsObj?: { readonly str?: unknown };
  readonly textContent?: unknown;
  readonly fieldType?: unknown;
  readonly fieldName?: unknown;
  readonly alternativeText?: unknown;
  readonly fieldValue?: unknown;
  readonly exportValue?: unknown;
  readonly buttonValue?: unknown;
  readonly checkBox?: unknown;
  readonly radioButton?: unknown;
  readonly password?: unknown;
}

/** Bits 2 and 6 of /F: Hidden and NoView. */
const notShownFlags = 0x02 | 0x20;
/** Marks on text whose remark a viewer shows beside them, and notes. */
const remarks = new Set([
  'Text',
  'FreeText',
  'Highlight',
  'Underline',
  'Squiggly',
  'StrikeOut',
  'Caret',
  'Stamp',
  'Square',
  'Circle',
  'Line',
  'Ink',
]);

function annotationText(annotation: Annotation): string[] {
  if ((Number(annotation.annotationFlags ?? 0) & notShownFlags) !== 0) return [];
  if (annotation.subtype === 'Widget') return fieldText(annotation);
  if (typeof annotation.subtype !== 'string' || !remarks.has(annotation.subtype)) return [];
  const drawnText = Array.isArray(annotation.textContent) ? annotation.textContent.join('\n') : '';
  return [text(annotation.contentsObj?.str) || drawnText.trim()].filter((remark) => remark !== '');
}

function fieldText(annotation: Annotation): string[] {
  const { fieldType, fieldName, alternativeText, fieldValue } = annotation;
  if (annotation.password === true) return [];
  const label = text(alternativeText) || text(fieldName);
  const toNamedLines = (value: string) => (value === '' ? [] : [label === '' ? value : `${label}: ${value}`]);
  if (fieldType === 'Tx' || fieldType === 'Ch') return toNamedLines([fieldValue].flat().map(text).filter(Boolean).join(', '));
  if (fieldType !== 'Btn') return [];
  if (annotation.checkBox === true)
    return fieldValue === annotation.exportValue && text(fieldValue) !== 'Off' ? toNamedLines(text(fieldValue)) : [];
  if (annotation.radioButton === true) return fieldValue === annotation.buttonValue ? toNamedLines(text(fieldValue)) : [];
  return [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
