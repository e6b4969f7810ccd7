// Random expressions that never fail: printf, versions, YAML and JSON round trips, dates, regular expressions, cuts.
import { pick, seeded } from './random.ts'
import type { Random } from './random.ts'

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

const listOf = (random: Random, item: (random: Random) => string): string =>
  `(list ${times(random, 5, () => `${item(random)} `)})`
const dictOf = (random: Random, depth: number): string =>
  `(dict ${times(random, 4, () => `${pick(random, [text(random), '"a"', '"b"', '"c"'])} ${value(random, depth)} `)})`
const mapOrNil = (random: Random): string => (random(5) === 0 ? 'nil' : dictOf(random, 1))

const TOML =
  'a|b-1|"q k"| = |=|1|1.5|1e3|"x"|\'y\'|true|[|]|[t]|[[u]]|{|}|,|.|\n|#| |0x1F|1_000|1979-05-27|inf|01|1_|"""|\\u00e9|\\|07:32|u|+|\r\n'.split(
    '|',
  )
const JSON_TEXT = '{|}|[|]|:|,|"a"|"b"|1|-1.5e3|null|true| |5e-7|"\\u00e9"|0'.split('|')
const wordsOf = (random: Random, words: readonly string[], most: number): string =>
  JSON.stringify(times(random, most, () => pick(random, words)))

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
  (random) => `toToml ${dictOf(random, 3)}`,
  (random) => `toToml ${listOf(random, (inner) => value(inner, 2))}`,
  (random) => `fromToml ${wordsOf(random, TOML, 8)}`,
  (random) => `fromToml (toToml ${dictOf(random, 1)}) | toJson`,
  (random) => `${pick(random, ['fromJson', 'fromJsonArray'])} ${wordsOf(random, JSON_TEXT, 7)} | toJson`,
  (random) => `fromYamlArray (printf "- %s\\n- %s" ${text(random)} ${text(random)}) | toJson`,
  (random) =>
    `${pick(random, ['merge', 'mergeOverwrite'])} ${mapOrNil(random)} ${mapOrNil(random)} ${mapOrNil(random)} | toJson`,
  (random) => `${pick(random, ['pick', 'omit'])} ${dictOf(random, 1)} "a" ${text(random)} | toJson`,
  (random) => `${pick(random, ['hasKey', 'get'])} ${mapOrNil(random)} "a" | toJson`,
  (random) => `pluck "a" ${mapOrNil(random)} ${mapOrNil(random)} | toJson`,
  (random) => `dig "a" "none" ${dictOf(random, 1)} | toJson`,
  (random) => `keys ${dictOf(random, 0)} | sortAlpha | toJson`,
  (random) =>
    `${pick(random, ['first', 'last', 'rest', 'initial', 'uniq', 'compact', 'reverse', 'sortAlpha', 'toStrings', 'len', 'deepCopy', 'join "-"'])} ${listOf(random, (inner) => value(inner, 1))} | toJson`,
  (random) => `${pick(random, ['append', 'prepend'])} ${listOf(random, scalar)} ${value(random, 1)} | toJson`,
  (random) => `concat ${listOf(random, scalar)} ${listOf(random, scalar)} | toJson`,
  (random) => `${pick(random, ['has', 'coalesce nil'])} ${scalar(random)} ${listOf(random, scalar)} | toJson`,
  (random) => `without ${listOf(random, scalar)} ${scalar(random)} ${scalar(random)} | toJson`,
  (random) => `chunk ${1 + random(3)} ${listOf(random, scalar)} | toJson`,
  (random) => `default ${scalar(random)} ${value(random, 1)} | toJson`,
  (random) => `coalesce ${scalar(random)} ${scalar(random)} ${scalar(random)} | toJson`,
  (random) => `${pick(random, ['eq', 'ne'])} ${text(random)} ${text(random)}`,
  (random) => `deepEqual ${value(random, 2)} ${value(random, 2)}`,
  (random) => `${pick(random, ['and', 'or'])} ${value(random, 1)} ${value(random, 1)} | toJson`,
  (random) => `cat ${scalar(random)} ${scalar(random)} ${text(random)}`,
  (random) => `print ${value(random, 2)} ${scalar(random)} ${scalar(random)}`,
  (random) => `println ${value(random, 1)} ${scalar(random)}`,
  (random) => `${pick(random, ['indent', 'nindent'])} ${random(5)} ${text(random)}`,
  (random) => `replace ${text(random)} ${text(random)} ${text(random)}`,
  (random) =>
    `${pick(random, ['trimAll', 'trimPrefix', 'trimSuffix', 'hasPrefix', 'hasSuffix', 'contains', 'splitList', 'split'])} ${text(random)} ${text(random)} | toJson`,
  (random) => `splitn ${text(random)} ${random(4)} ${text(random)} | toJson`,
  (random) => `substr ${random(3)} ${3 + random(4)} (printf "abc%sdefg" ${text(random)})`,
  (random) => `plural "one" "many" ${random(3)}`,
  (random) =>
    `${pick(random, ['sha1sum', 'sha256sum', 'sha512sum', 'adler32sum', 'b64dec', 'b32dec', 'trim', 'lower', 'toString', 'camelcase', 'snakecase', 'durationRound', 'duration', 'base', 'osBase', 'osDir', 'osExt', 'osClean', 'isAbs'])} ${text(random)} | toJson`,
  (random) =>
    `${pick(random, ['toRawJson', 'toJson', 'toYaml', 'quote', 'squote', 'kindOf', 'typeOf', 'empty', 'not', 'html', 'js', 'urlquery'])} ${value(random, 2)} | toString`,
  (random) => `until ${random(6)} | toJson`,
  (random) => `untilStep ${random(6)} ${random(12)} ${1 + random(3)} | toJson`,
  (random) => `seq ${random(7) - 3} ${random(9) - 4} | toJson`,
  (random) => `round ${number(random)} ${random(4)}`,
  (random) => `${pick(random, ['div', 'mod'])} ${number(random)} ${1 + random(7)}`,
  (random) =>
    `${pick(random, ['add1', 'add1f', 'int', 'float64', 'ceil', 'floor', 'toDecimal', 'atoi'])} ${text(random)}`,
  (random) => `ternary ${scalar(random)} ${scalar(random)} ${pick(random, ['true', 'false'])} | toJson`,
  (random) => `urlParse (printf "http://%s/%s?%s" "h" (urlquery ${text(random)}) (urlquery ${text(random)})) | toJson`,
  (random) => `toDate "2006-01-02" "20${10 + random(30)}-0${1 + random(9)}-1${random(10)}" | date "${layout(random)}"`,
  (random) => `${pick(random, ['regexMatch', 'regexFind'])} "${pattern(random)}" ${text(random)}`,
  (random) => `trunc ${random(9) - 4} ${text(random)} | quote`,
  (random) => `list ${value(random, 2)} ${value(random, 1)} | toYaml`,
  (random) => `set ${dictOf(random, 1)} ${text(random)} ${value(random, 1)} | toYaml`,
]

/** Random expressions of a seed. */
export function fuzzCases(seed: number, count: number): string[] {
  const random = seeded(seed)
  return Array.from({ length: count }, () => pick(random, KINDS)(random))
}
