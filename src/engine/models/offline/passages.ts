import type { Quotable } from './ranking.ts';

const passagePattern = /<passage\b([^>]*)>([\s\S]*?)<\/passage>/g;
const attributePattern = /(\w+)="([^"]*)"/g;
const entities: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };

/** Reads the passages that the run engine puts into a system message: `<passage n="1" title="…">text</passage>`. */
export function parsePassages(text: string): Quotable[] {
  return [...text.matchAll(passagePattern)].flatMap(([, attributes = '', body = '']) => {
    const found = new Map([...attributes.matchAll(attributePattern)].map(([, name = '', value = '']) => [name, decode(value)]));
    const number = Number(found.get('n'));
    if (!Number.isInteger(number)) return [];
    return [{ citation: number, title: found.get('title') ?? '', text: decode(body).trim() }];
  });
}

function decode(text: string): string {
  return text.replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities[entity] ?? entity);
}
