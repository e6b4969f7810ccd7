// Random expressions that never fail: printf, versions, YAML and JSON round trips, dates, regular expressions, cuts.

/** A random number generator that can be repeated. */
export function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

type Random = (below: number) => number

const pick = <T>(random: Random, items: readonly T[]): T => items[random(items.length)]!
const times = (random: Random, most: number, make: () => string): string =>
  Array.from({ length: random(most + 1) }, make).join('')

const TEXT = [
  'a',
  'B',
  'z',
  '0',
  '7',
  ' ',
  '  ',
  '-',
  '_',
  '.',
  ':',
  ': ',
  '#',
  ' #',
  '\\n',
  '\\t',
  '{',
  '}',
  '[',
  ']',
  ',',
  '&',
  '*',
  '!',
  '|',
  '>',
  "'",
  '%',
  '@',
  '\\"',
  '\\\\',
  'é',
  '😀',
  'null',
  'true',
  'yes',
  'no',
  'on',
  '~',
  '1e3',
  '0x1f',
  '0644',
  '1_0',
  '12:30',
  '2001-01-01',
  '.5',
  '-1',
  '+1',
  '=',
  '<<',
  '?',
  '\\u0085',
  '\\u2028',
] as const

const text = (random: Random): string => `"${times(random, 8, () => pick(random, TEXT))}"`
const number = (random: Random): string =>
  pick(random, [
    '0',
    '1',
    '-1',
    '42',
    '1000000',
    '9007199254740993',
    '1.5',
    '-0.25',
    '1e21',
    '1e-7',
    '123456.789',
    '0.1',
    '100000',
    '3e5',
  ])
const scalar = (random: Random): string => pick(random, [text, number, () => 'true', () => 'nil', text])(random)

function value(random: Random, depth: number): string {
  if (depth === 0 || random(3) === 0) return scalar(random)
  if (random(2) === 0) return `(list ${times(random, 4, () => `${value(random, depth - 1)} `)})`
  return `(dict ${times(random, 4, () => `${text(random)} ${value(random, depth - 1)} `)})`
}

const version = (random: Random): string => {
  const part = () => String(pick(random, [0, 1, 2, 3, 10, 19]))
  const parts = [part(), part(), part()].slice(0, 1 + random(3)).join('.')
  return `${pick(random, ['', '', 'v'])}${parts}${pick(random, ['', '', '', '-alpha', '-alpha.1', '-0', '-rc.10', '-eks-1.2'])}${pick(random, ['', '', '+build.5'])}`
}
const comparison = (random: Random): string => {
  const wild = pick(random, ['', '', '', '.x', '.*'])
  const base = wild === '' ? version(random) : `${random(4)}${wild}`
  return `${pick(random, ['', '=', '!=', '>', '<', '>=', '<=', '~', '^', '=>', '~>'])}${pick(random, ['', ' '])}${base}`
}
const constraint = (random: Random): string =>
  pick(random, [
    () => comparison(random),
    () => `${comparison(random)}, ${comparison(random)}`,
    () => `${comparison(random)} || ${comparison(random)}`,
    () => `${comparison(random)} ${comparison(random)} || ${comparison(random)}`,
  ])()

const layout = (random: Random): string =>
  times(random, 7, () =>
    pick(random, [
      '2006',
      '06',
      '01',
      '1',
      'Jan',
      'January',
      '02',
      '2',
      '_2',
      '002',
      'Mon',
      'Monday',
      '15',
      '03',
      '3',
      '04',
      '05',
      'PM',
      'pm',
      'MST',
      '-0700',
      '-07:00',
      'Z07:00',
      '-',
      ' ',
      ':',
      'T',
      ', ',
      '.000',
      '.999',
      'day ',
    ]),
  )

const verb = (random: Random): string =>
  `%${pick(random, ['', '', '-', '+', '#', '0', ' '])}${pick(random, ['', '', '5', '12'])}${pick(random, ['', '', '.0', '.2', '.5'])}${pick(random, ['v', 's', 'd', 'q', 'x', 'X', 'f', 'e', 'g', 't', 'T', 'b', 'o', 'c', 'U', 'z'])}`

const pattern = (random: Random): string =>
  `1${times(random, 5, () => pick(random, ['a', 'b', '[ab]', '(a)', '(b|c)', 'a*', 'b+', 'c?', '.', 'a{1,2}', '[^a]', '\\\\d', '\\\\w', '\\\\s*', '(?i)A', '$', '^', '\\\\b']))}`.slice(
    1,
  )

const KINDS: readonly ((random: Random) => string)[] = [
  (random) => `printf "${verb(random)}|${verb(random)}" ${scalar(random)} ${scalar(random)}`,
  (random) => `semverCompare "${constraint(random)}" "${version(random)}"`,
  (random) => `toYaml ${value(random, 3)}`,
  (random) => `toJson ${value(random, 3)}`,
  (random) => `toYaml ${text(random)} | fromYaml`,
  (random) => `fromYaml ${text(random)}`,
  (random) => `fromYaml (printf "%s: %s" ${text(random)} ${text(random)})`,
  (random) => `toYamlPretty ${value(random, 2)}`,
  (random) => `toPrettyJson ${value(random, 2)}`,
  (random) =>
    `dateInZone "${layout(random)}" ${random(2_000_000_000)} "${pick(random, ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'nope'])}"`,
  (random) =>
    `regexFindAll "${pattern(random)}" "${times(random, 10, () => pick(random, ['a', 'b', 'c', ' ', '1', 'A']))}" -1 | toJson`,
  (random) =>
    `regexReplaceAll "${pattern(random)}" "${times(random, 8, () => pick(random, ['a', 'b', 'c']))}" "${pick(random, ['x', '<$0>', '${1}', '$1y'])}"`,
  (random) =>
    `regexSplit "${pattern(random)}" "${times(random, 8, () => pick(random, ['a', 'b', 'c']))}" ${pick(random, ['-1', '2', '0'])} | toJson`,
  (random) => `trunc ${random(9) - 4} ${text(random)}`,
  (random) =>
    `${pick(random, ['snakecase', 'kebabcase', 'camelcase', 'title', 'untitle', 'swapcase', 'initials', 'nospace', 'upper', 'lower', 'b64enc', 'b32enc', 'quote', 'squote', 'urlquery', 'html', 'js', 'regexQuoteMeta', 'base', 'dir', 'clean', 'ext'])} ${text(random)}`,
  (random) =>
    `${pick(random, ['int', 'int64', 'float64', 'toString', 'kindOf', 'typeOf', 'empty', 'toDecimal', 'ceil', 'floor', 'toStrings'])} ${scalar(random)}`,
  (random) =>
    `${pick(random, ['add', 'sub', 'mul', 'max', 'min', 'addf', 'subf', 'mulf', 'maxf'])} ${number(random)} ${number(random)}`,
  (random) =>
    `merge ${value(random, 0) && `(dict ${text(random)} ${value(random, 2)} "k" ${value(random, 1)})`} (dict "k" ${value(random, 1)} "l" ${scalar(random)})`,
  (random) => `mergeOverwrite (dict "k" ${value(random, 1)}) (dict "k" ${value(random, 1)} "l" ${scalar(random)})`,
  (random) => `wrapWith ${1 + random(6)} "|" ${text(random)}`,
  (random) => `abbrev ${random(12)} ${text(random)}`,
]

/** Random expressions of a seed. */
export function fuzzCases(seed: number, count: number): string[] {
  const random = seeded(seed)
  return Array.from({ length: count }, () => pick(random, KINDS)(random))
}
