import { nameReader, type TextMember, textMember } from '../members.ts';

/** The drive's own id of what is read. @param input  what callers are told, where they give it by this name. */
export function fileIdMember(input?: string): TextMember {
  const setting = "The drive's own id of the file or folder.";
  return textMember({ ...(input === undefined ? {} : { input }), setting, isRequired: true, isEssential: true }, nameReader);
}

/** Its name. */
export function filenameMember(input?: string): TextMember {
  return textMember({ ...(input === undefined ? {} : { input }), setting: 'Its name.', isRequired: true }, nameReader);
}
