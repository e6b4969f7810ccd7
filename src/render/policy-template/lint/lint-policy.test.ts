import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lintPolicy, printFindings } from './lint-policy.ts'

const rulesOf = (text: string): string[] => lintPolicy(text).map(({ line, rule }) => `${line} ${rule}`)

test('each rule finds its mistake', () => {
  for (const [text, wanted] of [
    ["a: '{{ 1 }}'", []],
    ['a: {{ 1 }}', ['1 unquotedTemplateValues']],
    ['- {{ 1 }}', ['1 unquotedTemplateValues']],
    ["a: '{{ 1 }}''", ['1 unquotedTemplateValues']],
    ["# a: {{ 1 }}\na: '{{ 1 }}' ", ['2 trailingWhitespace']],
    ["a: '{{ 1 '", ['1 mismatchedDelimiters']],
    ["a: '{{ 1 hub}}'", ['1 mismatchedDelimiters']],
    ['a: {"b": {"c": 1}}', []],
    ['a: {"b": 1}}', ['1 mismatchedDelimiters']],
    ["a: '{{ \"x }}'", ['1 mismatchedQuotes']],
    ['ab: "x"y"', ['1 mismatchedQuotes']],
    ["  objectDefinition:\n    a: '{{ $x := 1 }}'", ['2 unusedVariables']],
    ["  objectDefinition:\n    a: '{{ $x := 1 }}{{ $x }}'", []],
    ["  objectDefinition:\n    a: '{{ $_ := 1 }}'", []],
    ["a: '{{ $x.y.$z }}'", ['1 invalidVariableSyntax']],
    ['object-templates-raw: |\n  - a: {{ 1 }}', []],
  ] as const) {
    assert.deepEqual(rulesOf(text), wanted, text)
  }
})

test('findings are in the order of lines and print their line', () => {
  const text = 'b: 1 \na: {{ 1 }}'
  assert.equal(
    printFindings(lintPolicy(text)),
    'Found linting issues:\nline 1: trailingWhitespace: trailing whitespace detected:\n\tb: 1 <<<\nline 2: unquotedTemplateValues: templates should be single-quoted:\n\ta: {{ 1 }}\n',
  )
})

test('a long line takes no long time', () => {
  assert.deepEqual(rulesOf(`aa: "${'"'.repeat(200_000)}x`), [])
})
