import type { SourceKind } from '../../engine/knowledge/connectors/kind.ts';
import type { ChoiceValues, SourceMember } from '../../engine/knowledge/connectors/members.ts';
import { connectedKinds, sourceKinds } from '../../engine/knowledge/connectors/registry.ts';
import { type DataSource, type DataSourceType, isConnectedType } from '../../entities/knowledge/data-source.ts';
import { type BuilderTypes, builder } from '../ground/builder/builder.ts';
import { createEnum, ofFormat } from '../ground/types/enums.ts';

/** The enums of the members of sources, by name. */
const choiceTypes = new Map(
  connectedKinds
    .flatMap(({ members }) => Object.values(members))
    .flatMap((member) => ('values' in member ? [[member.values.name, createChoiceType(member.values)] as const] : [])),
);

function createChoiceType({ name, description, values, isOfFormat }: ChoiceValues) {
  return createEnum(name, description, Object.keys(values), values, isOfFormat === true ? ofFormat : {});
}

export function choiceType({ name }: ChoiceValues): ReturnType<typeof createChoiceType> {
  const type = choiceTypes.get(name);
  if (type === undefined) throw new Error(`no member of a source has the choice ${name}`);
  return type;
}

/** The configuration of a source, which has been read for its type. */
class Settings {
  readonly type: DataSourceType;
  readonly data: DataSource['data'];

  constructor({ type, data }: Pick<DataSource, 'type' | 'data'>) {
    this.type = type;
    this.data = data;
  }

  text(name: string): string | null {
    const value = this.data[name];
    return typeof value === 'string' && value !== '' ? value : null;
  }

  texts(name: string): string[] {
    const value = this.data[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  number(name: string): number | null {
    const value = this.data[name];
    return typeof value === 'number' ? value : null;
  }

  flag(name: string): boolean {
    return this.data[name] === true;
  }
}

/** Null for a vector store, whose files say it, and for a stored configuration that lacks what a source cannot be without. */
export function toSettings(source: Pick<DataSource, 'type' | 'data'>): Settings | null {
  const settings = new Settings(source);
  return requiredTexts(source.type).every((name) => settings.text(name) !== null) ? settings : null;
}

function requiredTexts(type: DataSourceType): readonly string[] {
  if (!isConnectedType(type)) return type === 'FILE_UPLOAD' ? ['filename'] : [];
  const members = Object.entries(sourceKinds[type].members);
  return members.filter(([, { form, isRequired }]) => form === 'text' && isRequired === true).map(([name]) => name);
}

/** What a source of any type was added with as it is kept, for routes that show it so. */
export function toPayload({ data }: Pick<DataSource, 'data'>): Settings {
  return new Settings({ type: 'API', data });
}

const access = { scope: 'DATA_SOURCES:READ' } as const;
const of = (name: string) => builder.objectRef<Settings>(name);

const ApiSettings = of('ApiSettings').implement({
  access,
  description: 'A payload that was given.',
  fields: (t) => ({
    payload: t.field({
      type: 'JSON',
      description: "The knowledge. JSON: it is the caller's own object, of any form.",
      resolve: ({ data }) => data,
    }),
  }),
});

const FileUploadSettings = of('FileUploadSettings').implement({
  access,
  description: 'A file that was uploaded.',
  fields: (t) => ({
    filename: t.string({ description: 'Its name, without any path.', resolve: (settings) => settings.text('filename') ?? '' }),
    mimeType: t.string({
      nullable: true,
      description: 'Its media type, as it was declared.',
      resolve: (settings) => settings.text('mimeType'),
    }),
    sizeBytes: t.field({
      type: 'Count',
      nullable: true,
      description: 'Its size.',
      resolve: (settings) => settings.number('size'),
    }),
  }),
});

type SettingFields = PothosSchemaTypes.ObjectFieldBuilder<BuilderTypes, Settings>;

/** The settings of a kind that a connector reads. */
function connectedSettings({ noun, content, members }: SourceKind) {
  return of(`${noun}Settings`).implement({
    access,
    description: content,
    fields: (t) => {
      const entries = Object.entries(members).flatMap(([name, member]) => {
        const { setting, graphName = name } = member;
        return setting === undefined ? [] : [[graphName, settingField(t, name, member, setting)] as const];
      });
      return Object.fromEntries(entries);
    },
  });
}

function settingField(t: SettingFields, name: string, member: SourceMember, description: string) {
  switch (member.form) {
    case 'flag':
      return t.boolean({ description, resolve: (settings) => settings.flag(name) });
    case 'number':
      return t.int({ nullable: true, description, resolve: (settings) => settings.number(name) });
    case 'texts':
      return t.stringList({ description, resolve: (settings) => settings.texts(name) });
    case 'choice': {
      const [first = '', ...others] = Object.keys(member.values.values);
      const type = choiceType(member.values);
      return t.field({
        type,
        description,
        resolve: (settings) => others.find((value) => value === settings.text(name)) ?? first,
      });
    }
    case 'choices': {
      const values = Object.keys(member.values.values);
      const type = choiceType(member.values);
      return t.field({
        type: [type],
        description,
        resolve: (settings) => values.filter((value) => settings.texts(name).includes(value)),
      });
    }
    default:
      return member.isRequired === true
        ? t.string({ description, resolve: (settings) => settings.text(name) ?? '' })
        : t.string({ nullable: true, description, resolve: (settings) => settings.text(name) });
  }
}

const connectedTypes = new Map(connectedKinds.map((kind) => [kind.type, connectedSettings(kind)]));

export const DataSourceSettings = builder.unionType('DataSourceSettings', {
  description: 'What a source was added with, by its type.',
  types: [ApiSettings, FileUploadSettings, ...connectedTypes.values()],
  resolveType({ type }) {
    if (isConnectedType(type)) return connectedTypes.get(type);
    return type === 'API' ? ApiSettings : FileUploadSettings;
  },
});
