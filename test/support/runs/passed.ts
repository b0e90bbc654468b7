/** What becomes of a text that passes through a stream in pieces of these sizes. */
export function passed(stream: { feed(piece: string): string; flush(): string }, text: string, sizes: readonly number[]): string {
  let written = '';
  for (let at = 0, index = 0; at < text.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    written += stream.feed(text.slice(at, at + size));
    at += size;
  }
  return written + stream.flush();
}
