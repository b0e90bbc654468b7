import type { ParleyError } from '@parley/client';
import type { ReactNode } from 'react';
import { ErrorNote, Note } from '../feedback.tsx';
import { Checkbox, SearchInput } from './field.tsx';

export interface Named {
  readonly id: string;
  readonly name: string;
}

/** Things to tick by their names: those that are chosen first, then what the search finds. */
export function NamedChoice({
  title,
  chosen,
  matches,
  onChange,
  search,
  error,
  nothing,
  className,
  children,
}: {
  readonly title: string;
  readonly chosen: readonly Named[];
  /** Undefined until the first reply. */
  readonly matches: readonly Named[] | undefined;
  readonly onChange: (chosen: readonly Named[]) => void;
  /** Undefined where there is too little to search. */
  readonly search: { readonly label: string; readonly value: string; readonly onChange: (value: string) => void } | undefined;
  readonly error: ParleyError | undefined;
  /** What is said where there is nothing to tick. */
  readonly nothing: string;
  readonly className?: string | undefined;
  readonly children?: ReactNode;
}) {
  const isChosen = (id: string) => chosen.some((each) => each.id === id);
  const shown = [...chosen, ...(matches ?? []).filter(({ id }) => !isChosen(id))];
  return (
    <fieldset className={className}>
      <legend>{title}</legend>
      {search === undefined ? null : <SearchInput {...search} />}
      <ErrorNote error={error} />
      {shown.map(({ id, name }) => (
        <Checkbox
          key={id}
          label={name}
          checked={isChosen(id)}
          onChange={({ target }) =>
            onChange(target.checked ? [...chosen, { id, name }] : chosen.filter((each) => each.id !== id))
          }
        />
      ))}
      {matches !== undefined && shown.length === 0 ? <Note>{nothing}</Note> : null}
      {children}
    </fieldset>
  );
}
