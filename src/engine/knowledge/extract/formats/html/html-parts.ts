/** A footer inside one of these elements is about it: who is quoted, when an article was written. Other footers are the page's. */
export const footed: ReadonlySet<string> = new Set(
  'article aside main section blockquote details dialog fieldset figure td th li'.split(' '),
);

/** Whether an element and all that is in it are hidden from readers. @param name  in any case. */
export function isHidden(name: string, { hidden, style, open }: Readonly<Record<string, string | undefined>>): boolean {
  if (hidden !== undefined && hidden.trim().toLowerCase() !== 'until-found') return true;
  if (name.toLowerCase() === 'dialog' && open === undefined) return true;
  return style !== undefined && hidesByStyle(style);
}

const hidingStyles: Readonly<Record<string, RegExp>> = {
  display: /^none$/,
  visibility: /^(?:hidden|collapse)$/,
  'content-visibility': /^hidden$/,
  'mso-hide': /^all$/,
};

/** The last declaration of a property counts. */
function hidesByStyle(style: string): boolean {
  const declarations = new Map<string, string>();
  for (const declaration of style.toLowerCase().split(';')) {
    const colon = declaration.indexOf(':');
    if (colon === -1) continue;
    declarations.set(
      declaration.slice(0, colon).trim(),
      declaration
        .slice(colon + 1)
        .replace('!important', '')
        .trim(),
    );
  }
  return Object.entries(hidingStyles).some(([property, hiding]) => hiding.test(declarations.get(property) ?? ''));
}
