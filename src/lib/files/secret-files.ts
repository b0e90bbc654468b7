import { readFileSync, statSync } from 'node:fs';

/** What a file with a secret may have. */
const maxBytes = 64 * 1024;

export interface FromFiles {
  /** The environment, with the values that stand in files in it. */
  readonly env: NodeJS.ProcessEnv;
  /** What is wrong with the files, a sentence each. */
  readonly problems: readonly string[];
}

/**
 * Reads secrets from files: `NAME_FILE` names the file with the value of `NAME`, as containers get their secrets. A line break at its end does not count.
 *
 * @param names  the variables that may be given so.
 */
export function withSecretFiles(env: NodeJS.ProcessEnv, names: Iterable<string>): FromFiles {
  const read: NodeJS.ProcessEnv = {};
  const problems: string[] = [];
  for (const name of names) {
    const path = env[`${name}_FILE`];
    if (isEmpty(path)) continue;
    if (!isEmpty(env[name])) problems.push(`${name} and ${name}_FILE are both set; keep one of them.`);
    else {
      const value = readContent(path);
      if (value instanceof Error) problems.push(`${name}_FILE names ${path}, which cannot be read: ${value.message}.`);
      else read[name] = value;
    }
  }
  return { env: { ...env, ...read }, problems };
}

/** The value of one variable, from its file too; undefined when it has none, or a file that cannot be read. */
export function readSecret(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = withSecretFiles(env, [name]).env[name]?.trim();
  return value === '' ? undefined : value;
}

function readContent(path: string): string | Error {
  try {
    const { size } = statSync(path);
    if (size > maxBytes) return new Error(`it has ${size} bytes, at most ${maxBytes} are allowed`);
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    return isEmpty(text) ? new Error('it is empty') : text;
  } catch (error) {
    return new Error((error as NodeJS.ErrnoException).code ?? String(error));
  }
}

function isEmpty(text: string | undefined): text is undefined | '' {
  return text === undefined || text.trim() === '';
}
