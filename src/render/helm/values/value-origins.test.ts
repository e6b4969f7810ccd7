import assert from 'node:assert/strict'
import test from 'node:test'
import { loadChart } from '../chart/load-chart.ts'
import { HELM_3, HELM_4 } from '../profile.ts'
import { Provenance } from '../provenance.ts'
import { renderChart } from '../render-chart.ts'
import { userValueLayers, userValues } from './user-values.ts'
import { originText } from './value-origins.ts'

// Every value is the name of the file or flag it stands in, so that a wrong origin shows by itself.
const [P, L, D, E] = [
  'p/values.yaml',
  'p/charts/l/values.yaml',
  'p/charts/l/charts/d/values.yaml',
  'p/charts/e/values.yaml',
]
const FILES: Readonly<Record<string, string>> = {
  'Chart.yaml': `apiVersion: v2
name: p
version: 1.0.0
dependencies:
  - {name: l, version: "*"}
  - {name: l, version: "*", alias: again}
  - {name: e, version: "*", import-values: [data, {child: inner, parent: taken}]}
`,
  'values.yaml': `own: ${P}
table: {a: ${P}, b: ${P}, gone: ${P}, list: [${P}]}
global: {g: ${P}, shared: {x: ${P}}}
taken: {mine: ${P}}
l: {fromParent: ${P}, d: {fromTop: ${P}}, global: {local: ${P}}}
`,
  'templates/a.yaml': `# text
a: {{ .Values.table.a }}
both: {{ printf "%s %s" .Values.own $.Values.table.b | quote }}
`,
  'charts/l/Chart.yaml': 'apiVersion: v2\nname: l\nversion: 1.0.0\n',
  'charts/l/values.yaml': `fromParent: ${L}\nown: ${L}\nset: ${L}\nglobal: {g: ${L}, onlyLeaf: ${L}, shared: {x: ${L}, z: ${L}}}\n`,
  'charts/l/templates/b.yaml': 'v: {{ .Values.fromParent }}\n',
  'charts/l/charts/d/Chart.yaml': 'apiVersion: v2\nname: d\nversion: 1.0.0\n',
  'charts/l/charts/d/values.yaml': `deep: ${D}\nfromTop: ${D}\nfile: ${D}\n`,
  'charts/e/Chart.yaml': 'apiVersion: v2\nname: e\nversion: 1.0.0\n',
  'charts/e/values.yaml': `exports: {data: {imported: ${E}}}\ninner: {mine: ${E}, more: ${E}}\n`,
}

function render(profile = HELM_4) {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const chart = loadChart(new Map(Object.entries(FILES).map(([name, text]) => [name, bytes(text)])), { profile })
  const flags = {
    files: [
      { name: 'one.yaml', data: bytes('table: {a: one.yaml, b: one.yaml}\nl: {d: {file: one.yaml}}\n') },
      {
        name: 'two.yaml',
        data: bytes('# first line\ntable:\n  a: two.yaml\n  gone: null\nglobal: {user: two.yaml}\n'),
      },
    ],
    set: ['l.set=--set', 'table.list={--set}'],
    setString: ['again.own=--set-string'],
  }
  const provenance = new Provenance()
  const rendered = renderChart({
    chart,
    values: userValues(flags, profile),
    layers: userValueLayers(flags, profile),
    profile,
    release: { name: 'r', namespace: 'n' },
    entropy: { randomBytes: (length) => new Uint8Array(length), now: () => 0, generateKey: () => '' },
    trace: provenance.trace,
  })
  return { rendered, provenance }
}

for (const profile of [HELM_4, HELM_3]) {
  test(`${profile.name}: every value knows the file or flag it came from`, () => {
    const all = render(profile).rendered.origins!.all()
    assert.ok(all.length > 35, String(all.length))
    for (const { path, value, origin } of all) {
      const at = path.join('.')
      const said = Array.isArray(value) ? String(value[0]) : String(value)
      if (origin?.layer === 'import-values') {
        // The value stands in the exporting chart; the import is written down in the importing one.
        assert.deepEqual([said, origin.source], [E, 'p/Chart.yaml'], at)
        continue
      }
      // An aliased chart goes by its alias, but for what is below it in Helm 3.
      const source = origin?.source.replace(/^(--\S+) .*/, '$1').replace('/again/', '/l/')
      assert.equal(source, said, at)
    }
    assert.equal(
      all.some(({ path }) => path.join('.') === 'table.gone'),
      false,
    )
  })
}

test('the layer and the line are told', () => {
  const origins = render().rendered.origins!
  const told = (path: string) => originText(origins.of(path.split('.'))!)
  assert.equal(told('table.a'), 'two.yaml:3 (values file)')
  assert.equal(told('l.fromParent'), 'p/values.yaml:5 (parent chart)')
  assert.equal(told('l.own'), 'p/charts/l/values.yaml:2 (chart default)')
  assert.equal(told('l.set'), '--set l.set=--set')
  assert.equal(told('l.global.g'), 'p/values.yaml:3 (chart default)')
  assert.equal(told('l.global.onlyLeaf'), 'p/charts/l/values.yaml:4 (chart default)')
  assert.equal(told('imported'), 'p/Chart.yaml (import-values)')
  assert.equal(told('taken.mine'), 'p/values.yaml:4 (chart default)')
  assert.equal(origins.of(['nowhere']), undefined)
})

test('a line of the output knows its template and the values named there', () => {
  const { rendered, provenance } = render()
  const [own, ...others] = rendered.manifests
  const lines = [own!, ...others].flatMap((document) => provenance.explain(document, rendered.origins))
  const told = lines
    .filter(({ text }) => text.includes(':'))
    .map(({ origin, text, values }) => {
      return `${origin} ${text} <- ${values.map((value) => `${value.path.join('.')}@${originText(value.origin)}`).join(', ')}`
    })
  assert.ok(told.includes('p/templates/a.yaml:2 a: two.yaml <- table.a@two.yaml:3 (values file)'), told.join('\n'))
  assert.ok(
    told.includes(
      `p/templates/a.yaml:3 both: "${P} one.yaml" <- own@${P}:1 (chart default), table.b@one.yaml:1 (values file)`,
    ),
    told.join('\n'),
  )
  assert.ok(
    told.includes(`p/charts/l/templates/b.yaml:1 v: ${P} <- l.fromParent@${P}:5 (parent chart)`),
    told.join('\n'),
  )
})
