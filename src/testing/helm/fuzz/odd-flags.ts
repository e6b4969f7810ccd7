// Words and flags of `helm template`, right and wrong ones.
import { mixed } from './texts.ts'
import type { Mixed } from './texts.ts'

/** Flags with a value: name, short name or a dash, and the values, a line each. */
export const VALUED: readonly (readonly [name: string, short: string, values: Mixed])[] = [
  [
    'set',
    '-',
    mixed(String.raw`
a.b=5
a.b=null
a=null
a={1,2}
a={}
list[0]=x
list[3]=x
one.enabled=false
one.enabled=maybe
one.a.c=7,again.a.c=8
tags.t1=true
global.on=true,global.g=null
a\\.b=1
a="q"
=1
a=
a=b=c
.a=1
a=1,
(nothing)
x=0123
x=1e3
x=true
x=TRUE
x=9223372036854775808
x= 5
a.b[0][1].c=d
é=ü
a=\\,
one.global.g=4
(refused)
list[-1]=x
list[99999999]=x
one=null
a.b=1,a.b.c=2
a
a[=1
a.=1
,
`),
  ],
  [
    'set-string',
    '-',
    mixed(String.raw`
a.b=5
a.b=null
a=true
list[0]=1
one.a.c=1
x=1,y=2
(nothing)
(refused)
a[
`),
  ],
  [
    'set-json',
    '-',
    mixed(String.raw`
a={"b":1}
a=[1,2.50,1e3]
a=null
a="x"
a.b=1,list=["x"]
a={"b":1},list=[{"c":null}]
a=
[1]
(refused)
a={
a=nope
{"a":{"b":9},"list":null}
{"a":1
 {"a":1}
a=1 2
`),
  ],
  [
    'set-file',
    '-',
    mixed(String.raw`
a.b=v0.yaml
a=c/Chart.yaml,list[0]=v1.yaml
a=-
a=
(refused)
a=nothing
a=c
a
`),
  ],
  [
    'set-literal',
    '-',
    mixed(String.raw`
a.b=1,c=2
a=null
a=
a.b[0]={x}
list[0]=\\,
=x
(refused)
a
`),
  ],
  [
    'values',
    'f',
    mixed(String.raw`
v0.yaml
v1.yaml
v0.yaml,v1.yaml
v1.yaml,v0.yaml
"v0.yaml"
"v0.yaml","v1.yaml"
(nothing)
-
 - 
-,v0.yaml
./v0.yaml
c/values.yaml
"v,.yaml"
(refused)
v0.yaml,
,
nothing.yaml
c
%zz
:x
1:x
a b:c
"v0.yaml
v0"x.yaml
v,.yaml
`),
  ],
  [
    'namespace',
    'n',
    mixed(String.raw`
ns
NS
(nothing)
a b
x.y
-n
(refused)

`),
  ],
  [
    'show-only',
    's',
    mixed(String.raw`
templates/a.yaml
templates/b.yaml
templates/*.yaml
templates/*
templates/?.yaml
templates/[ab].yaml
*/*/*/*
charts/one/templates/*.yaml
charts/one/templates/a.yaml
charts/*/*/a.yaml
templates/a*
(refused)
templates/[
templates/[[]x].yaml
templates/\\[x\\].yaml
templates/a\\*.yaml
templates/[^a].yaml
templates/[a-c].yaml
templates/[c-a].yaml
templates/[]a].yaml
templates/[a-].yaml
templates/[-a].yaml
templates/[^]a].yaml
templates/[\\]a].yaml
templates/[a
templates/\\
templates/sub/*/*/b.yaml
templates/?ber.yaml
templates[^a]a.yaml
templates
*
**
one/templates/a.yaml
crds/*
crds/a.yaml
templates/nope.yaml
templates/sub/*
templates/NOTES.txt
templates/_helpers.tpl
./templates/a.yaml
top/templates/a.yaml
/templates/a.yaml
templates\\a.yaml
other.yaml
(nothing)
`),
  ],
  [
    'kube-version',
    '-',
    mixed(String.raw`
1.30
v1.30.5
1.20.0-eks-1
v1.29.3+k3s1
(nothing)
1.99.0
(refused)
1
abc
1.2.3.4
01.2.3
V1.2.3
-1
`),
  ],
  [
    'api-versions',
    'a',
    mixed(String.raw`
x/v1
x/v1,y/v2
"x/v1,y"
(nothing)
,
x/v1/Kind
(refused)

`),
  ],
  [
    'name-template',
    '-',
    mixed(String.raw`
x-{{ 1 }}
{{ randAlpha 5 | lower | len }}
(nothing)
{{ upper "x" | lower }}
(refused)
{{ .Release.Name }}
{{ nope }}
{{
X
{{ "a" | upper }}
{{ fail "no" }}
`),
  ],
  [
    'output-dir',
    '-',
    mixed(`OUT
OUT/deep
./OUT
OUT/
(nothing)`),
  ],
  [
    'description',
    '-',
    mixed(`text
(nothing)
-x`),
  ],
  [
    'timeout',
    '-',
    mixed(`5m
1h30m
-1s
1.5h
(refused)
5
(nothing)
9999999999h
x`),
  ],
  [
    'labels',
    'l',
    mixed(`a=b
a=b,c=d
(refused)
a
(nothing)
name=x
owner=y,status=z
version=1`),
  ],
  [
    'qps',
    '-',
    mixed(`5
0x1p4
1_0
(refused)
x
1e400
(nothing)`),
  ],
  [
    'burst-limit',
    '-',
    mixed(`5
010
-3
1_0
(refused)
x
99999999999999999999
(nothing)`),
  ],
  [
    'version',
    '-',
    mixed(`1.2.3
^9
nonsense
(nothing)`),
  ],
  [
    'username',
    '-',
    mixed(`u
(nothing)`),
  ],
  ['cert-file', '-', mixed(`nothing.pem`)],
  ['keyring', '-', mixed(`nothing`)],
  [
    'registry-config',
    '-',
    mixed(`nothing
(nothing)`),
  ],
  [
    'repository-config',
    '-',
    mixed(`nothing
(nothing)`),
  ],
  ['repository-cache', '-', mixed(`nothing`)],
  [
    'content-cache',
    '-',
    mixed(`
(refused)
nothing`),
  ],
  [
    'kube-context',
    '-',
    mixed(`x
(nothing)`),
  ],
  [
    'kube-as-group',
    '-',
    mixed(`a,b
(nothing)`),
  ],
  ['kube-apiserver', '-', mixed(`x`)],
  [
    'post-renderer',
    '-',
    mixed(`(nothing)
(refused)
./post.sh
cat
nothing
./broken.sh
./v0.yaml
./c`),
  ],
  [
    'post-renderer-args',
    '-',
    mixed(`x
-y
(nothing)`),
  ],
]

/** Flags without a value; those that matter are there more than once. */
export const BOOLEANS =
  'include-crds include-crds include-crds skip-crds skip-tests skip-tests no-hooks no-hooks is-upgrade is-upgrade release-name generate-name skip-schema-validation skip-schema-validation debug debug debug create-namespace disable-openapi-validation force force-conflicts force-replace hide-notes render-subchart-notes replace rollback-on-failure atomic server-side take-ownership wait-for-jobs devel insecure-skip-tls-verify pass-credentials plain-http kube-insecure-skip-tls-verify wait dry-run'.split(
    ' ',
  )

/** What can stand behind these, the right ones first. */
export const BOOLEAN_VALUES = ['true', 'false', 'T', '0', 'False', 'yes', '', 'tRUE', 'client', 'none', 'unset']

/** What is no flag, or one that is written in another way. */
export const STRANGE: readonly (readonly string[])[] = [
  ['--nope'],
  ['--nope=1'],
  ['--include'],
  ['--includecrds'],
  ['--Include-Crds'],
  ['-x'],
  ['-gx'],
  ['-gs', 'templates/a.yaml'],
  ['-gn', 'ns'],
  ['-gnns'],
  ['-g=false'],
  ['-g=maybe'],
  ['-'],
  ['--'],
  ['---'],
  ['--='],
  ['--=x'],
  ['-='],
  ['-f'],
  ['--set'],
  ['--no-hooks', 'false'],
  ['-set', 'a=b'],
  ['--output', 'x'],
  ['--reuse-values'],
  ['--no-include-crds'],
  ['--hooks'],
]

/** A name and a chart. */
export const WORDS: readonly (readonly string[])[] = [
  ['r', 'c'],
  ['r', 'c'],
  ['r', 'c'],
  ['r', 'c'],
  ['c'],
  ['./c'],
  ['r', 'c/'],
  ['r', './c/../c'],
]

/** Words that helm has to think about. */
export const STRANGE_WORDS: readonly (readonly string[])[] = [
  [],
  ['r', 'c', 'd'],
  ['r', 'c', 'd', 'e'],
  ['r', 'c.tgz'],
  ['r', 'c/Chart.yaml'],
  ['r', 'c/templates'],
  ['r', './nothing'],
  ['r', 'nothing'],
  ['r', 'no/thing'],
  ['r', ''],
  ['', 'c'],
  ['R', 'c'],
  ['a.b', 'c'],
  ['a..b', 'c'],
  ['a_b', 'c'],
  ['a/b', 'c'],
  ['é', 'c'],
  ['0', 'c'],
  ['x'.repeat(53), 'c'],
  ['x'.repeat(54), 'c'],
  ['v0.yaml', 'c'],
  ['r', 'v0.yaml'],
  ['r', '/dev/null'],
]
