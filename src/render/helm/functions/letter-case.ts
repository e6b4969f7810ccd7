/**
 * snake, kebab and Pascal case as the xstrings library makes them; the rules for digits and runs of capitals are its
 * own.
 */

type WordType = 'none' | 'number' | 'upper' | 'letters' | 'connector' | 'punctuation' | 'other'

const isConnector = (char: string) => char === '-' || char === '_' || /^[\s\u0085]$/.test(char)
const isUpper = (char: string) => /^\p{Lu}$/u.test(char)
const isPunctuation = (char: string) => /^\p{P}$/u.test(char)
const isNumber = (char: string) => /^\p{N}$/u.test(char)

/** unicode.ToLower. The dotted capital I is the only letter whose small form is two in JavaScript; Go drops the dot. */
export function lowerRune(char: string): string {
  return char === '\u0130' ? 'i' : char.toLowerCase()
}

/** unicode.ToUpper: one letter to one, so that 'ß' stays. */
export function upperRune(char: string): string {
  const upper = char.toUpperCase()
  return [...upper].length === 1 ? upper : char
}

// xstrings takes only letters that have a case for letters.
function isLetter(char: string): boolean {
  return /^\p{L}$/u.test(char) && (/^\p{Lu}$/u.test(char) || /^\p{Ll}$/u.test(char))
}

/**
 * A letter, with the preceding bytes that are not letters; the end of a text counts as another letter of the same
 * class.
 */
interface Letter {
  readonly char: string
  readonly text: string
}

function lettersOf(text: string): Letter[] {
  const letters: Letter[] = []
  let broken = ''
  for (const char of text) {
    if (char.isWellFormed() && char !== '\ufffd') {
      letters.push({ char, text: broken + char })
      broken = ''
    } else broken += char
  }
  if (broken !== '') letters.push({ char: letters.at(-1)?.char ?? '', text: broken })
  return letters
}

interface Word {
  readonly type: WordType
  readonly text: string
  /** Where the rest begins. */
  readonly end: number
}

function nextWord(letters: readonly Letter[], start: number): Word {
  const first = letters[start]?.char
  if (first === undefined) return { type: 'none', text: '', end: start }
  let end = start + 1
  const fitsNext = (fits: (char: string) => boolean) => end < letters.length && fits(letters[end]!.char)
  const takeWhile = (fits: (char: string) => boolean) => {
    while (fitsNext(fits)) end += 1
  }
  let type: WordType
  if (first === '') type = 'none'
  else if (isConnector(first)) {
    type = 'connector'
    takeWhile(isConnector)
  } else if (isPunctuation(first)) {
    type = 'punctuation'
    takeWhile(isPunctuation)
  } else if (isUpper(first)) {
    type = 'upper'
    if (fitsNext(isUpper)) {
      takeWhile(isUpper)
      // "HTTPStatus" is "HTTP" and "Status".
      if (fitsNext(isLetter)) end -= 1
    } else takeWhile((char) => isLetter(char) && !isUpper(char))
  } else if (isLetter(first)) {
    type = 'letters'
    takeWhile((char) => isLetter(char) && !isUpper(char))
  } else if (isNumber(first)) {
    type = 'number'
    takeWhile(isNumber)
  } else {
    type = 'other'
    takeWhile((char) => !(isConnector(char) || isLetter(char) || isNumber(char) || isPunctuation(char)))
  }
  const text = letters
    .slice(start, end)
    .map((letter) => letter.text)
    .join('')
  return { type, text, end }
}

function lowered({ type, text }: Pick<Word, 'type' | 'text'>, connector: string): string {
  if (type !== 'upper' && type !== 'connector') return text
  return Array.from(text.toWellFormed(), (char) => (isConnector(char) ? connector : lowerRune(char))).join('')
}

function lowerWords(text: string, connector: string): string {
  const runes = lettersOf(text)
  let out = ''
  let word = nextWord(runes, 0)
  const takeWordsAndNumbers = () => {
    while (word.type === 'letters' || word.type === 'number') {
      out += lowered(word, connector)
      word = nextWord(runes, word.end)
    }
    if (!['none', 'punctuation', 'connector'].includes(word.type)) out += connector
  }
  while (word.end < runes.length) {
    if (word.type !== 'connector') out += lowered(word, connector)
    const previous = word
    word = nextWord(runes, word.end)
    if (previous.type === 'number') takeWordsAndNumbers()
    else if (previous.type === 'connector') out += lowered(previous, connector)
    else if (previous.type !== 'punctuation') {
      if (word.type !== 'number') {
        if (word.type !== 'connector' && word.type !== 'punctuation') out += connector
        continue
      }
      if (word.end >= runes.length) continue
      const number = word
      word = nextWord(runes, word.end)
      if (word.type === 'letters') {
        // Letters after a number belong to it: "HTTP2xx" is "http_2xx".
        out += connector + lowered(number, connector)
        takeWordsAndNumbers()
      } else {
        // Otherwise the number belongs to the word before: "Bld4Floor" is "bld4_floor".
        out += lowered(number, connector)
        if (word.type !== 'connector' && word.type !== 'punctuation') out += connector
      }
    }
  }
  return out + lowered(word, connector)
}

/** xstrings.ToSnakeCase. */
export function snakeCase(text: string): string {
  return lowerWords(text, '_')
}

/** xstrings.ToKebabCase. */
export function kebabCase(text: string): string {
  return lowerWords(text, '-')
}

/** xstrings.ToPascalCase, which Sprig calls camelcase. */
export function camelCase(text: string): string {
  const runes = [...text]
  let at = 0
  let out = ''
  while (at < runes.length && isConnector(runes[at]!)) {
    out += runes[at]
    at += 1
  }
  if (at >= runes.length) {
    // The library writes the last connector of a text that has nothing else once more.
    return runes.length > 0 ? out + runes.at(-1)! : ''
  }
  let current = upperRune(runes[at]!)
  let firstIsUpper = isUpper(runes[at]!)
  for (at += 1; at < runes.length; at++) {
    const previous = current
    current = runes[at]!
    if (isConnector(current) && isConnector(previous)) {
      out += previous
      continue
    }
    if (isConnector(previous)) {
      firstIsUpper = isUpper(current)
      current = upperRune(current)
    } else {
      if (firstIsUpper) {
        if (isUpper(current)) current = lowerRune(current)
        else firstIsUpper = false
      }
      out += previous
    }
  }
  return out + current
}
