import { availableParallelism } from 'node:os';

export const processCountPattern = /^(?:auto|[1-9]\d?)$/;
export const processCountGrammar = 'auto, or a whole number from 1 to 99';

/** The number of processes that PROCESSES asks for. `auto`: one for each core that this process may use, also in a container with a quota. */
export function countProcesses({ PROCESSES }: { readonly PROCESSES: string }): number {
  return PROCESSES === 'auto' ? availableParallelism() : Number(PROCESSES);
}
