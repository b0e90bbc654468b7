import { SlidersHorizontal } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { usePage } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { Button } from '../../../ui/form/button.tsx';
import { SearchInput, TextInput } from '../../../ui/form/field.tsx';
import { Toolbar } from '../../../ui/page.tsx';
import { RunTagsDocument } from '../documents.ts';
import styles from '../runs.module.css';
import { buildAddress, type RunView, runFeedbacks, runKinds, runStatuses } from '../view.ts';
import { feedbackWords, kindWords, statusWords } from '../words.ts';
import { type Choice, useRunChoices } from './choices.ts';
import { Picker } from './Picker.tsx';
import { SavedFilters } from './SavedFilters.tsx';

const searchAfterMs = 250;

/** What the table is narrowed to. It stands in the address, so that it can be kept and sent. */
export function Filters({ view }: { readonly view: RunView }) {
  const { t } = useText();
  const search = useSearch();
  const [, go] = useLocation();
  const change = (changes: Parameters<typeof buildAddress>[1]) => go(buildAddress(search, changes), { replace: true });
  const [typed, setTyped] = useState(view.search ?? '');
  useDelayed(typed, (words) => words !== (view.search ?? '') && change({ search: words }));
  const hasMore = [view.agent, view.person, view.key, view.model, view.tag, view.feedback, view.since, view.until].some(
    (value) => value !== undefined,
  );
  const [isOpen, setOpen] = useState(hasMore);
  return (
    <div className={styles.filters}>
      <Toolbar>
        <SearchInput label={t('Search runs')} value={typed} onChange={setTyped} />
        <Picker
          label={t('State')}
          any={t('Any state')}
          value={view.status}
          choices={wordChoices(runStatuses, statusWords(t))}
          onChange={(status) => change({ status })}
        />
        <Picker
          label={t('Kind')}
          any={t('Any kind')}
          value={view.kind}
          choices={wordChoices(runKinds, kindWords(t))}
          onChange={(kind) => change({ kind })}
        />
        <Picker
          label={t('Time')}
          any={t('Any time')}
          value={view.days}
          choices={[
            { id: '1', name: t('Today') },
            { id: '7', name: t('Last 7 days') },
            { id: '30', name: t('Last 30 days') },
          ]}
          onChange={(days) => change({ days, since: '', until: '' })}
        />
        <Button
          variant="quiet"
          icon={<SlidersHorizontal size={16} aria-hidden />}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {t('More filters')}
        </Button>
        <SavedFilters search={search} />
        {search === '' ? null : (
          <Button
            variant="quiet"
            onClick={() => {
              setTyped('');
              go('/runs', { replace: true });
            }}
          >
            {t('Clear')}
          </Button>
        )}
      </Toolbar>
      {isOpen ? <MoreFilters view={view} onChange={change} /> : null}
    </div>
  );
}

function MoreFilters({
  view,
  onChange,
}: {
  readonly view: RunView;
  readonly onChange: (changes: Parameters<typeof buildAddress>[1]) => void;
}) {
  const { t } = useText();
  const choices = useRunChoices([view.agent, view.person, view.key]);
  const { data } = usePage(RunTagsDocument, {});
  const tags = (data?.runTags ?? []).map(({ name }) => ({ id: name, name }));
  return (
    <Toolbar>
      <Picker
        label={t('Agent')}
        any={t('Any agent')}
        value={view.agent}
        choices={choices.agents}
        onChange={(agent) => onChange({ agent })}
      />
      <Picker
        label={t('Person')}
        any={t('Anybody')}
        value={view.person}
        choices={choices.people}
        onChange={(person) => onChange({ person })}
      />
      <Picker
        label={t('Model')}
        any={t('Any model')}
        value={view.model}
        choices={choices.models}
        onChange={(model) => onChange({ model })}
      />
      <Picker label={t('Key')} any={t('Any key')} value={view.key} choices={choices.keys} onChange={(key) => onChange({ key })} />
      <Picker label={t('Tag')} any={t('Any tag')} value={view.tag} choices={tags} onChange={(tag) => onChange({ tag })} />
      <Picker
        label={t('Feedback')}
        any={t('Rated or not')}
        value={view.feedback}
        choices={wordChoices(runFeedbacks, feedbackWords(t))}
        onChange={(feedback) => onChange({ feedback })}
      />
      <Day label={t('From')} value={view.since} onChange={(since) => onChange({ since, days: '' })} />
      <Day label={t('Until')} value={view.until} onChange={(until) => onChange({ until, days: '' })} />
    </Toolbar>
  );
}

function Day({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (day: string) => void;
}) {
  const id = useId();
  return (
    <span className={styles.day}>
      <label htmlFor={id}>{label}</label>
      <TextInput id={id} type="date" value={value ?? ''} onChange={({ target }) => onChange(target.value)} />
    </span>
  );
}

function wordChoices<Word extends string>(ids: readonly Word[], words: Readonly<Record<Word, string>>): readonly Choice<Word>[] {
  return ids.map((id) => ({ id, name: words[id] }));
}

/** Calls back once the value has not changed for a moment. */
function useDelayed(value: string, then: (value: string) => void): void {
  const latest = useRef(then);
  latest.current = then;
  useEffect(() => {
    const timer = setTimeout(() => latest.current(value.trim()), searchAfterMs);
    return () => clearTimeout(timer);
  }, [value]);
}
