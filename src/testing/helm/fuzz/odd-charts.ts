// Random charts whose structure is odd: every file of a chart, in forms that no author writes on purpose.
import { tarGz } from '../../fixtures/tar.ts'
import { fuzzChart } from './fuzz-charts.ts'
import {
  CHART_FIELDS,
  CHART_FILES,
  FILE_NAMES,
  HOOK_ANNOTATIONS,
  IMPORTS,
  KINDS,
  REQUIREMENT_FIELDS,
  TEMPLATES,
  TEMPLATE_NAMES,
} from './odd-chart-parts.ts'
import { IGNORE_LINES, SCHEMAS, VALUES_FILES } from './odd-files.ts'
import { chance, pick } from './random.ts'
import type { Random } from './random.ts'
import type { Mixed } from './texts.ts'

/** Files and links by their path. */
export interface OddTree {
  readonly files: Map<string, string | Uint8Array>
  readonly links: Map<string, string>
}

/** What is drawn from: of texts that helm may refuse, any or only the others. */
export interface Draw {
  readonly random: Random
  readonly calm: boolean
}

/** A text of a table. */
export function drawn({ random, calm }: Draw, { fine, all }: Mixed): string {
  return pick(random, calm && fine.length > 0 ? fine : all)
}

type Oddity = (draw: Draw, tree: OddTree, at: string) => void

/** Everything that flags and files change, in comments, which no YAML can break. */
const FACTS = `kind: Facts
# {{ toJson .Release }} {{ toJson .Values }} {{ toJson .Chart }}
# {{ .Capabilities.KubeVersion }} {{ .Capabilities.APIVersions.Has "x/v1" }} {{ len .Capabilities.APIVersions }}
# {{ range $path, $data := .Files.Glob "**" }}{{ toJson $path }} {{ toString $data | sha256sum }} {{ end }}
`

/** A chart below `c/`: a plain one with subcharts and a handful of oddities, in it and in its subcharts. */
export function oddChart(draw: Draw): OddTree {
  const { random, calm } = draw
  const tree: OddTree = { files: new Map(), links: new Map() }
  for (const [name, text] of Object.entries(baseFiles(random))) tree.files.set(`c/${name}`, text)
  for (const at of chartsIn(tree)) tree.files.set(`c/${at}templates/facts.yaml`, FACTS)
  for (let count = random(4); count > 0; count--) {
    pick(random, calm ? CALM : [...CALM, ...RUDE])(
      draw,
      tree,
      `c/${pick(random, chance(random, 2) ? chartsIn(tree) : [''])}`,
    )
  }
  if (chance(random, 5)) packSubchart(random, tree)
  return tree
}

/** Half of the time a chart with values and imports at random, else one that is sure to render. */
function baseFiles(random: Random): Readonly<Record<string, string>> {
  if (chance(random, 3)) return fuzzChart(random(1_000_000)).files
  const files: Record<string, string> = {
    'Chart.yaml':
      'apiVersion: v2\nname: top\nversion: 1.2.3\ndependencies: [{name: one, version: "*", condition: one.enabled}, {name: one, version: "*", alias: again, tags: [t1]}]\n',
    'values.yaml': 'a: {b: 1}\nlist: [x]\nglobal: {g: 1}\none: {enabled: true}\n',
    'templates/_helpers.tpl': '{{ define "name" }}top-{{ .Release.Name }}{{ end }}',
    'charts/one/Chart.yaml': 'apiVersion: v2\nname: one\nversion: 1.0.0\n',
    'charts/one/values.yaml': 'a: {c: 2}\nexports: {data: {e: 1}}\n',
  }
  for (const at of ['', 'charts/one/']) {
    for (let count = 1 + random(3); count > 0; count--) {
      files[`${at}templates/${'abcdefgh'[random(8)]}.yaml`] = documents(random)
    }
  }
  return files
}

function chartsIn({ files }: OddTree): string[] {
  return [...files.keys()].filter((path) => path.endsWith('/Chart.yaml')).map((path) => path.slice(2, -10))
}

/** Several documents of any kinds, hooks among them. */
function documents(random: Random): string {
  return Array.from({ length: 1 + random(4) }, () => {
    const annotations = Array.from({ length: random(2) * random(4) }, () => pick(random, HOOK_ANNOTATIONS))
    const metadata = annotations.length > 0 ? `\n  annotations:\n    ${annotations.join('\n    ')}` : ''
    return `kind: ${pick(random, KINDS)}\nmetadata:\n  name: ${pick(random, ['a', 'b', '{{ .Release.Name }}'])}${metadata}\n`
  }).join(pick(random, ['---\n', '\n---\n', '---\n# c\n', '--- # c\n', '---\n---\n', '\n\n---   \n\n']))
}

function text(tree: OddTree, path: string): string {
  const found = tree.files.get(path) ?? ''
  return typeof found === 'string' ? found : new TextDecoder('latin1').decode(found)
}

const CALM: readonly Oddity[] = [
  ...Array.from({ length: 5 }, (): Oddity => (draw, { files }, at) => {
    const { random } = draw
    files.set(`${at}templates/${pick(random, TEMPLATE_NAMES)}`, drawn(draw, TEMPLATES))
  }),
  ({ random }, { files }, at) => void files.set(`${at}templates/${pick(random, TEMPLATE_NAMES)}`, documents(random)),
  ({ random }, { files }, at) => void files.set(`${at}${pick(random, FILE_NAMES)}`, pick(random, CHART_FILES)),
  ({ random }, { files }, at) =>
    void files.set(`${at}crds/${pick(random, TEMPLATE_NAMES)}`, pick(random, TEMPLATES.all)),
  (draw, { files }, at) => {
    const { random } = draw
    const lines = Array.from({ length: 1 + random(3) }, () => drawn(draw, IGNORE_LINES))
    files.set(`${at}.helmignore`, lines.join(pick(random, ['\n', '\n', '\r\n'])))
  },
  (draw, { files }, at) => void files.set(`${at}values.yaml`, drawn(draw, VALUES_FILES)),
  (draw, { files }, at) => void files.set(`${at}values.schema.json`, drawn(draw, SCHEMAS)),
  (draw, tree, at) => {
    // JSON stays JSON: a field that stands there twice is one of the oddities.
    const chart = text(tree, `${at}Chart.yaml`)
    const field = drawn(draw, CHART_FIELDS)
    const [key, value] = [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1)]
    if (!chart.startsWith('{')) tree.files.set(`${at}Chart.yaml`, `${chart}${field}\n`)
    else tree.files.set(`${at}Chart.yaml`, `${chart.slice(0, -1)},"${key}":${value}}`)
  },
  requirements,
  requirements,
  (draw, tree, at) => {
    // The form of before Helm 3, where the requirements have a file of their own.
    const { random } = draw
    tree.files.set(`${at}Chart.yaml`, text(tree, `${at}Chart.yaml`).replace('v2', pick(random, ['v1', 'v1', 'v2'])))
    tree.files.set(`${at}requirements.yaml`, requirementsText(draw, tree, at))
    if (chance(random, 2))
      tree.files.set(
        `${at}requirements.lock`,
        pick(random, ['generated: "2024-01-01T00:00:00.5Z"\ndigest: x\n', 'generated: x\n']),
      )
  },
  ({ random }, tree, at) => {
    // As other machines write it.
    const path = pick(
      random,
      [...tree.files.keys()].filter((name) => name.startsWith(at)),
    )
    if (path !== undefined) tree.files.set(path, text(tree, path).replaceAll('\n', '\r\n'))
  },
  ({ random }, { links }, at) => {
    const target = pick(random, ['values.yaml', 'Chart.yaml', '_helpers.tpl'])
    links.set(`${at}${pick(random, ['link', 'templates/link.yaml'])}`, target)
  },
]

/** Most of these make helm fail. */
const RUDE: readonly Oddity[] = [
  ({ random }, tree, at) => {
    const lines = text(tree, `${at}Chart.yaml`).split('\n')
    lines.splice(random(lines.length), 1)
    tree.files.set(`${at}Chart.yaml`, lines.join('\n'))
  },
  ({ random }, { files, links }, at) => {
    const target = pick(random, ['templates', 'values.yaml', 'Chart.yaml', 'nothing', '../c/templates', '/dev/null'])
    links.set(
      `${at}${pick(random, ['link', 'templates/link.yaml', 'templates/linked', 'charts/link', 'crds'])}`,
      target,
    )
    files.delete(`${at}link`)
  },
  ({ random }, { files }, at) => {
    const name = pick(random, [
      'charts/README.md',
      'charts/x.tgz',
      'charts/_no/Chart.yaml',
      'charts/.x',
      'charts/p.prov',
    ])
    files.set(`${at}${name}`, pick(random, ['text', '', 'name: x\n', '\u001f\u008b']))
  },
  ({ random }, tree, at) => {
    const path = pick(
      random,
      [...tree.files.keys()].filter((name) => name.startsWith(at)),
    )
    if (path !== undefined) tree.files.set(path, changedBytes(random, tree, path))
  },
  ({ random }, tree, at) => {
    const path = pick(
      random,
      [...tree.files.keys()].filter((name) => name.startsWith(at)),
    )
    if (path !== undefined) tree.files.delete(path)
  },
]

/** The same text, spelled as other machines do, or broken. */
function changedBytes(random: Random, tree: OddTree, path: string): string | Uint8Array {
  const before = text(tree, path)
  return pick<() => string | Uint8Array>(random, [
    () => before.replaceAll('\n', '\r\n'),
    () => `\ufeff${before}`,
    () => `\ufeff\ufeff${before}`,
    () => Buffer.from(before, 'utf16le'),
    () => Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xe9, 0x0a])]),
    () => Buffer.concat([Buffer.from([0xc3]), Buffer.from(before)]),
    () => `${before}\0`,
    () => `${before}# ${'long '.repeat(20_000)}\n`,
    () => `${before}\u0085\u2028x: 1\n`,
    () => before.slice(0, random(before.length + 1)),
    () => before.trimEnd(),
    () => '',
  ])()
}

function requirementsText(draw: Draw, tree: OddTree, at: string): string {
  const { random, calm } = draw
  const below = chartsIn(tree).flatMap((path) => {
    const [, name] = /^charts\/([^/]+)\/$/.exec(path.slice(at.length - 2)) ?? []
    return `c/${path}`.startsWith(at) && name !== undefined ? [name] : []
  })
  const names = calm && below.length > 0 ? below : [...below, 'one', 'absent']
  const lines = Array.from({ length: 1 + random(3) }, () => {
    const fields = Array.from({ length: random(4) }, () => drawn(draw, REQUIREMENT_FIELDS))
    if (chance(random, 2)) fields.push(`import-values: ${drawn(draw, IMPORTS)}`)
    const name = !calm && chance(random, 12) ? pick(random, ['', '5', 'null', '"a b"']) : pick(random, names)
    return !calm && chance(random, 20) ? '  - null' : `  - {${[`name: ${name}`, 'version: "*"', ...fields].join(', ')}}`
  })
  return !calm && chance(random, 20)
    ? `dependencies: ${pick(random, ['null', '5', '{}', '[]', at])}\n`
    : `dependencies:\n${lines.join('\n')}\n`
}

function requirements(draw: Draw, tree: OddTree, at: string): void {
  const chart = text(tree, `${at}Chart.yaml`)
  const before = chart.startsWith('{')
    ? 'apiVersion: v2\nname: top\nversion: 1.2.3\n'
    : chart.replace(/^dependencies.*\n/ms, '')
  tree.files.set(`${at}Chart.yaml`, `${before}${requirementsText(draw, tree, at)}`)
}

/** One subchart becomes an archive. */
function packSubchart(random: Random, { files, links }: OddTree): void {
  const folder = [...files.keys()]
    .map((path) => /^(c\/charts\/([^/]+))\/Chart\.yaml$/.exec(path))
    .find((found) => found)
  if (!folder || links.size > 0) return
  const [, path = '', name = ''] = folder
  const inside = [...files].filter(([file]) => file.startsWith(`${path}/`))
  for (const [file] of inside) files.delete(file)
  const top = pick(random, [`${name}/`, `${name}/`, 'other/', './x/', ''])
  const packed = inside.map(([file, content]) => ({ name: `${top}${file.slice(path.length + 1)}`, content }))
  if (chance(random, 6))
    packed.push({ name: pick(random, ['../out', '/abs/x', 'a/../../b', `${top}a\\b`, 'C:/x']), content: 'x' })
  files.set(`${path}-1.0.0.tgz`, tarGz(packed))
}
