import { type ComponentType, lazy } from 'react';
import type { Session } from '../../../parts/session/session.tsx';
import type { Text } from '../../../text/text.ts';
import { Basics } from './basics/Basics.tsx';
import { Instructions } from './basics/Instructions.tsx';
import { Flows } from './flows/Flows.tsx';
import { Inputs } from './inputs/Inputs.tsx';
import { Knowledge } from './knowledge/Knowledge.tsx';
import { Profile } from './profile/Profile.tsx';
import { Secrets } from './secrets/Secrets.tsx';
import type { EditorAgent, SectionName, SectionProps } from './section.ts';
import { Sharing } from './sharing/Sharing.tsx';
import { Skills } from './skills/Skills.tsx';
import { Tools } from './tools/Tools.tsx';
import { Versions } from './versions/Versions.tsx';

// Loaded when they are opened: few people do.
const Evaluation = lazy(() => import('./evaluation/Evaluation.tsx').then(({ Evaluation: section }) => ({ default: section })));
const AgentGuard = lazy(() => import('./secrets/AgentGuard.tsx').then(({ AgentGuard: section }) => ({ default: section })));

interface Section {
  readonly name: SectionName;
  readonly label: string;
  readonly count?: number;
  readonly component: ComponentType<SectionProps>;
}

/** The sections of an agent that the reader may see. */
export function sectionsFor(t: Text['t'], agent: EditorAgent, session: Session): readonly Section[] {
  const sections: readonly (Section & { readonly isHidden?: boolean })[] = [
    { name: 'basics', label: t('Basics'), component: Basics },
    { name: 'instructions', label: t('Instructions'), component: Instructions, isHidden: !agent.canEdit },
    {
      name: 'knowledge',
      label: t('Knowledge'),
      count: agent.sources.totalCount ?? 0,
      component: Knowledge,
      isHidden: !session.may('DATA_SOURCES_READ'),
    },
    {
      name: 'tools',
      label: t('Tools'),
      count: agent.tools.length + agent.enabledTools.length,
      component: Tools,
      isHidden: !agent.canEdit,
    },
    { name: 'skills', label: t('Skills'), count: agent.skills.length, component: Skills, isHidden: !session.may('SKILLS_READ') },
    { name: 'flows', label: t('Flows'), count: agent.flows.length, component: Flows, isHidden: !agent.canEdit },
    { name: 'inputs', label: t('Inputs'), count: agent.userInputs.length, component: Inputs },
    {
      name: 'secrets',
      label: t('Secrets'),
      count: agent.secrets?.length ?? 0,
      component: Secrets,
      isHidden: agent.secrets === null,
    },
    { name: 'guard', label: t('Guard'), component: AgentGuard, isHidden: !agent.canEdit },
    { name: 'sharing', label: t('Sharing'), component: Sharing, isHidden: !agent.canEdit },
    { name: 'versions', label: t('Versions'), component: Versions, isHidden: !agent.canEdit },
    {
      name: 'evaluation',
      label: t('Evaluation'),
      component: Evaluation,
      isHidden: !agent.canEdit || !session.may('CHATS_READ'),
    },
    { name: 'profile', label: t('Profile'), component: Profile },
  ];
  return sections.filter(({ isHidden }) => isHidden !== true);
}
