import { Parser } from 'htmlparser2';

/** Open elements; a sitemap has four. The rest of a deeper one is not read. */
const openMax = 100;
const addressMaxChars = 4_000;

type Found = (kind: 'page' | 'sitemap', text: string) => void;

export interface SitemapReader {
  write(text: string): void;
  end(): void;
}

/** Reads a sitemap: XML, or text with an address a line. */
export function sitemapReader(findings: Found): SitemapReader {
  let reader: SitemapReader | undefined;
  return {
    write(text) {
      reader ??= /^\ufeff?\s*</.test(text) ? xmlReader(findings) : lineReader(findings);
      reader.write(text);
    },
    end: () => reader?.end(),
  };
}

function xmlReader(findings: Found): SitemapReader {
  let kind: 'page' | 'sitemap' = 'page';
  let location: string | undefined;
  let openCount = 0;
  const parser = new Parser(
    {
      onopentagname(name) {
        openCount += 1;
        if (openCount > openMax) parser.pause();
        if (name === 'url') kind = 'page';
        if (name === 'sitemap') kind = 'sitemap';
        if (name === 'loc') location = '';
      },
      ontext(text) {
        if (location !== undefined && location.length < addressMaxChars) location += text;
      },
      onclosetag(name) {
        openCount -= 1;
        if (name !== 'loc' || location === undefined) return;
        findings(kind, location.trim());
        location = undefined;
      },
    },
    { xmlMode: true },
  );
  return {
    write(text) {
      if (openCount <= openMax) parser.write(text);
    },
    end: () => parser.end(),
  };
}

function lineReader(findings: Found): SitemapReader {
  let rest = '';
  const take = (line: string) => {
    if (/^\s*https?:\/\//.test(line)) findings('page', line.trim());
  };
  return {
    write(text) {
      const lines = (rest + text).split(/\r?\n/);
      rest = (lines.pop() ?? '').slice(0, addressMaxChars);
      for (const line of lines) take(line);
    },
    end: () => take(rest),
  };
}
