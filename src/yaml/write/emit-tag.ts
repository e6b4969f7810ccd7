/** Tags on the way out. */
import { utf8 } from '../../core/bytes.ts'
import { isWordChar } from '../chars.ts'

/** A tag as it is written: `!handle!suffix`, or `!<suffix>` without handle. */
export interface TagParts {
  readonly handle: string
  readonly suffix: string
}

const NO_TAG: TagParts = { handle: '', suffix: '' }
const CORE_PREFIX = 'tag:yaml.org,2002:'

/** Finds the handle for a tag in its long form. */
export function splitTag(tag: string | undefined): TagParts {
  if (tag === undefined || tag === '') return NO_TAG
  if (tag.startsWith('!')) return { handle: '!', suffix: tag.slice(1) }
  if (tag.startsWith(CORE_PREFIX)) return { handle: '!!', suffix: tag.slice(CORE_PREFIX.length) }
  return { handle: '', suffix: tag }
}

/** The text of a tag, or nothing. */
export function tagText({ handle, suffix }: TagParts): string {
  if (handle === '' && suffix === '') return ''
  return handle === '' ? `!<${escapedUri(suffix)}>` : handle + escapedUri(suffix)
}

const PLAIN_URI_CHARS = new Set(";/?:@&=+$,_.~*'()[]")

function escapedUri(text: string): string {
  let escaped = ''
  for (const char of text) {
    if (PLAIN_URI_CHARS.has(char) || isWordChar(char.charCodeAt(0))) escaped += char
    else for (const octet of utf8(char)) escaped += `%${octet.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return escaped
}
