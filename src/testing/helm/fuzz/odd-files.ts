// Odd .helmignore lines, schemas and files of values: one line per text, `\n` in it a new line.
import { mixed } from './texts.ts'

/** Lines of .helmignore. */
export const IGNORE_LINES = mixed(String.raw`
*.bak
*.txt
a.yaml
/a.yaml
templates/a.yaml
/templates/a.yaml
templates/
templates
templates/*
sub/
sub
[ab].yaml
[^a].yaml
[c-a].yaml
[a-c].yaml
[\\]a].yaml
?.yaml
charts/
charts/one
charts/*/templates
one/
crds
values.yaml
.helmignore
.*
# comment
\\#hash.yaml
(nothing)
  a.yaml  
./a.yaml
/
//
../x
files/*
*/a.txt
README.md
with space.yaml
(refused)
[]a].yaml
[a-].yaml
[-a].yaml
*.yaml
!a.yaml
!templates/a.yaml
*
**
**/a.yaml
a[
Chart.yaml
files/**
!
`)

/** Schemas of values. */
export const SCHEMAS = mixed(String.raw`
{}
{"type":"object"}
{"properties":{"a":{"type":"object"}}}
{"properties":{"global":{"type":"object","required":["g"]}}}
{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}
{"oneOf":[{"required":["a"]},{"required":["b"]}]}
true
(refused)
{"type":"string"}
{"properties":{"a":{"type":"string"}}}
{"required":["must"]}
{"properties":{"a":{"properties":{"b":{"minimum":5}}}}}
{"properties":{"global":{"additionalProperties":false}}}
{"additionalProperties":false}
{"properties":{"list":{"items":{"type":"integer"}}}}
{"$schema":"https://json-schema.org/draft/2020-12/schema","required":["x"]}
{"$ref":"#/definitions/x","definitions":{"x":{"required":["y"]}}}
{"$ref":"#/nope"}
{"type":5}
{"not":{"required":["a"]}}
false
null
[]
5
(nothing)
{
{"type":"object"} x
type: object
\ufeff{"required":["must"]}
`)

/** Files of values: a chart's own, and those given on the command line. */
export const VALUES_FILES = mixed(String.raw`
(nothing)
\n
# c\n
---\n
null\n
~
{}
a: 1\n---\na: 2\n
---\na: 1\n---\n
a: 1\n...\n
a: 1\n... x\n
a: {b: 2}\nlist: [y, z]\none: {a: {c: 5}}\n
a: {b: null}\nlist: null\none: null\n
a: null\nglobal: null\none: {a: null, enabled: false}\n
one: {enabled: false}\ntags: {t1: true}\n
one: {enabled: "true"}\ntags: {t1: "true"}\n
one: {enabled: null}\ntags: {t1: null}\n
global: 5\n
global: {on: true, a: {b: {c: 1}}}\none: {global: {on: false, a: {b: null}}}\n
tags: 5\n
tags: {t1: false, one: true}\nagain: {a: {c: null}}\n
a: 12345678901234567890\nb: 1.0\nc: -0\nd: 1e400\n
a: yes\non: off\ny: n\n
a: 2001-01-01\nb: 12:30:45\n
a: &x {k: 1}\nb: *x\nc: {<<: *x, d: 2}\n
a: 1\na: 2\n
{"a": {"b": 3}, "list": ["j"]}
{"a": 1,}
{"a": 1} x
{"a": 1}{"b": 2}
a: |\n  text\n   more\nb: >-\n  folded\n  text\n
a: 'it''s'\nb: "\\u00e9\\n"\n
a: 1\r\nb: 2\r\n
\ufeffa: 1\n
a: "\ufeffx"\n
é: ü\n
a.b: 1\n"a b": 2\n"": 3\n
a: !!int "5"\nb: !!str 5\nc: !x y\n
a: 1\n--- # c\nb: 2\n
a: 1\n---\tb: 2\n
a: |\n  x\n---\nb: 1\n
a: |\n  text
a: |\n  text\n\n
a: >\n  folded\n\n
a: |+\n  keep\n\n\n
a: |+\n  keep\n\n---\nb: |\n  y
a: |-\n  strip\n\n
a: 1\r\n---\r\nb: |\r\n  x\r\n  y
a: "x\n  y"\n
a: 'x\n\n  y'
a:\n- 1\n-  b: 2\n
one:\n  a:\n    c: |\n      deep
---\n# c\n---\na: 1\n
a: {b: {c: {d: {e: [[[1]]]}}}}\n
one: {global: {g: 5}, two: {a: 1}}\nglobal: {g: {h: 1}}\n
one: {exports: {data: {e: null, f: 2}}}\n
exports: {data: {z: 1}}\nglobal: {exports: 1}\n
(refused)
[]
5
text
"a: 1"
- a\n
one: 5\nagain: text\n
one: [1]\nglobal: [1]\n
a: 0644\nb: 0x1F\nc: 1e3\nd: 1_000\ne: .inf\n
1: one\n2.5: two\ntrue: three\nnull: four\n
a: &x [*x]\n
a: b: c\n
a: [1\n
a:\n\tb: 1\n
a: \u0001\n
? {a: 1}\n: b\n
? [a]\n: b\n
%YAML 1.1\n---\na: 1\n
%TAG ! x\na: 1\n
a: @x\n
a: %x\n
a: 1\n----\n
a: 1\n---b: 2\n
---a: 1\n
a: |\n text\n  more\n\tz\n
a: 'x
a: "x\n
`)
