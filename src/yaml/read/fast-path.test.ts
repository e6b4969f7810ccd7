import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readFastPath } from './fast-path.ts'
import { readFirstYaml } from './read-yaml.ts'

const OPTIONS = { duplicateKeys: 'last', mappings: 'map', integer: (value: bigint) => `int ${value}` } as const

/** What the parser makes of a text; limits of its own keep it from being read quickly. */
function parsed(text: string): unknown {
  return readFirstYaml(text, { ...OPTIONS, limits: {} }).value
}

/** The order of keys counts, too. */
function listed(value: unknown): unknown {
  if (value instanceof Map) return [...value].map(([key, item]) => [key, listed(item)])
  return Array.isArray(value) ? value.map(listed) : value
}

function assertSame(text: string): void {
  const quick = readFastPath(text, OPTIONS)
  if (quick) assert.deepEqual(listed(quick.value), listed(parsed(text)), JSON.stringify(text))
}

const READ = [
  'a: 1\nb: text # comment\n# another\nc: 1.5\nd: ~\ne: yes\nf: 2020-01-01\n',
  '---\na:\n  b:\n    c: d\n  e:\n  - f\n  - g: h\n    i: j\n  -\n',
  'a: "q # x"\nb: \'it\'\'s\'\n"c d": "a \\"b\\" \\\\ \\n"\n',
  'a: |\n  one\n\n   two\n\nb: |-\n    x\n  # comment\nc: |\n  ends with the text',
  'a: first\n  second\n',
  'a: \'first\n  second\'\nb: "first\n  second"\n',
  'a: [x, "y", 1] # list\nb: []\nc: {}\nd:\n  {}\n',
  '- a\n- -1\n- http://x:80/y#z\n- é\n',
]

const LEFT_TO_THE_PARSER = [
  '',
  'text',
  'a: b: c',
  'a: &x b\nc: *x',
  'a: {b: c}',
  'a: >\n  folded\n',
  'a: |2\n   b\n',
  'a:\tb',
  'a: b\r\n',
  'true: a',
  '1: a',
  '<<: a',
  'a: b\n\n  c\n',
  'a: b # c\n  d\n',
  'a: 1\n b: 2\n',
  'a: 1\n---\nb: 2\n',
  'a: .inf',
  'a: "\\x41"',
  '- - a',
]

test('plain YAML is read without the parser', () => {
  for (const text of READ) {
    assert.ok(readFastPath(text, OPTIONS), JSON.stringify(text))
    assertSame(text)
  }
})

test('everything else is left to the parser', () => {
  for (const text of LEFT_TO_THE_PARSER) assert.equal(readFastPath(text, OPTIONS), undefined, JSON.stringify(text))
})

test('texts of many megabytes on one line are read', () => {
  const long = 'x'.repeat(20_000_000)
  for (const text of [`a: "${long}"`, `a: '${long}'`, `a: ["${long}"]`]) {
    assert.equal(JSON.stringify(readFirstYaml(text, { duplicateKeys: 'last' }).value).length > 20_000_000, true)
  }
  const escaped = '\\n'.repeat(5_000_000)
  const { value } = readFirstYaml(`a: "${escaped}"`, { duplicateKeys: 'last' })
  assert.equal((value as { a: string }).a.length, 5_000_000)
})

test('a document that was read quickly knows its positions', () => {
  const document = readFirstYaml('# head\na:\n  b: 1\n', { duplicateKeys: 'last' })
  assert.deepEqual(document.value, { a: { b: 1 } })
  assert.deepEqual(document.start, { line: 2, column: 1 })
  assert.deepEqual(document.positionOf(['a', 'b']), { line: 3, column: 3 })
})

/** What texts are put together from. */
const PIECES = [
  'a:·b: c·k: "q"·k: \'x\'·- ·-·- a·- b: 1·  · ·\n·\n  ·\n    ·\n- ·\n  - ·\nk: ·\n  k: ·- - a·a b·text·a:b·http://x:1·é',
  '|·|-· |\n·k: |\n  text\n·#c· # c·\n  # c·---·...·{}·[]·[·, ·[a, "b"]·[1,2 ]·: ·:·:x·= ·"·\'·it\'\'s·\\"·\\n·\\',
  '\'a\n  b\'·"a\n   b"·yes·1·1.5·2020-01-01·~·null·0x1f·.inf·.5·-1·-x·true: 1·12: x·"q": v·\'s\': w',
  '<<: x·&a·*a·!x·? ·%·>·,·]·}·@·`',
].flatMap((line) => line.split('·'))

test('what is read quickly is what the parser reads', () => {
  const texts = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(texts, (text) => assertSame(text)),
    { numRuns: 20_000 },
  )
})
