import type { Quotable, Quote } from './ranking.ts';
import { sentencesOf } from './sentences.ts';

const asking =
  /\b(summar(?:y|ies|i[sz]e[sd]?|i[sz]ing)|overview|tl;?\s?dr|(?:key|main) points|outline|the gist|what (?:is|are) (?:this|it|these|the (?:documents?|files?|texts?|pages?|knowledge|handbook|manual)) about)\b/i;
const sectionsMax = 8;

/** A section of a text: what it is called, and its first sentence. */
export interface Section extends Quote {
  readonly heading: string;
}

export function asksForSummary(question: string): boolean {
  return asking.test(question);
}

/** The sections of texts, in order: each heading with the first sentence below it. Text without headings is one section. */
export function outlineOf(sources: readonly Quotable[]): readonly Section[] {
  const sections = sources.flatMap((source) => {
    const seen = new Set<string>();
    return sentencesOf(source.text).flatMap(({ text, heading }) => {
      if (seen.has(heading)) return [];
      seen.add(heading);
      return [{ source, text: text.replace(/[:;,]$/, '.'), heading: heading === '' ? source.title : heading }];
    });
  });
  const distinct = sections.filter((section, index) => sections.findIndex(({ text }) => text === section.text) === index);
  return distinct.slice(0, sectionsMax);
}
