/** In which styles a scalar may be written: Go's analysis, which decides about quotes. */
import { isBlank, isBlankOrEnd, isBreak, isHighSurrogate } from '../chars.ts'

/** What a scalar allows. */
export interface ScalarAnalysis {
  readonly value: string
  readonly multiline: boolean
  readonly flowPlain: boolean
  readonly blockPlain: boolean
  readonly singleQuoted: boolean
  readonly block: boolean
}

const EMPTY: ScalarAnalysis = {
  value: '',
  multiline: false,
  flowPlain: false,
  blockPlain: true,
  singleQuoted: true,
  block: false,
}

// What a character means at the start of a scalar, and inside it: nothing, or a reason to look closer.
const INDICATOR = 1
const FLOW_INDICATOR = 2
const CLASSES = new Uint8Array(128)
for (const c of '#,[]{}&*!|>\'"%@`') CLASSES[c.charCodeAt(0)]! |= INDICATOR
for (const c of ',?[]{}') CLASSES[c.charCodeAt(0)]! |= FLOW_INDICATOR

function isIndicator(c: number, which: number): boolean {
  return c < 128 && (CLASSES[c]! & which) !== 0
}

/** Whether Go prints a character as it is: neither control characters nor anything beyond the basic plane. */
export function isPrintable(c: number): boolean {
  if (c <= 0x7e) return c >= 0x20 || c === 0x0a
  if (c < 0xa0) return false
  return c < 0xd800 || (c >= 0xe000 && c <= 0xfffd && c !== 0xfeff)
}

/** Looks at a scalar; yaml.v3 is kinder to tabs. */
export function analyzeScalar(value: string, v3: boolean): ScalarAnalysis {
  if (value === '') return EMPTY
  const dots = value.startsWith('---') || value.startsWith('...')
  let flowIndicators = dots
  let blockIndicators = dots
  let lineBreaks = false
  let special = false
  let tabs = false
  let breakSpace = false
  let spaceBreak = false
  let previousSpace = false
  let previousBreak = false
  let afterBlank = true
  const last = value.length - 1
  for (let i = 0; i <= last; i++) {
    const c = value.charCodeAt(i)
    if (isAlphanumeric(c) && i < last) {
      previousSpace = false
      previousBreak = false
      afterBlank = false
      continue
    }
    const beforeBlank = i === last || isBlank(value.charCodeAt(i + 1))
    if (isIndicator(c, i === 0 ? INDICATOR : FLOW_INDICATOR)) {
      flowIndicators = true
      blockIndicators ||= i === 0
    } else if (c === 0x3a || (c === 0x3f && i === 0)) {
      flowIndicators = true
      blockIndicators ||= beforeBlank
    } else if ((c === 0x2d && i === 0 && beforeBlank) || (c === 0x23 && afterBlank)) {
      flowIndicators = true
      blockIndicators = true
    }
    if (c === 0x09 && v3) tabs = true
    else if (!isPrintable(c)) special = true
    if (c === 0x20) {
      breakSpace ||= previousBreak
      previousSpace = true
      previousBreak = false
    } else if (isBreak(c)) {
      lineBreaks = true
      spaceBreak ||= previousSpace
      previousSpace = false
      previousBreak = true
    } else {
      previousSpace = false
      previousBreak = false
    }
    afterBlank = isBlankOrEnd(c)
    if (isHighSurrogate(c)) i++
  }
  const first = value.charCodeAt(0)
  const end = value.charCodeAt(last)
  const trailingSpace = end === 0x20
  const blankEdge = first === 0x20 || isBreak(first) || trailingSpace || isBreak(end)
  const quotes = breakSpace || spaceBreak || tabs || special
  const plain = !blankEdge && !quotes && !lineBreaks
  return {
    value,
    multiline: lineBreaks,
    flowPlain: plain && !flowIndicators,
    blockPlain: plain && !blockIndicators,
    singleQuoted: !quotes,
    block: !trailingSpace && !spaceBreak && !special,
  }
}

// Nothing that follows depends on more than that there was such a character.
function isAlphanumeric(c: number): boolean {
  return (c >= 0x61 && c <= 0x7a) || (c >= 0x41 && c <= 0x5a) || (c >= 0x30 && c <= 0x39)
}
