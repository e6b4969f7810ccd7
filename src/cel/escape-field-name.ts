/**
 * Field names that are no CEL identifiers, escaped as Kubernetes does: `a.b` is `a__dot__b`, `namespace` is
 * `__namespace__`.
 */

const RESERVED: ReadonlySet<string> = new Set(
  `true false null in as break const continue else for function if import let loop package namespace return var void
  while`.split(/\s+/),
)

const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

/** The identifier of a field's name; undefined when there is none, and rules cannot name the field. */
export function escapeFieldName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`
  if (!/^[a-zA-Z_.\-/][a-zA-Z0-9_.\-/]*$/.test(name)) return undefined
  return name.replace(/__|[./-]/g, (part) => ESCAPES[part]!)
}
