import type { SectionProps } from '../section.ts';
import { DatasetScreen } from './DatasetScreen.tsx';
import { ExperimentScreen } from './ExperimentScreen.tsx';
import { Overview } from './Overview.tsx';

/** Datasets, experiments and the gate of an agent; one of them at an address of its own. */
export function Evaluation({ agent, form, part }: SectionProps) {
  if (part?.startsWith('dset_') === true)
    return <DatasetScreen key={part} agent={agent} id={part} isReadOnly={form.isReadOnly} />;
  if (part?.startsWith('exper_') === true) {
    return <ExperimentScreen key={part} agent={agent} id={part} isReadOnly={form.isReadOnly} />;
  }
  return <Overview agent={agent} isReadOnly={form.isReadOnly} />;
}
