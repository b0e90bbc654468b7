import { printableName } from '../../../../lib/text/text.ts';
import { adfMarkdown } from '../atlassian/adf/markdown.ts';
import { SourceError } from '../error.ts';
import { storageToAdf } from './storage-format/to-adf.ts';

/** Reading more would hold up the service for more than a second: 1,000,000 characters take half of one. Written pages have less. */
const storageMaxChars = 2_000_000;
const titleMax = 1_000;

/** A page as Markdown: its title, then its content one level below. @throws SourceError TOO_LARGE, UNSUPPORTED. */
export function pageMarkdown({ title, storage }: { readonly title: string; readonly storage: string }): string {
  if (storage.length > storageMaxChars) {
    throw new SourceError('TOO_LARGE', `The page has more than ${storageMaxChars} characters, which is the limit.`);
  }
  return `# ${printableName(title, titleMax)}\n\n${adfMarkdown(storageToAdf(storage), 1)}\n`;
}
