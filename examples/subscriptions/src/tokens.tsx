/** What the pages show. */
export function Tokens({
  used,
  error,
}: {
  readonly used: number | undefined;
  readonly error: { readonly message: string } | null | undefined;
}) {
  if (error) return <p role="alert">{error.message}</p>;
  return <p>Tokens used: {used ?? '…'}</p>;
}
