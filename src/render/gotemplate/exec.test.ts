import assert from 'node:assert/strict'
import test from 'node:test'
import { goBuiltins } from './builtins.ts'
import { executeTemplate } from './exec.ts'
import { GoError, goFunction } from './function.ts'
import type { GoFunction } from './function.ts'
import { parseTemplate } from './parse.ts'
import type { Tree } from './parse.ts'
import { goInt } from './value.ts'

const FUNCTIONS = new Map<string, GoFunction>([
  ...goBuiltins('go1.26'),
  ['dict', goFunction([], (args) => new Map([[args[0] as string, args[1]]]), 'any')],
  ['list', goFunction([], (args) => [...args], 'any')],
  ['upper', goFunction(['string'], ([text]) => (text as string).toUpperCase())],
  [
    'boom',
    goFunction([], () => {
      throw new GoError('bang')
    }),
  ],
])

function run(text: string, data: unknown = new Map()): string {
  const trees: Map<string, Tree> = parseTemplate('t', text, (name) => FUNCTIONS.has(name))
  return executeTemplate(trees.get('t')!, data, { template: (name) => trees.get(name), functions: FUNCTIONS })
}

const DATA = new Map<string, unknown>([
  ['s', 'text'],
  ['n', 5],
  ['i', goInt(3)],
  ['list', ['a', 'b']],
  [
    'm',
    new Map<string, unknown>([
      ['b', 1],
      ['a', new Map([['deep', 'x']])],
    ]),
  ],
  ['nil', null],
])

const GOOD: readonly (readonly [string, string])[] = [
  ['a {{- " b " -}} c', 'a b c'],
  ['{{/* comment */}}x{{- /* trims */ -}} y', 'xy'],
  ['{{ .s }} {{ .n }} {{ .i }} {{ .list }} {{ .m }}', 'text 5 3 [a b] map[a:map[deep:x] b:1]'],
  ['{{ .m.a.deep }} {{ .missing }} {{ (.missing).x }}', 'x <no value> <no value>'],
  ['{{ $x := .s }}{{ if true }}{{ $x = "new" }}{{ end }}{{ $x }}', 'new'],
  ['{{ if .nil }}a{{ else if .n }}b{{ else }}c{{ end }}', 'b'],
  ['{{ with .m.a }}{{ .deep }}{{ else with .s }}{{ . }}{{ end }}', 'x'],
  ['{{ range $i, $v := .list }}{{ $i }}={{ $v }};{{ end }}', '0=a;1=b;'],
  ['{{ range $k, $v := .m }}{{ $k }};{{ end }}', 'a;b;'],
  ['{{ range 3 }}{{ . }}{{ end }}', '012'],
  ['{{ range .i }}{{ if eq . 1 }}{{ continue }}{{ end }}{{ . }}{{ else }}none{{ end }}', '02'],
  ['{{ range list 1 2 3 }}{{ if eq . 2 }}{{ break }}{{ end }}{{ . }}{{ end }}', '1'],
  ['{{ range .nil }}x{{ else }}none{{ end }}', 'none'],
  ['{{ define "d" }}<{{ . }}>{{ end }}{{ template "d" .s }}{{ block "b" .n }}[{{ . }}]{{ end }}', '<text>[5]'],
  ['{{ "x" | upper | printf "%s-%s" "a" }}', 'a-X'],
  ['{{ and 1 0 (boom) }} {{ or "" "x" (boom) }}', '0 x'],
  [
    '{{ `raw\\n` }} {{ "q\\n" | len }} {{ \'a\' }} {{ 0x10 }} {{ 1e3 }} {{ 0b11 }} {{ 1_000 }}',
    'raw\\n 2 97 16 1000 3 1000',
  ],
  ['{{ len "é" }} {{ index .list 1 }} {{ index .m "a" "deep" }} {{ slice "héllo" 1 3 }}', '2 b x é'],
  ['{{ eq 1 2 1 }} {{ ne .s "x" }} {{ lt 1.5 2.5 }} {{ not .nil }}', 'true true true true'],
  ['{{ html "<a>" }} {{ urlquery "a b" }} {{ js "\'" }} {{ print 1 2 "x" 3 }}', "&lt;a&gt; a+b \\' 1 2x3"],
]

for (const [template, wanted] of GOOD) test(`runs ${template}`, () => assert.equal(run(template, DATA), wanted))

const BAD: readonly (readonly [string, string])[] = [
  ['{{ .s.x }}', `template: t:1:5: executing "t" at <.s.x>: can't evaluate field x in type interface {}`],
  ['{{ .nil.x }}', 'template: t:1:7: executing "t" at <.nil.x>: nil pointer evaluating interface {}.x'],
  ['a\n{{ boom }}', 'template: t:2:3: executing "t" at <boom>: error calling boom: bang'],
  ['{{ upper .n }}', 'template: t:1:9: executing "t" at <.n>: wrong type for value; expected string; got float64'],
  ['{{ upper }}', 'template: t:1:3: executing "t" at <upper>: wrong number of args for upper: want 1 got 0'],
  ['{{ template "no" }}', 'template: t:1:12: executing "t" at <{{template "no"}}>: template "no" not defined'],
  [
    '{{ eq .n "x" }}',
    'template: t:1:3: executing "t" at <eq .n "x">: error calling eq: incompatible types for comparison: float64 and string',
  ],
  ['{{ range .s }}{{ end }}', `template: t:1:9: executing "t" at <.s>: range can't iterate over text`],
  ['{{ nope }}', 'template: t:1: function "nope" not defined'],
  ['{{ if }}', 'template: t:1: missing value for if'],
  ['{{ $x }}', 'template: t:1: undefined variable "$x"'],
  ['{{ "a }}', 'template: t:1: unterminated quoted string'],
  ['x\n{{ if .a }}', 'template: t:2: unexpected EOF'],
  ['{{ break }}', 'template: t:1: {{break}} outside {{range}}'],
  ['{{ .a | 5 }}', 'template: t:1: non executable command in pipeline stage 2'],
  ['{{ (1 }}', 'template: t:1: unclosed left paren'],
]

for (const [template, message] of BAD) {
  test(`refuses ${template}`, () => assert.throws(() => run(template, DATA), { message }))
}

test('what a body appends to a list is not seen by its range, what it sets in a map is shared', () => {
  const list: unknown[] = [1]
  const grow = goFunction([], () => (list.push(2), ''))
  const functions = new Map([...FUNCTIONS, ['grow', grow] as const])
  const trees = parseTemplate('t', '{{ range . }}x{{ grow }}{{ end }}', (name) => functions.has(name))
  assert.equal(executeTemplate(trees.get('t')!, list, { template: () => undefined, functions }), 'x')
})
