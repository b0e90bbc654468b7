import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that wait more than they work start first: other workers use the processor meanwhile. */
const waiting = /\/(?:audit\/sink|webhooks\/receivers|mcp\/servers|docs\/readme)\.test\.ts$/;
/** The order in which folders start: the slowest files come first, so that the run does not end with one slow file. */
const folders = ['faults', 'cluster', 'browser', 'contract', 'api', 'unit'];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) =>
      waiting.test(moduleId) ? -1 : folders.findIndex((folder) => moduleId.includes(`/test/${folder}/`));
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
