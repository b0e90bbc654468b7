/** Longer link addresses are left out: no person types them. */
const urlMaxChars = 300;

/** `[text](address)` for addresses that a reader can open; else the text alone. */
export function markdownLink(text: string, address: string): string {
  const isPlain = text.trim() === '' || text.includes('\n') || text === address;
  if (isPlain || !/^(?:https?:\/\/|mailto:)/i.test(address) || address.length > urlMaxChars || /[\s()<>]/.test(address))
    return text;
  return `[${text}](${address})`;
}
