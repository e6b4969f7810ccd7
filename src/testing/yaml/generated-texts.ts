/** Makes YAML texts and values that are hard to read and to write, from a seed, for differential tests. */

/** Numbers in [0, 1), the same for the same seed. */
export type Chance = () => number

/** A small generator (xorshift); good enough to spread cases, and independent of the platform. */
export function chanceOf(seed: number): Chance {
  let state = (seed * 2654435761 + 1) >>> 0 || 1
  return () => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 2 ** 32
  }
}

function pick<T>(chance: Chance, list: readonly T[]): T {
  return list[Math.floor(chance() * list.length)]!
}

function many<T>(chance: Chance, most: number, make: () => T): T[] {
  return Array.from({ length: Math.floor(chance() * (most + 1)) }, make)
}

const WORDS =
  'a|b|c|foo|bar baz|yes|no|on|y|N|1|2.5|0644|0o7|0x1f|0b1|1_0|null|~|true|False|2001-01-01|x:y|a#b|http://x/y|-x|?x|:x|it\'s|say "hi"|12:30|1e3|.5|+1|08|é|日本語|😀 x|a  b|back\\slash|a, b|long text with several words in it|=|key|value|9007199254740993|1e21|-0'.split(
    '|',
  )

const FRAGMENTS = [
  ...WORDS,
  ...'a: |b: |c:|: |:|- |-|\n|\n|\n|  |    | |\t|[|]|{|}|,|, |? |?|# c\n| # d|#|\'|"|\'q\'|"dq"|>\n|>+\n|>2-\n|&a |&b|*a|*b|!!str |!!int |!!float |!t |! |!!binary |!!null |---\n|--- |...\n|%YAML 1.1\n|%TAG !e! tag:x,2000:\n|!e!foo |<<: |<<: *a\n|\r\n|\\n|\\x41|\\"|\\|""|@|`|%|{{ .Values.x }}|key: value\n|  nested: 1\n|  - item\n|- item\n|a: 1\n|a: 2\n|"a\n b"|"a\\\n  b"|{a: 1, b: [x, y]}|[a: b, c]|{a, b: }|? k\n: v\n|-  - a\n|\u00a0|\u0085|\u2028'.split(
    '|',
  ),
  '|\n',
  '|-\n',
  '|2\n',
  '|+ # x\n',
]

/** Fragments of YAML in no order: mostly errors. */
export function yamlSoup(chance: Chance): string {
  return many(chance, 1 + Math.floor(chance() * 20), () => pick(chance, FRAGMENTS)).join('')
}

/** A document with a shape, and now and then a fault. */
export function yamlDocument(chance: Chance): string {
  const start = chance() < 0.15 ? pick(chance, ['---\n', '--- ', '%YAML 1.1\n---\n', '# head\n---\n']) : ''
  const body = chance() < 0.75 ? yamlMapping(chance, 0) : yamlSequence(chance, 0, 0)
  const end = chance() < 0.1 ? pick(chance, ['---\nb: 2\n', '...\n', '\n# end\n']) : ''
  let text = start + body + end
  for (let faults = Math.floor(chance() * chance() * 4); faults > 0; faults--) {
    const at = Math.floor(chance() * text.length)
    const cut = chance() < 0.5 ? 0 : 1 + Math.floor(chance() * 3)
    text = text.slice(0, at) + (cut === 0 ? pick(chance, FRAGMENTS) : '') + text.slice(at + cut)
  }
  return text.toWellFormed()
}

function yamlScalar(chance: Chance, indent: number): string {
  const word = pick(chance, WORDS)
  const pad = ' '.repeat(indent + 2)
  const quoted = (text: string): string => text.replace(/[\\"]/g, '\\$&')
  switch (Math.floor(chance() * 10)) {
    case 0:
      return `'${word.replaceAll("'", "''")}'`
    case 1:
      return `"${quoted(word)}"`
    case 2: {
      const lines = many(chance, 4, () => pick(chance, ['', pad + word, `${pad} ${pick(chance, WORDS)}`, `${pad}x `]))
      return `${pick(chance, ['|', '>', '|-', '>-', '|+', '>+', '|2'])}${pick(chance, ['', ' # c'])}\n${lines.join('\n')}`
    }
    case 3:
      return `${word}\n${pad}${pick(chance, WORDS)}`
    case 4:
      return `"${quoted(word)}${pick(chance, ['\n', '\n\n', '\\\n', ' \n'])}${pad}${quoted(pick(chance, WORDS))}"`
    case 5:
      return pick(chance, ['&a ', '&b ', '!!str ', '!!int ', '!!float ', '!t ', '! ']) + word
    default:
      return word
  }
}

function yamlFlow(chance: Chance, depth: number): string {
  if (depth > 2 || chance() < 0.5) return pick(chance, ['a', '1', 'yes', '"q"', "'s'", '*a', '', 'x y', 'null', '-1'])
  const separator = pick(chance, [', ', ',', ',\n  ', ', # c\n  '])
  if (chance() < 0.5) return `[${many(chance, 3, () => yamlFlow(chance, depth + 1)).join(separator)}]`
  const pair = (): string => `${pick(chance, ['a', 'b', '"c"', 'd e'])}: ${yamlFlow(chance, depth + 1)}`
  return `{${many(chance, 3, pair).join(separator)}}`
}

function comments(chance: Chance, indent: number): string {
  if (chance() > 0.2) return ''
  return pick(chance, [`${' '.repeat(indent)}# above\n`, '\n', '# top\n', `${' '.repeat(indent + 2)}# in\n`, '   \n'])
}

function yamlValue(chance: Chance, indent: number, depth: number): string {
  const line = chance() < 0.15 ? ' # line' : ''
  const kind = chance()
  if (depth > 4 || kind < 0.45) return ` ${yamlScalar(chance, Math.max(indent - 2, 0))}${line}\n`
  if (kind < 0.52) return ` ${yamlFlow(chance, 0)}${line}\n`
  if (kind < 0.54) return ` *${pick(chance, ['a', 'b'])}${line}\n`
  if (kind < 0.58) return `${line}\n`
  if (kind < 0.8) return `${chance() < 0.1 ? ' &a' : ''}${line}\n${yamlMapping(chance, indent, depth)}`
  return `${line}\n${yamlSequence(chance, chance() < 0.5 ? indent : Math.max(indent - 2, 0), depth)}`
}

/** A block mapping at an indentation. */
export function yamlMapping(chance: Chance, indent: number, depth = 0): string {
  let text = ''
  const odd = ['1', '1.5', 'yes', '"a"', "'b c'", '<<', '0.1', 'true', '2001-01-01', 'é', '😀', '~', '? x\n', '[a]']
  for (let entries = 1 + Math.floor(chance() * 4); entries > 0; entries--) {
    const key =
      chance() < 0.85 ? pick(chance, ['a', 'b', 'c', 'd', 'name', `k${Math.floor(chance() * 20)}`]) : pick(chance, odd)
    text += `${comments(chance, indent)}${' '.repeat(indent)}${key}:${yamlValue(chance, indent + 2, depth + 1)}`
  }
  return text + comments(chance, indent)
}

function yamlSequence(chance: Chance, indent: number, depth: number): string {
  let text = ''
  for (let items = 1 + Math.floor(chance() * 3); items > 0; items--) {
    text += `${comments(chance, indent)}${' '.repeat(indent)}-`
    if (chance() < 0.4 && depth < 5) text += ` ${yamlMapping(chance, indent + 2, depth + 1).trimStart()}`
    else text += yamlValue(chance, indent + 2, depth + 1)
  }
  return text
}

const CHARACTERS = [
  ...' \n\ta0-:#\'"\\.,[{?!&*%@`|>=~_+/\rx',
  '\u0085',
  '\u00a0',
  '\u2028',
  'é',
  '日',
  '😀',
  '\ufeff',
  '\u007f',
  '\0',
]

/** A string that is hard to write. */
export function hardString(chance: Chance): string {
  const kind = chance()
  if (kind < 0.5) return pick(chance, FRAGMENTS)
  if (kind < 0.7) return pick(chance, WORDS) + pick(chance, ['', ' ', '\n', ': ', ' #', '\n\n']) + pick(chance, WORDS)
  if (kind < 0.8) return `${pick(chance, WORDS)} `.repeat(1 + Math.floor(chance() * 40))
  return many(chance, 14, () => pick(chance, CHARACTERS)).join('')
}

/** A JSON value that is hard to write. */
export function hardValue(chance: Chance, depth = 0): unknown {
  const kind = chance()
  if (depth > 4 || kind < 0.45) return hardString(chance)
  if (kind < 0.55) return (chance() - 0.5) * 10 ** Math.floor(chance() * 30 - 8)
  if (kind < 0.62)
    return pick(chance, [null, true, false, 0, 1, -1, 1e6, 1e21, 0.0001, 9007199254740991, 2 ** 63, 2 ** 64])
  if (kind < 0.78) return many(chance, 4, () => hardValue(chance, depth + 1))
  const keys = ['a', 'b', 'c', 'name', 'a1', 'a2', 'a10', 'a01', 'A', 'a-b', 'a.b', '1', '10', '2', 'é', 'a b']
  return Object.fromEntries(
    many(chance, 4, () => [chance() < 0.7 ? pick(chance, keys) : hardString(chance), hardValue(chance, depth + 1)]),
  )
}
