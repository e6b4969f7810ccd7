// Random templates that call any function with arguments of any kind, most of them of the right one; many must fail.
import type { GoFunction, ParamType } from '../../../render/gotemplate/function.ts'
import { pick, seeded } from './random.ts'
import type { Random } from './random.ts'

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '')

/** The chart that the templates are put into, as `templates/shape.yaml`. */
export const SHAPE_CHART: Readonly<Record<string, string>> = {
  'Chart.yaml': 'apiVersion: v2\nname: shapes\nversion: 1.2.3\nappVersion: "4.5"\nkeywords: [a, b]\n',
  'values.yaml': `
str: hello
none: null
n: 5
f: 1.5
t: true
list: [c, a, b, a]
mixed: [1, two, null, true, {a: 1}, [x]]
maps: [{name: a, v: 1}, {name: b, v: 2}]
m: {b: 2, a: one, c: {d: deep}}
uni: "héllo wörld"
yaml: "a: 1\\nb: [x, 2]\\n"
json: '{"a": [1, 2.5, null], "b": {"c": "d"}}'
tpl: "{{ .Release.Name }}-{{ .Values.str }}"
`,
  'files/a.txt': 'one\ntwo\n',
  'files/b': 'no end',
  'templates/_given.tpl':
    '{{ define "given" }}got {{ . }}{{ end }}{{ define "broken" }}{{ .a.b.c }}{{ end }}{{ define "empty" }}{{ end }}',
}

const TEXTS = lines(`
""
"a"
" x "
"a-b_C d"
"日本語"
"1"
"-3"
"1.5"
"0x1f"
"1e3"
"true"
"%d %s"
"a,b,,c"
"a: [1, {b: 2}]"
"[1, null]"
"{{ .Values.n }}"
"{{ .x.y.z }}"
"("
"(a)(b)?"
"[a-z]+"
"2006-01-02"
"2024-02-30"
"UTC"
"1h30m"
"1.2.3-rc.1+b"
"^1.2 || ~2"
"http://u@h:1/p?q=1#f"
"YWJj"
"string"
"map"
"given"
"broken"
"files/*"
"/a/b/../c.txt"
"it's \\"so\\"\\n"
"9223372036854775808"
(trunc 2 "é日")
(trunc 1 "é")
(printf "%sb" (trunc 1 "é"))
.Values.str
.Values.uni
.Values.yaml
.Values.json
.Values.tpl`)

const NUMBERS = lines(`
0
1
-1
2
7
1.5
-2.5
1e3
1e100
0x1F
017
1_000
'a'
3.0
.Values.n
.Values.f
(int64 4)
(float64 2.5)
(len "abc")
(div 7 2)
(toDecimal "17")`)

const OTHERS = lines(`
nil
true
.Values.t
.Values.none
.Values.none.x
.Values.str.x
.Values.mixed
.Values.maps
.Values.list
.Release.Revision
.Capabilities.KubeVersion
.Capabilities.APIVersions
.Files
(.Files.Glob "files/*")
(.Files.Lines "files/a.txt")
(.Files.GetBytes "files/b")
(semver "1.2.3-rc.1")
(split "," "a,b")
(tuple 1 "a")
(dict)
(list)
(fromJson "{\\"a\\":1}")
(fromYamlArray "- 1\\n- a")
(toStrings (list 1 nil "a"))
(first (list))
(get (dict) "x")
(coalesce nil)
(deepCopy .Values.m)
(chunk 2 (list 1 2 3))
(lookup "v1" "Pod" "a" "b")
(not 1)`)

const MAPS = lines(`
(dict)
(dict "a" 1 "b" nil)
(deepCopy .Values.m)
(dict "a" (dict "b" (list 1)))
(fromYaml .Values.yaml)
nil`)

const METHODS = lines(`
(.Files.Glob "files/*").AsConfig
(.Files.Glob "files/*").AsSecrets
.Files.Get "none"
.Files.Get 3
.Files.Lines "files/b"
.Capabilities.APIVersions.Has "apps/v1/Deployment"
.Capabilities.APIVersions.Has 1
.Capabilities.KubeVersion.Minor
.Capabilities.None
(semver "1.2.3").IncMajor
(semver "1.2.3").Compare (semver "1.2.4")
(semver "1.2.3").SetPrerelease "x"
(semver "v1.2").Original
(semver "1").None
(toDate "2006-01-02" "2020-02-03").Weekday
(toDate "2006-01-02" "2020-02-03").AddDate 0 1 -1
(toDate "2006-01-02" "2020-02-03").Truncate 3
(toDate "2006-01-02" "2020-02-03").Format "Jan 2"
.Values.AsMap
.Values.list.x
.Release.None
(split "," "a,b")._9
(1).x`)

/** Random by nature, with another order each time, or of another time. */
const LEFT_OUT =
  /^(?:rand|gen|shuffle|uuid|bcrypt|htpasswd|encryptAES|now$|ago$|date|must_?date|html_?date|derivePassword|keys$|values$|getHostByName)/i

/** Where a large number would make much of it. */
const COUNTING = new Set(['until', 'untilStep', 'seq', 'repeat', 'indent', 'nindent'])

const VERBS = 'vsdqxXfegtTboOcUzw'

class Shapes {
  readonly #random: Random
  readonly #functions: ReadonlyMap<string, GoFunction>
  readonly #names: readonly string[]

  constructor(seed: number, functions: ReadonlyMap<string, GoFunction>) {
    this.#random = seeded(seed * 7919 + 13)
    this.#functions = functions
    this.#names = [...functions.keys()].filter((name) => !LEFT_OUT.test(name))
  }

  text(): string {
    const random = this.#random
    switch (random(10)) {
      case 0:
        return `{{ printf "${this.#verb()}|${this.#verb()}" ${this.#value(1)} ${this.#value(1)} }}`
      case 1:
        return `{{ ${pick(random, METHODS)} }}`
      case 2:
        return `{{ range ${pick(random, ['$i, $v := ', '$v := ', ''])}${this.#value(1)} }}[{{ . }}]{{ else }}none{{ end }}`
      case 3:
        return `{{ with ${this.#value(1)} }}<{{ . }}>{{ else }}none{{ end }}`
      case 4:
        return `{{ ${this.#value(1)} | ${this.#call(0)} }}`
      case 5:
        return `{{ $x := ${this.#value(1)} }}{{ $y := ${this.#value(0)} }}{{ ${pick(random, this.#names)} $x $y }}`
      default:
        return `{{ ${this.#call(2)}${random(3) === 0 ? ' | toJson' : ''} }}`
    }
  }

  #verb(): string {
    const random = this.#random
    const flags = pick(random, ['', '', '-', '+', '#', '0', ' ', '+#', '[1]', '*'])
    return `%${flags}${pick(random, ['', '', '5', '12'])}${pick(random, ['', '', '.0', '.2'])}${pick(random, [...VERBS])}`
  }

  #value(depth: number): string {
    const random = this.#random
    const kind = random(depth > 0 ? 12 : 9)
    if (kind < 4) return pick(random, TEXTS)
    if (kind < 6) return pick(random, NUMBERS)
    if (kind < 9) return pick(random, OTHERS)
    if (kind === 9) return `(list ${this.#value(depth - 1)} ${this.#value(depth - 1)})`
    if (kind === 10) return `(dict "a" ${this.#value(depth - 1)} "10" ${this.#value(depth - 1)})`
    return `(${this.#call(depth - 1)})`
  }

  #call(depth: number): string {
    const random = this.#random
    const name = pick(random, this.#names)
    if (COUNTING.has(name)) return `${name} ${random(8) - 1} ${this.#value(0)}`
    const { params, variadic } = this.#functions.get(name)!
    const types = [...params, ...(variadic ? Array.from({ length: random(4) }, () => variadic) : [])]
    if (random(15) === 0) types.push('any')
    if (random(15) === 0) types.pop()
    return [name, ...types.map((type) => this.#ofType(type, depth))].join(' ')
  }

  #ofType(type: ParamType, depth: number): string {
    const random = this.#random
    if (random(12) === 0) return this.#value(depth)
    if (type === 'string') return pick(random, TEXTS)
    if (type === 'bool') return pick(random, ['true', 'false', '.Values.t'])
    if (type === 'map') return pick(random, MAPS)
    if (type === 'list') return pick(random, ['(list)', '(list 1 "a" nil)', '.Values.mixed', 'nil'])
    return /^(?:u?int|float)/.test(type) ? pick(random, ['0', '1', '3', '-1', '10', "'a'", '1.0']) : this.#value(depth)
  }
}

/** The known differences that docs/helm.md tells: Go's structs written out, addresses, copies of versions. */
const KNOWN = /(?:toYamlPretty|[tT]oToml|[dD]eepCopy|printf).*(?:\.Capabilities|semver|toDate)/

/** Templates of a seed over some functions. */
export function shapeCases(seed: number, count: number, functions: ReadonlyMap<string, GoFunction>): string[] {
  const shapes = new Shapes(seed, functions)
  return Array.from({ length: count }, () => shapes.text()).filter((text) => !KNOWN.test(text))
}
