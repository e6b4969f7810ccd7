/**
 * Texts of elements in the answers of S3. They are flat and machine-written, so no parser is needed: an element
 * is found by its name, and an element inside of another by looking into the text of the outer one.
 */
import { readWholeNumber } from '../../core/read-number.ts'

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text of the first element of this name; undefined when there is none. */
export function elementText(xml: string, name: string): string | undefined {
  return elementTexts(xml, name).next().value ?? undefined
}

/** The text of each element of this name, in order. */
export function* elementTexts(xml: string, name: string): Generator<string, undefined> {
  const [open, close] = [`<${name}>`, `</${name}>`]
  for (let at = xml.indexOf(open); at >= 0; at = xml.indexOf(open, at)) {
    const end = xml.indexOf(close, at)
    if (end < 0) return undefined
    yield unescapeText(xml.slice(at + open.length, end))
    at = end + close.length
  }
  return undefined
}

function unescapeText(text: string): string {
  if (!text.includes('&') || text.includes('<')) return text
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9A-Fa-f]{1,6})|([a-z]+));/g, (whole, decimal, hexadecimal, name) => {
    if (name !== undefined) return ENTITIES[name as string] ?? whole
    const code =
      decimal === undefined
        ? Buffer.from((hexadecimal as string).padStart(6, '0'), 'hex').readUIntBE(0, 3)
        : (readWholeNumber(decimal as string) ?? Number.POSITIVE_INFINITY)
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole
  })
}
