/** A file's bytes as a Go string, decoded once. */
import { fromGoBytes } from '../../gotemplate/go-string.ts'

const texts = new WeakMap<Uint8Array, string>()

/** The text of a file. */
export function decodeFileText(data: Uint8Array): string {
  const known = texts.get(data)
  if (known !== undefined) return known
  const text = fromGoBytes(data)
  texts.set(data, text)
  return text
}
