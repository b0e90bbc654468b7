/** Code between fences that are longer than any in it. */
export function fencedCode(code: string, language: string): string {
  const longest = (code.match(/`{3,}/g) ?? []).reduce((most, marks) => Math.max(most, marks.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${code}\n${fence}`;
}
