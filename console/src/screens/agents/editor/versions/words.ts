import type { Text } from '../../../../text/text.ts';
import { fieldNames } from '../draft/draft.ts';
import { fieldLabel } from '../draft/field-labels.ts';

/** Where the draft stands in place of a number. */
export const draftName = 'draft';

/** `4` or `draft` as people say it. */
export function versionTitle(t: Text['t'], name: string): string {
  return name === draftName ? t('The draft') : t('Version {version}', { version: name });
}

/** A member or a part of an agent, such as `instructions` and `tools.lookup`, as the editor calls it. */
export function partLabel(t: Text['t'], member: string): string {
  const { list, rest } = splitMember(member);
  const field = fieldNames.find((name) => name === member);
  if (field !== undefined) return fieldLabel(t, field);
  const named = { name: rest };
  const labels: Readonly<Record<string, string>> = {
    tools: t('Tool {name}', named),
    userInputs: t('Input {name}', named),
    skills: t('Skill {name}', named),
    flows: t('Flow {name}', named),
    sources: t('Source {name}', named),
  };
  return labels[list] ?? member;
}

/** A member of a part, such as `tools.lookup.data`, too. */
export function memberLabel(t: Text['t'], member: string): string {
  const last = member.lastIndexOf('.');
  const { list } = splitMember(member);
  if (last <= list.length) return partLabel(t, member);
  return t('{part}: {member}', { part: partLabel(t, member.slice(0, last)), member: attributeLabel(t, member.slice(last + 1)) });
}

/** The name of a part may have points. */
function splitMember(member: string): { readonly list: string; readonly rest: string } {
  const point = member.indexOf('.');
  return point === -1 ? { list: member, rest: '' } : { list: member.slice(0, point), rest: member.slice(point + 1) };
}

function attributeLabel(t: Text['t'], name: string): string {
  const labels: Readonly<Record<string, string>> = {
    name: t('Name'),
    description: t('Description'),
    content: t('Instructions'),
    data: t('Settings'),
    type: t('Kind'),
    enabled: t('On'),
    versions: t('Versions'),
    cite: t('Cite passages'),
    access: t('Who may see it'),
    orderIndex: t('Place in the list'),
    variableName: t('Variable'),
    required: t('Needed'),
  };
  return labels[name] ?? name;
}
