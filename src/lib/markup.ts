const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const characters: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' };

/** Text that can stand between tags and in a quoted attribute. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);
}

/** The text that `escapeMarkup` was given. */
export function unescapeMarkup(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot);/g, (escaped) => characters[escaped] ?? escaped);
}
