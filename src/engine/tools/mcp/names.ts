const lengthMax = 64;

/** Gives functions names that every model takes. */
export class FunctionNames {
  readonly #taken = new Set<string>();

  /** `server__tool` with `_` for other characters, at most 64 long; a second equal name gets `_2`. */
  take(server: string, tool: string): string {
    const full = `${server}__${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, '_');
    for (let count = 1; ; count += 1) {
      const ending = count === 1 ? '' : `_${count}`;
      const name = full.slice(0, lengthMax - ending.length) + ending;
      if (this.#taken.has(name)) continue;
      this.#taken.add(name);
      return name;
    }
  }
}
