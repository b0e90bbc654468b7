import { defaultLimits, type Limits } from '../../src/limits.ts';
import { loadSettings, type Settings } from '../../src/settings.ts';

type Values = Readonly<Record<string, string>>;

/** The settings of an environment in which tests also name limits of `src/limits.ts`. */
export function testSettings(values: Values): Settings {
  const { env, limits } = splitLimits(values);
  return loadSettings(env, limits);
}

/** Takes the limits out of what a test gives. A real environment has no effect on them. */
export function splitLimits(values: Values): { readonly env: Values; readonly limits: Partial<Limits> } {
  const [env, limits]: [Record<string, string>, Record<string, number>] = [{}, {}];
  for (const [name, value] of Object.entries(values)) {
    if (name in defaultLimits) limits[name] = Number(value);
    else env[name] = value;
  }
  return { env, limits };
}
