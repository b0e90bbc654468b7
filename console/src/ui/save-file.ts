/** A browser that asks where to put the file reads it only then. */
const keptMs = 60_000;

/** Gives the reader a file that was made in the page. What no file system takes in a name becomes a dash. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replaceAll(/[\\/:*?"<>|]/g, '-');
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), keptMs);
}
