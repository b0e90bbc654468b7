import { readFileSync } from 'node:fs';
import { editDistance } from '../../lib/edit-distance.ts';
import { settingsSchema } from '../../settings.ts';

/** A variable that is no setting, and the setting that was probably meant. */
export interface MistypedSetting {
  readonly name: string;
  readonly meant: string;
}

const settingNames = Object.keys(settingsSchema.shape);
const settings = settingNames.map((name) => ({ name, squeezed: withoutSigns(name), words: name.split('_') }));
/** Variables that other parts of Parley read: the command line and the script `parley`. */
const otherNames: ReadonlySet<string> = new Set(['PARLEY_URL', 'PARLEY_API_KEY', 'PARLEY_KEY', 'PARLEY_TYPED_IN']);
/** Names that other programs give a meaning of their own, and that are near to a setting. */
const namesOfOthers: ReadonlySet<string> = new Set(['LOGLEVEL', 'AWS_ACCESS_KEY', 'AWS_SECRET_KEY', 'GITHUB_SECRET']);

const distanceMax = 2;
/** Shorter names are near to too many others: HOST, PORT, ROLE and DEMO are never guessed. */
const nearMinChars = 7;

/** The variables of an environment that are no settings, but were probably meant as one, by name. Values are not looked at, but for file names. */
export function mistypedSettings(env: NodeJS.ProcessEnv): readonly MistypedSetting[] {
  const isNamedElsewhere = readerOfFiles(env);
  return Object.keys(env)
    .filter((name) => !settingNames.includes(name) && !otherNames.has(name) && !namesOfOthers.has(name.toUpperCase()))
    .flatMap((name) => {
      const meant = meantBy(name);
      return meant === undefined || isNamedElsewhere(name) ? [] : [{ name, meant }];
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** What to tell of one of them. */
export function mistypedSentence({ name, meant }: MistypedSetting): string {
  return `${name} is no setting; did you mean ${meant}?`;
}

function meantBy(name: string): string | undefined {
  const typed = name.toUpperCase();
  // No setting but two begins with PARLEY_, so people put it before others too. PARLEY_PORT and PARLEY_HOST are left alone: Kubernetes makes
  // such variables for a service called parley.
  const bare = typed.replace(/^PARLEY_(?=.{7})/, '');
  if (bare !== typed && settingNames.includes(bare)) return bare;
  const squeezed = withoutSigns(typed);
  if (squeezed.length < nearMinChars) return undefined;
  return settings.find((setting) => setting.squeezed === squeezed)?.name ?? withoutWord(typed) ?? nearestTo(typed);
}

/** The setting of which the typed name lacks one word behind the first: `RUN_TIMEOUT`, `OPENAI_KEY`. PARLEY_ may lack too. */
function withoutWord(typed: string): string | undefined {
  const words = typed.split('_');
  if (words.length < 2) return undefined;
  const found = settings.filter((setting) => {
    if (setting.words.length !== words.length + 1 || setting.name.startsWith('OTEL_')) return false;
    const lacking = setting.words.findIndex((word, index) => word !== words[index]);
    if (lacking === 0 && setting.words[0] !== 'PARLEY') return false;
    return setting.words.toSpliced(lacking, 1).join('_') === typed;
  });
  return found.length === 1 ? found[0]?.name : undefined;
}

function nearestTo(typed: string): string | undefined {
  let nearest: { readonly name: string; readonly distance: number } | undefined;
  for (const { name } of settings) {
    if (name.length < nearMinChars || Math.abs(name.length - typed.length) > distanceMax) continue;
    // A cheap look first: somebody who mistypes a name has its beginning or its end right.
    if (name.slice(0, 3) !== typed.slice(0, 3) && name.slice(-3) !== typed.slice(-3)) continue;
    const distance = editDistance(typed, name);
    // In a short name two letters are a third of it.
    if (distance > (Math.min(name.length, typed.length) < 11 ? 1 : distanceMax)) continue;
    if (nearest === undefined || distance < nearest.distance) nearest = { name, distance };
  }
  return nearest?.name;
}

function withoutSigns(name: string): string {
  return name.replace(/[^A-Z0-9]/g, '');
}

/** The operator's files may name variables for keys, with any name. */
function readerOfFiles({ MODELS_FILE, MCP_SERVERS_FILE }: NodeJS.ProcessEnv): (name: string) => boolean {
  let text: string | undefined;
  return (name) => {
    text ??= [MODELS_FILE, MCP_SERVERS_FILE].map((path) => (path === undefined ? '' : contentOf(path))).join('\n');
    return text.includes(name);
  };
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
