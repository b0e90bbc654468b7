/** Answers as models write them, with what readers of Markdown stumble over. */
export const answers: Readonly<Record<string, string>> = {
  'steps with code and a table': `Here is how to set up the service.

1. **Install** the packages:

   \`\`\`bash
   npm ci
   npm start
   \`\`\`

2. **Open** the printed link. It looks like this:

   > http://127.0.0.1:4000/sign-in#abc

3. Ask a question.

4. Read the answer:
   - each number in brackets is a source,
   - a press on it opens the passage.

| Setting | Default | Meaning |
| :-- | --: | --- |
| \`PORT\` | 4000 | the port; \`0\` takes any |
| \`PROCESSES\` | 1 | one a core<br>of the machine |

---

Anything else?
`,
  mathematics: `The roots of $ax^2 + bx + c = 0$ are

$$
x_{1,2} = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}
$$

and for \\(a = 1\\) this is shorter:

\\[
x_{1,2} = -\\frac{b}{2} \\pm \\sqrt{\\frac{b^2}{4} - c}
\\]

- The discriminant is $D = b^2 - 4ac$.
- With $D < 0$ there is no real root.
- It costs $5 to print and $6 to bind.
- Done.

Note that 5*3*2 = 30 and a < b.
`,
  'sources and footnotes': `The tower is **330 m** high[^height] and was opened in [1889][opened]. See also [the page of the tower].

[opened]: https://example.org/history "History"
[the page of the tower]: https://example.org/tower

It is painted every seven years.[^paint]

Tags:
#paris #tower

[^height]: With its antennas.
[^paint]: Sixty tonnes of paint,
    by hand.

    Since 1889.
`,
  'lists with empty lines': `Four things matter:

1. Speed

2. Safety

3. Clarity

4. Cost

And of each:

- [x] measured
- [ ] improved

* loose

* items

  with a paragraph

* here

Title of a part
---

Text after a heading.

***

End.
`,
  'thoughts and tags': `<thinking>
The user asks about <b> and <strong>.

Both are bold.
</thinking>

Use \`<strong>\` where it *matters*:

\`\`\`html
<p>Never <b>this</b>.</p>

<details>
<summary>Not a fold</summary>
</details>
\`\`\`

<details>
<summary>Why so?</summary>

Because a screen reader says **more** with it.

- one
- two

\`\`\`js
const a = 1 < 2;
\`\`\`

</details>

That is all.
`,
  'German and Hebrew': `## Zusammenfassung

Die Wartung ist **jährlich**: „nach Plan“, sagt das Handbuch [1].

שלום עולם, זה טקסט בעברית עם \`code\` ו-**הדגשה**.

- אחת
- שתיים

> Zitat über zwei
> Zeilen.

Kosten: 12,50 €. Ungefähr ~5 bis ~10 Stück.
`,
  'a diagram': `The flow is:

\`\`\`mermaid
flowchart LR
  A[Question] --> B{Known?}
  B -- yes --> C[Answer]
  B -- no --> D[Search]
  D --> C
\`\`\`

The parts:

### Question

What a person asks.

### Search

1) words
2) meaning

   * vectors
   * reranker
`,
};
