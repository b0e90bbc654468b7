import { createHash } from 'node:crypto';

const titleMaxChars = 300;
/** Fewer bytes than most texts have for a token. */
const bytesPerToken = 3;

/** What is made into the vector of a passage: with its title and headings, it can be understood alone. */
export function embeddedText(title: string, headingPath: string, text: string): string {
  return [title.slice(0, titleMaxChars), headingPath, text].filter((part) => part !== '').join('\n');
}

/** Equal for equal texts; 32 hexadecimal digits. */
export function hashOfText(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

/** An upper estimate of the tokens of a text. */
export function tokensOfText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}
