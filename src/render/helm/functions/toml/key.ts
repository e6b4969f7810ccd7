/** Keys of TOML as they are written: bare where they may be, quoted otherwise. */

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
}

/** A text between double quotes. */
export function tomlString(text: string): string {
  const escaped = text.replace(
    // oxlint-disable-next-line no-control-regex
    /[\u0000-\u001f\u007f"\\]/g,
    (char) => ESCAPES[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `"${escaped}"`
}

/** The parts of a key, joined. */
export function tomlKey(path: readonly string[]): string {
  return path.map((part) => (/^[A-Za-z0-9_-]+$/.test(part) ? part : tomlString(part))).join('.')
}
