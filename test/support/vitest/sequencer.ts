import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that start first: those that wait more than they work, because other workers use the processor meanwhile; those that take minutes, because
 * one that starts last would work alone; and those that move many megabytes, because each few of them make V8 look through the whole heap, which is
 * small in a new worker.
 */
const first =
  /\/(?:audit\/sink|webhooks\/receivers|mcp\/servers|docs\/readme|connectors\/connector-faults|load\/pools|cluster\/processes|fault-matrix\/fault-matrix|knowledge\/killed-syncs|permissions\/leak|simulation\/seeds|storage\/blobs)\.test\.ts$/;
/** The order in which folders start: the slowest files come first, so that the run does not end with one slow file. */
const folders = ['faults', 'cluster', 'browser', 'contract', 'api', 'unit'];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) =>
      first.test(moduleId) ? -1 : folders.findIndex((folder) => moduleId.includes(`/test/${folder}/`));
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
