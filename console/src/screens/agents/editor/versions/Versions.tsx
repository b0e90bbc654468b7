import type { SectionProps } from '../section.ts';
import { Comparison } from './Comparison.tsx';
import { VersionContent } from './VersionContent.tsx';
import { VersionList } from './VersionList.tsx';

/** The versions of an agent; one of them at `…/versions/4`, a comparison at `…/versions/3...draft`. */
export function Versions({ agent, form, part, reload }: SectionProps) {
  const [from = '', to] = part?.split('...') ?? [];
  if (to !== undefined) return <Comparison key={part} agent={agent} from={from} to={to} />;
  if (/^[1-9]\d{0,8}$/.test(from)) {
    return <VersionContent key={part} agent={agent} number={Number(from)} isReadOnly={form.isReadOnly} onChange={reload} />;
  }
  return <VersionList agent={agent} isReadOnly={form.isReadOnly} onChange={reload} />;
}
