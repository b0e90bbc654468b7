import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders in the order in which they are begun: the files of the first take longest, and a run should not end with one that is alone. */
const folders = ['faults', 'cluster', 'contract', 'api', 'unit'];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => folders.findIndex((folder) => moduleId.includes(`/test/${folder}/`));
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
