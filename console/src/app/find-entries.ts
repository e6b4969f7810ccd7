/** Finds entries by name. */
export interface Entry {
  readonly kind: string
  readonly name: string
  readonly to: string
  readonly state?: string
}

const MAX_FOUND = 12

/** Entries whose name has all words; names that begin with the first word come first. Pages alone without words. */
export function findEntries(entries: readonly Entry[], text: string): readonly Entry[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const [first] = words
  if (first === undefined) return entries.filter(({ kind }) => kind === 'Page')
  const found = entries.filter(({ name, kind }) => {
    const all = `${kind} ${name}`.toLowerCase()
    return words.every((word) => all.includes(word))
  })
  const begins = ({ name }: Entry): boolean =>
    name.toLowerCase().startsWith(first) || name.toLowerCase().includes(`/${first}`)
  return [...found.filter(begins), ...found.filter((entry) => !begins(entry))].slice(0, MAX_FOUND)
}
