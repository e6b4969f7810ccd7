// `flotilla template` against both real helms where charts and command lines are odd: what is told first, what is read,
// what is written.
import assert from 'node:assert/strict'
import test from 'node:test'
import { tarGz } from '../../../testing/fixtures/tar.ts'
import { differences } from '../../../testing/helm/run-command.ts'
import { findBinary } from '../../../testing/testenv.ts'

const CHART: Readonly<Record<string, string | Uint8Array>> = {
  'c/Chart.yaml': 'apiVersion: v2\nname: top\nversion: 1.2.3\n',
  'c/values.yaml': 'a: {b: 1}\n',
  'c/crds/x.yaml': 'kind: CustomResourceDefinition\n',
  'c/templates/a.yaml': 'v: {{ toJson .Values | quote }}\nn: {{ .Template.Name }} {{ .Template.BasePath }}\n',
  'c/templates/h.yaml': 'kind: A\n---\nkind: Job\nmetadata: {annotations: {helm.sh/hook: test}}\n',
  'c/templates/only.yaml': 'kind: Job\nmetadata: {annotations: {helm.sh/hook: test}}\n',
}
const SUBCHART = { 'c/charts/one/Chart.yaml': 'apiVersion: v2\nname: one\nversion: 1.0.0\n' }
const HEAD = 'apiVersion: v2\nname: top\nversion: 1.2.3\n'

/** A hook and what is no YAML in one file, as files come in random order. */
const ALL_IN_ONE = {
  'c/templates/a.yaml': '',
  'c/templates/h.yaml': '',
  'c/templates/only.yaml': `${CHART['c/templates/only.yaml'] as string}---\na: b: c\n\n`,
}

interface Case {
  readonly args: readonly string[]
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  readonly links?: Readonly<Record<string, string>>
  readonly stdin?: string
}

const chart = (files: Case['files'], links: Case['links'] = {}): Case => ({ args: ['r', 'c'], files, links })
const line = (...args: readonly string[]): Case => ({ args })

/** Each of these differed once. */
const CASES: Readonly<Record<string, Case>> = {
  'a wrong Chart.lock': chart({ 'c/Chart.lock': 'text' }),
  'a Chart.lock without a date': chart({ 'c/Chart.lock': 'generated: x\n' }),
  'a Chart.lock with a number for a date': chart({ 'c/Chart.lock': 'generated: 5\n' }),
  'a right Chart.lock': chart({ 'c/Chart.lock': 'generated: "2024-01-01T00:00:00.5Z"\ndigest: 5\n' }),
  'a wrong requirements.lock': chart({ 'c/requirements.lock': 'dependencies: 5\n', 'c/values.yaml': '[' }),
  'requirements before values': chart({ 'c/requirements.yaml': 'dependencies: 5\n', 'c/values.yaml': '[' }),
  'requirements over those of Chart.yaml': chart({
    ...SUBCHART,
    'c/Chart.yaml': `${HEAD}dependencies: [{name: one, version: "*", alias: other}]\nkeywords: [a]\n`,
    'c/requirements.yaml': 'dependencies: [{name: one, version: "*"}]\nkeywords: [null, b]\n',
    'c/templates/a.yaml': 'd: {{ range .Chart.Dependencies }}{{ .Alias }}{{ end }} {{ .Chart.Keywords }}\n',
  }),
  'only requirements.yaml in a subchart': chart({ 'c/charts/one/requirements.yaml': 'name: one\nversion: 1.0.0\n' }),
  'a name before empty dependencies': chart({ 'c/Chart.yaml': 'version: 1.0.0\ndependencies: [null]\n' }),
  'an alias before empty dependencies': chart({
    'c/Chart.yaml': `${HEAD}dependencies: [{name: one, alias: "a b"}, null]\n`,
  }),
  'an unknown version before the rest': chart({ 'c/Chart.yaml': `${HEAD}apiVersion: v9\n`, 'c/values.yaml': '[' }),
  'a version that is a list': chart({ 'c/Chart.yaml': 'apiVersion: [v2]\nname: top\nversion: 1.2.3\n' }),
  'a chart named by a dot': chart({ 'c/Chart.yaml': 'apiVersion: v2\nname: .\nversion: 1.2.3\n' }),
  'an ignored link to nowhere in an ignored folder': chart({ 'c/.helmignore': 'off/\n' }, { 'c/off/link': 'nowhere' }),
  'an ignored link to nowhere': chart({ 'c/.helmignore': 'link\n' }, { 'c/link': 'nowhere' }),
  'a link to itself': chart({}, { 'c/templates/self.yaml': 'self.yaml' }),
  'a link to its folder': chart({}, { 'c/loop': '.' }),
  'a chart that is a link to itself': { args: ['r', 'loop'], links: { loop: 'loop' } },
  'an irregular file': chart({}, { 'c/templates/null.yaml': '/dev/null' }),
  'an ignored irregular file': chart({ 'c/.helmignore': 'null.yaml\n' }, { 'c/templates/null.yaml': '/dev/null' }),
  'a long line of .helmignore': chart({ 'c/.helmignore': `a[\n# ${'x'.repeat(70_000)}\n` }),
  'a line of .helmignore that is too long': chart({ 'c/.helmignore': `# ${'x'.repeat(65_534)}\n` }),
  'a line of .helmignore that just fits': chart({ 'c/.helmignore': `# ${'x'.repeat(65_533)}\n` }),
  'an empty subchart archive': chart({ 'c/charts/x.tgz': '' }),
  'a short subchart archive': chart({ 'c/charts/x.tgz': 'text' }),
  'a subchart archive of something else': chart({ 'c/charts/x.tgz': 'no archive at all' }),
  'an archive without a folder': { args: ['r', 'c.tgz'], files: { 'c.tgz': tarGz([{ name: 'Chart.yaml' }]) } },
  'an archive without a chart': { args: ['r', 'c.tgz'], files: { 'c.tgz': tarGz([{ name: 'c/README.md' }]) } },
  'an archive of an unknown version': {
    args: ['r', 'c.tgz'],
    files: { 'c.tgz': tarGz([{ name: 'c/Chart.yaml', content: `${HEAD}apiVersion: v9\n` }]) },
  },
  'an archive with everything in it': {
    args: ['r', 'c.tgz'],
    files: {
      'c.tgz': tarGz([
        { name: 'pax_global_header', type: 'g', content: '13 comment=x\n' },
        { name: 'c/', type: '5' },
        { name: 'c/Chart.yaml', content: HEAD },
        { name: 'c/link', type: '2', link: 'Chart.yaml' },
        { name: 'c/a/../templates/./f.yaml', content: 'f: {{ range $p, $_ := .Files.Glob "**" }}{{ $p }},{{ end }}\n' },
        { name: 'c\\templates\\b.yaml', content: 'b: 1\n' },
        { name: 'x/values.yaml', content: '\ufeffa: 1\n' },
        { name: 'x/templates/c.yaml', content: '\ufeffv: {{ .Values.a }}\n' },
      ]),
    },
  },
  'an archive that leaves its folder': {
    args: ['r', 'c.tgz'],
    files: { 'c.tgz': tarGz([{ name: 'c/Chart.yaml', content: HEAD }, { name: 'c/a/../../b' }]) },
  },
  'a subchart archive that leaves its folder': chart({
    'c/charts/one.tgz': tarGz([{ name: 'c/Chart.yaml', content: HEAD }, { name: 'c/../b' }]),
  }),
  'a schema with something behind it': chart({ 'c/values.schema.json': '{"required":["x"]} y' }),
  'an empty schema': chart({ 'c/values.schema.json': '' }),
  'a schema whose type is a number': chart({ 'c/values.schema.json': '{"type":5}' }),
  'a schema whose types are numbers': chart({ 'c/values.schema.json': '{"items":{"type":[5]}}' }),
  'a schema that names a type twice': chart({ 'c/values.schema.json': '{"type":["object","object"]}' }),
  'values whose last line has no end': chart({ 'c/values.yaml': 'a: |\n  text' }),
  'values that end too early': chart({ 'c/values.yaml': '{"a": {"b' }),
  'wrong values behind a separator': chart({ 'c/values.yaml': '---\na: 1\nb: c: d\n' }),
  'values behind a separator with a comment': chart({ 'c/values.yaml': 'a: 1\n--- # c\nb: 2\n' }),
  'values behind a separator with a value': chart({ 'c/values.yaml': 'a: 1\n---\tb: 2\n' }),
  'values behind four dashes': chart({ 'c/values.yaml': 'a: b: c\n---\nb: 1\n----\n' }),
  'imports as templates see them': chart({
    ...SUBCHART,
    'c/Chart.yaml': `${HEAD}dependencies: [{name: one, version: "*", import-values: [x, {child: a, parent: b, c: d}]}]\n`,
    'c/templates/a.yaml':
      'a: {{ toJson .Chart | quote }}\nb: {{ range .Chart.Dependencies }}{{ .ImportValues }} {{ kindOf (first .ImportValues) }}{{ end }}\n',
  }),
  'an import without a child': chart({
    ...SUBCHART,
    'c/Chart.yaml': `${HEAD}dependencies: [{name: one, version: "*", import-values: [{parent: a}]}]\n`,
  }),
  'a version before the words': line('r', 'c', 'd', '--kube-version', 'abc'),
  'a version before the values': line('r', 'c', '--kube-version', '1', '--set', 'a'),
  'a chart before the values': line('r', './nothing', '--set', 'a'),
  'a chart with strange letters': line('r', 'a[0]={x} é'),
  'a chart that is no address': line('r', '{"a":1'),
  'a chart with a strange escape': line('r', 'a%zz/b'),
  'a chart with brackets': line('r', 'a[0]'),
  'blanks around the chart': line('r', ' c '),
  'no output-dir': line('r', 'c', '--output-dir', ''),
  'CRDs and the name of the release': line('r', 'c', '--output-dir', './OUT', '--release-name', '--include-crds'),
  'files that are there already': {
    args: ['r', 'c', '--output-dir', 'OUT'],
    files: { 'OUT/top/templates/only.yaml': 'before\n', 'OUT/top/templates/a.yaml': 'before\n' },
  },
  'files and only some of them': line('r', 'c', '--output-dir', 'OUT', '-s', 'templates/a.yaml'),
  'a class that starts with its end': line('r', 'c', '-s', 'templates/[]a].yaml'),
  'a class with an open range': line('r', 'c', '-s', 'templates/[a-].yaml'),
  'a class that starts with a dash': line('r', 'c', '-s', 'templates/[-a].yaml'),
  'a range that goes down': line('r', 'c', '-s', 'templates/[^c-a].yaml'),
  'a slash in a class': line('r', 'c', '-s', 'templates[^a]a.yaml'),
  'a range that goes down in .helmignore': chart({ 'c/.helmignore': '[c-a].yaml\n[^c-b].yaml\n' }),
  'a rule of .helmignore that is no pattern without its slash': chart({ 'c/.helmignore': 'a.yaml\\/\n/a.yaml\\/\n' }),
  'a class of .helmignore that is wrong': chart({ 'c/.helmignore': '[]a].yaml\n' }),
  'no post-renderer': line('r', 'c', '--post-renderer', ''),
  'a bad file of values before one that is not there': {
    args: ['r', 'c', '-f', 'bad.yaml', '-f', 'nothing.yaml'],
    files: { 'bad.yaml': '[' },
  },
  'a folder of values': line('r', 'c', '-f', 'c'),
  'a file below a file': line('r', 'c', '-f', 'c/values.yaml/x'),
  'a file that is no address': line('r', 'c', '-f', ':x'),
  'a file with a colon': line('r', 'c', '-f', '1:x'),
  'a file with a strange escape': line('r', 'c', '--set-file', 'a=%zz'),
  'stdin as a file': { args: ['r', 'c', '--set-file', 'x=-'], stdin: 'text' },
  'stdin twice': { args: ['r', 'c', '-f', '-', '--set-file', 'x= - '], stdin: 'y: 1' },
  'a quoted list': { args: ['r', 'c', '-f', '"a,b.yaml","b"'], files: { 'a,b.yaml': 'x: 1', b: 'y: 2' } },
  'a list that ends in a comma': { args: ['r', 'c', '-f', 'b,'], files: { b: 'y: 2' } },
  'an open quote in a list': line('r', 'c', '-f', '"a'),
  'a quote within a list': line('r', 'c', '-f', 'a"b'),
  'labels of helm': line('r', 'c', '-l', 'a=b,owner=x'),
  'labels of helm behind the values': {
    args: ['r', 'c', '-l', 'a=b,owner=x'],
    files: { 'c/values.schema.json': '{"required":["x"]}', 'c/templates/a.yaml': '{{ fail "later" }}' },
  },
  'labels of helm before the templates': {
    args: ['r', 'c', '-l', 'owner=x'],
    files: { 'c/templates/a.yaml': '{{ fail "later" }}' },
  },
  'no namespace': { args: ['r', 'c', '-n', ''], files: { 'c/templates/n.yaml': 'n: {{ .Release.Namespace }}\n' } },
  'a failed template with --debug': { args: ['r', 'c', '--debug'], files: { 'c/templates/z.yaml': '{{ fail "x" }}' } },
  'a failed template with --debug and only one': {
    args: ['r', 'c', '--debug', '-s', 'templates/a.yaml'],
    files: { 'c/templates/z.yaml': '{{ fail "x" }}' },
  },
  'bad YAML with --debug': {
    args: ['r', 'c', '--debug'],
    files: ALL_IN_ONE,
  },
  'bad YAML with --debug and without hooks': {
    args: ['r', 'c', '--debug', '--no-hooks'],
    files: ALL_IN_ONE,
  },
  'bad YAML with --debug and only one': {
    args: ['r', 'c', '--debug', '-s', 'templates/h.yaml'],
    files: { 'c/templates/z.yaml': 'a: b: c\n' },
  },
  'bad YAML with --debug and one that is not there': {
    args: ['r', 'c', '--debug', '-s', 'templates/y.yaml'],
    files: { 'c/templates/z.yaml': 'a: b: c\n' },
  },
  'on and off again': line('r', 'c', '--include-crds', '--include-crds=false', '--no-hooks=false', '--no-hooks'),
  'off and on again': line('r', 'c', '--include-crds=false', '--include-crds', '--no-hooks', '--no-hooks=false'),
  'words behind two dashes': line('r', '--include-crds', '--', 'c'),
  'two dashes and nothing behind them': line('r', 'c', '--include-crds', '--'),
  'flags behind two dashes': line('r', 'c', '--', '--include-crds'),
  'a lone equals sign': line('r', 'c', '-f='),
  'an equals sign behind a boolean': line('c', '-g='),
  'labels of others': line('r', 'c', '-l', 'a=b', '--labels', 'c=d,e=f'),
  'numbers in other writings': line('r', 'c', '--qps', '0x1p4', '--burst-limit', '0_10', '--qps=1_0.5'),
  'a number that is too large': line('r', 'c', '--burst-limit', '9223372036854775808'),
  'a fraction that is too large': line('r', 'c', '--qps', '1e39'),
  'a time that is too long': line('r', 'c', '--timeout', '9999999h'),
  'a dry run that is true': line('r', 'c', '--dry-run=T'),
  'a flag of Helm 4': line('r', 'c', '--rollback-on-failure'),
  'flags that exclude each other': line('r', 'c', '--force-conflicts=false', '--force'),
  'no flag at all': line('r', 'c', '--='),
  'no short flag at all': line('r', 'c', '-='),
}

/** Only Helm 3 runs programs. */
const HELM_3_CASES: Readonly<Record<string, Case>> = {
  'a post-renderer that is a folder': line('r', 'c', 'd', '--post-renderer', './c'),
  'a post-renderer that is no program': line('r', 'c', 'd', '--post-renderer', 'c/values.yaml'),
  'a post-renderer that is not there': line('r', 'c', 'd', '--post-renderer', 'no-such-program'),
  'a post-renderer on the path': line('r', 'c', '--post-renderer', 'cat'),
}

for (const version of ['helm4', 'helm3'] as const) {
  const binary = findBinary(version === 'helm4' ? 'helm' : 'helm3')
  const skip = binary === undefined ? `no binary for ${version}` : false
  test(`${version}: odd charts and command lines`, { skip }, async () => {
    const cases = Object.entries(version === 'helm3' ? { ...CASES, ...HELM_3_CASES } : CASES)
    const commands = cases.map(([what, { args, files = {}, links = {}, stdin = '' }]) => {
      const all = new Map(Object.entries({ ...CHART, ...files }))
      return [what, { args, files: all, links: new Map(Object.entries(links)), stdin }] as const
    })
    const different = await differences(commands, { version, binary: binary! })
    assert.deepEqual(different, [], different.join('\n'))
  })
}
