export interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** The instructions of a Dockerfile, those of several lines as one. */
export function instructionsOf(text: string): readonly Instruction[] {
  return text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name = '', ...rest] = line.split(' ');
      return { name, rest: rest.join(' ') };
    });
}

export interface Copy {
  readonly from: string;
  /** Below the folder of the image. */
  readonly to: string;
  /** The earlier stage that it comes from; undefined: from the repository. */
  readonly stage: string | undefined;
}

/** What a COPY copies, one by one. */
export function copiesOf(rest: string): readonly Copy[] {
  const words = rest.split(' ');
  const stage = /^--from=(.+)$/.exec(words[0] ?? '')?.[1];
  const paths = words.filter((word) => !word.startsWith('--'));
  const to = paths.at(-1) ?? '';
  return paths.slice(0, -1).map((from) => ({ from, to: to.endsWith('/') ? `${to}${from.split('/').at(-1)}` : to, stage }));
}
