import type { Text } from '../../../../text/text.ts';
import { type FieldName, fieldNames } from './draft.ts';

/** What a field is called beside its control. */
export function fieldLabel(t: Text['t'], name: FieldName): string {
  const labels: Readonly<Record<FieldName, string>> = {
    name: t('Name'),
    description: t('What it is for'),
    introduction: t('Greeting'),
    seed: t('First words'),
    pictureUrl: t('Picture'),
    instructions: t('Instructions'),
    modelId: t('Model'),
    options: t('Options of the model'),
    generateCitations: t('Cite passages'),
    intermediateStepsVisible: t('Show steps'),
    chatLogsVisible: t('Editors read chats'),
    visibility: t('Who may use it'),
    groups: t('Groups'),
    editors: t('Editors'),
    catalogs: t('Catalogs'),
    orgCategoryIds: t('Categories'),
    publicCategories: t('Public categories'),
    profile: t('Profile'),
    enabledTools: t('Standing tools'),
  };
  return labels[name];
}

/** The field that a place of the variables is about, such as `input.options.temperature`. */
export function fieldOfPlace(place: string | null): FieldName | undefined {
  return fieldNames.find((name) => place?.split('.')[1] === name);
}
