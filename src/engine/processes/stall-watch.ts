import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { hasShell, killTied, spawnWatcher } from './tied-process.ts';

export interface StallWatchOptions {
  readonly logger: Logger;
  /** The process ends when its event loop has been blocked this long; at least a few seconds. */
  readonly maxMs: number;
  /** The temporary files of this process, with the beat. It is removed when the process ends, also by a kill: it may hold contents of documents. */
  readonly folder: string;
  /** What the process works on now, in words without secrets. */
  underWay(): readonly string[];
}

const beatMs = 1_000;
/** A turn of the event loop that takes this much of the processor is logged. */
const longTurnMs = 2_000;
const namesMax = 20;
const nameMaxChars = 200;

/**
 * Arguments: the process, the folder of the beat, after how many seconds without a new beat a line is written, and after how many the process ends.
 * Seconds are counted, not measured: a process or machine that was stopped is not taken for a blocked one. A beat that cannot be read (it is being
 * written, the disk is full, somebody has emptied the folder) says nothing about the event loop and is not counted.
 */
const script = `missed=0 last=
while sleep 1; do
  kill -0 "$1" 2>/dev/null || break
  { read -r beat names < "$2/beat"; } 2>/dev/null || continue
  if [ "$beat" != "$last" ]; then last=$beat missed=0; continue; fi
  if [ -r "/proc/$1/stat" ]; then
    state=$(cat "/proc/$1/stat" 2>/dev/null)
    case "\${state##*) }" in [Tt]*) continue ;; esac
  fi
  missed=$((missed + 1))
  line='"msg":"the event loop is blocked","seconds":'$missed',"underWay":'$names
  [ $missed -eq "$3" ] && printf '{"level":"error",%s}\n' "$line" >&2
  if [ $missed -ge "$4" ]; then
    printf '{"level":"fatal","isEnded":true,%s}\n' "$line" >&2
    kill -KILL "$1"
    break
  fi
done
rm -rf "$2"`;

/**
 * Watches from another process (a shell, 1 MB) whether the event loop of this one turns. It names what is under way when it does not, and ends the
 * process after a long time: what reads a document notes each start before it begins, so the document is not read a third time.
 *
 * @returns what ends the watch and removes the folder. Without /bin/sh nothing watches, and a kill leaves the folder behind.
 */
export function watchForStalls({ logger, maxMs, folder, underWay }: StallWatchOptions): () => void {
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  if (!hasShell()) return removeFolder;
  let count = 0;
  let before = process.threadCpuUsage();
  let names: readonly string[] = [];
  let isUnwritten = false;
  const beat = () => {
    const { user, system } = process.threadCpuUsage(before);
    const turnMs = (user + system) / 1_000;
    if (turnMs > longTurnMs)
      logger.error({ turnMs, underWay: [...new Set([...names, ...listNames(underWay())])] }, 'the event loop was blocked');
    before = process.threadCpuUsage();
    count += 1;
    names = listNames(underWay());
    try {
      writeFileSync(join(folder, 'beat'), `${count} ${JSON.stringify(names)}\n`);
    } catch (error) {
      // The service works without a watch, for example while the disk is full.
      if (!isUnwritten) logger.error({ err: error }, 'the beat of the event loop cannot be written: nothing watches it');
      isUnwritten = true;
      return;
    }
    isUnwritten = false;
  };
  beat();
  const [warnSeconds, endSeconds] = [longTurnMs, maxMs].map((ms) => Math.max(2, Math.ceil(ms / 1_000)));
  const watcher = spawnWatcher(script, [String(process.pid), folder, String(warnSeconds), String(endSeconds)], 'inherit');
  const timer = setInterval(beat, beatMs).unref();
  return () => {
    clearInterval(timer);
    // With what the shell waits for.
    killTied(watcher);
    removeFolder();
  };
}

function listNames(names: readonly string[]): readonly string[] {
  return names.slice(0, namesMax).map((name) => name.slice(0, nameMaxChars).toWellFormed());
}
