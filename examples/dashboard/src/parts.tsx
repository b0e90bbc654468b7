import type { ReactNode } from 'react';
import { words } from './format.ts';

/** A part of the page with its heading; says what went wrong in place of what it would show. */
export function Panel(props: { id: string; title: string; error?: Error | undefined; aside?: ReactNode; children: ReactNode }) {
  return (
    <section id={props.id} aria-labelledby={`${props.id}-title`}>
      <header>
        <h2 id={`${props.id}-title`}>{props.title}</h2>
        {props.aside}
      </header>
      {props.error && <p role="alert">{props.error.message}</p>}
      {props.children}
    </section>
  );
}

/** How a run or a source stands, by word and colour. */
export function Status({ value }: { value: string }) {
  return <span className={`status ${value.toLowerCase()}`}>{words(value)}</span>;
}
