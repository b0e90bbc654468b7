/** Where a command writes. */
export interface Screen {
  /** A person looks at it: progress is shown and colours are used. */
  readonly isTerminal: boolean;
  /** What the command was asked for: standard output. */
  out(text: string): void;
  /** Everything else: standard error. */
  err(text: string): void;
  /** Shows one line that the next one replaces; '' removes it. On a terminal only. */
  progress(line: string): void;
}

/** The screen of a process. */
export function processScreen(env: NodeJS.ProcessEnv): Screen {
  const isTerminal = process.stdout.isTTY === true && process.stderr.isTTY === true && env.TERM !== 'dumb';
  return {
    isTerminal,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    progress(line) {
      // A line that is wider than the terminal would wrap, and could not be replaced.
      if (isTerminal)
        process.stderr.write(`\r\x1b[K${[...line].slice(0, Math.max(10, (process.stderr.columns ?? 80) - 1)).join('')}`);
    },
  };
}

/** Text without characters that steer a terminal: names and answers come from others. Line breaks and tabs stay. */
export function harmless(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed.
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, '');
}

/** Text for a side remark: grey on a terminal. */
export function dim(screen: Screen, text: string): string {
  return screen.isTerminal ? `\x1b[2m${text}\x1b[0m` : text;
}

/** `████░░░░`, of a fixed width. */
export function bar(done: number, total: number): string {
  const filled = total === 0 ? barLength : Math.round((done / total) * barLength);
  return `${'█'.repeat(filled)}${'░'.repeat(barLength - filled)}`;
}
const barLength = 24;
