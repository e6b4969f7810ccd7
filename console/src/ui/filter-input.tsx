/** The filter of a list; the key `/` goes to it. */
export function FilterInput({
  label,
  hint,
  value,
  onChange,
}: {
  readonly label: string
  /** What the text is compared with. */
  readonly hint: string
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  return (
    <input
      type="search"
      data-filter
      className="filter"
      aria-label={label}
      placeholder={`${hint}   ( / )`}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  )
}
