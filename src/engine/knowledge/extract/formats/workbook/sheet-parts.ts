import type { Archive } from '../../archive.ts';
import { loadRelations } from '../../package-parts.ts';
import { attribute, relationId } from '../../xml.ts';

const workbookPart = 'xl/workbook.xml';

/** The sheets of a workbook with their parts, which the library does not tell. */
export async function sheetParts(archive: Archive): Promise<readonly { readonly name: string; readonly part: string }[]> {
  const sheets: { readonly name: string; readonly relation: string }[] = [];
  await archive.xml(workbookPart, {
    open(name, attributes) {
      if (name === 'sheet') sheets.push({ name: attribute(attributes, 'name') ?? '', relation: relationId(attributes) ?? '' });
    },
  });
  const parts = await loadRelations(archive, workbookPart);
  return sheets.flatMap(({ name, relation }) => {
    const part = parts.get(relation)?.target;
    return part === undefined ? [] : [{ name, part }];
  });
}
