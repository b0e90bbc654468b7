import { readdirSync, readFileSync } from 'node:fs';

/** A process of this machine, read from /proc. */
export interface MachineProcess {
  readonly id: number;
  readonly parentId: number;
  readonly groupId: number;
  readonly cpuSeconds: number;
  /** Together with the id, identifies one process for ever: ids are reused. */
  readonly startedAt: number;
}

const ticksPerSecond = 100;

/** Every running process, without zombies. */
export function allProcesses(): readonly MachineProcess[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, ...numbers] = text.slice(text.lastIndexOf(')') + 2).split(' ');
      const at = (index: number) => Number(numbers[index]);
      if (state === 'Z' || state === 'X') return [];
      const cpuSeconds = (at(10) + at(11)) / ticksPerSecond;
      return [{ id: Number(name), parentId: at(0), groupId: at(1), cpuSeconds, startedAt: at(18) }];
    } catch {
      return [];
    }
  });
}

/** The descendants of a process, and all other members of their process groups. */
export function processesBelow(id: number): readonly MachineProcess[] {
  const all = allProcesses();
  const own = all.find((one) => one.id === id);
  const below = new Set<MachineProcess>();
  let parents = new Set([id]);
  while (parents.size > 0) {
    const children = all.filter(({ parentId }) => parents.has(parentId));
    for (const child of children) below.add(child);
    parents = new Set(children.map((child) => child.id));
  }
  const groups = new Set([...below].map(({ groupId }) => groupId).filter((groupId) => groupId !== own?.groupId));
  return all.filter((one) => below.has(one) || groups.has(one.groupId));
}

/** The processes of the list that still run. */
export function stillRunning(processes: readonly MachineProcess[]): readonly MachineProcess[] {
  const all = allProcesses();
  return processes.filter((one) => all.some(({ id, startedAt }) => id === one.id && startedAt === one.startedAt));
}
