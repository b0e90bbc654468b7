import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The order in which folders start: the slowest files come first, so that the run does not end with one slow file. */
const folders = ['faults', 'cluster', 'browser', 'contract', 'api', 'unit'];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => folders.findIndex((folder) => moduleId.includes(`/test/${folder}/`));
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
