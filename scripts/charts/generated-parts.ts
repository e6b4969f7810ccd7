// Tested by scripts/charts/charts.test.ts.
// The parts of charts that `npm run docs` writes: the roles of hub and agent, and the tables of settings.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../src/core/json.ts'
import { servedDialects } from '../../src/hub/home/dialect-names.ts'
import { kubeHomeDialectRules, kubeHomeRules, kubeHomeSystemRules } from '../../src/hub/home/kube-home-rules.ts'
import { agentRbac } from '../../src/hub/join/agent-rbac.ts'
import type { AgentProfile } from '../../src/hub/join/agent-rbac.ts'
import type { PolicyRule } from '../../src/kinds/builtin/rbac.ts'
import { readYamlDocument } from '../../src/yaml/read/read-yaml.ts'
import { writeYaml } from '../../src/yaml/write/write-yaml.ts'
import { chartFolder, CHART_NAMESPACES, CHARTS } from './chart-files.ts'
import type { ChartName } from './chart-files.ts'

/** A file, and its text as the sources want it. */
export interface GeneratedFile {
  readonly path: string
  readonly text: string
}

/** All generated files of charts. */
export function generatedChartFiles(): GeneratedFile[] {
  return [
    { path: join(chartFolder('flotilla-hub'), 'templates/rbac.yaml'), text: hubRoles() },
    { path: join(chartFolder('flotilla-agent'), 'templates/rbac.yaml'), text: agentRoles() },
    ...CHARTS.map((name) => {
      const path = join(chartFolder(name), 'README.md')
      return { path, text: withSettings(readFileSync(path, 'utf8'), name) }
    }),
  ]
}

/** The roles of src/hub/home/kube-home-rules.ts as a template; the rules contain no template syntax. */
function hubRoles(): string {
  const roles = [
    role('ClusterRole', 'flotilla-hub', kubeHomeRules()),
    role('Role', 'flotilla-hub', kubeHomeSystemRules()),
  ]
  // A cluster that runs pods has controllers: dialects of hub templates are not served there.
  const served = servedDialects({ dialects: 'all', kubeconfig: 'the cluster' })
  const ofDialects = served.map((dialect) => {
    const wanted = `{{- if or (has "all" .Values.dialects) (has "${dialect}" .Values.dialects) }}`
    return `${wanted}\n---\n${role('ClusterRole', `flotilla-hub-${dialect}`, kubeHomeDialectRules(dialect))}{{- end }}\n`
  })
  const head =
    '{{- /* Written by npm run docs: the rights that the code of the hub needs. */}}\n{{- if .Values.rbac.create }}\n'
  return `${head}${roles.join('---\n')}${ofDialects.join('')}{{- end }}\n`
}

function role(kind: 'Role' | 'ClusterRole', name: string, rules: readonly PolicyRule[]): string {
  const metadata = kind === 'Role' ? ['  {{- include "flotilla-hub.metadata" . | nindent 2 }}'] : clusterMetadata
  const object = (of: string, rest: string): string =>
    ['apiVersion: rbac.authorization.k8s.io/v1', `kind: ${of}`, 'metadata:', `  name: ${name}`, ...metadata, rest].join(
      '\n',
    )
  const reference = `roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ${kind}\n  name: ${name}\n`
  const subjects = 'subjects:\n  {{- include "flotilla-hub.subjects" . | nindent 2 }}\n'
  return `${object(kind, writeYaml({ rules }))}---\n${object(`${kind}Binding`, reference + subjects)}`
}

const clusterMetadata = ['  labels:', '    {{- include "flotilla-hub.labels" . | nindent 4 }}']

interface RbacObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

/** The roles of src/hub/join/agent-rbac.ts as a template, by profile. */
function agentRoles(): string {
  const objectsOf = (profile: AgentProfile, namespaces: readonly string[] = []): RbacObject[] => {
    const place = { home: CHART_NAMESPACES['flotilla-agent'], account: 'flotilla-agent', labels: {} }
    return agentRbac({ profile, namespaces, ...place }) as RbacObject[]
  }
  const common = objectsOf('namespaced')
  const isOwn = (object: RbacObject): boolean => !common.some((one) => JSON.stringify(one) === JSON.stringify(object))
  const text = (objects: readonly RbacObject[]): string => objects.map(agentObject).join('---\n')
  const ofNamespace = text(objectsOf('namespaced', ['NAMESPACE']).filter(isOwn))
  return [
    '{{- /* Written by npm run docs: the rights of each profile in the code of the hub. */}}\n',
    `{{- if eq .Values.profile "full" }}\n${text(objectsOf('full'))}{{- else }}\n${text(common)}`,
    `{{- if eq .Values.profile "read-only" }}\n---\n${text(objectsOf('read-only').filter(isOwn))}{{- end }}\n`,
    `{{- range .Values.namespaces }}\n---\n${ofNamespace.replaceAll('NAMESPACE', '{{ . }}')}{{- end }}\n{{- end }}\n`,
  ].join('')
}

function agentObject({ apiVersion, kind, metadata: { name, namespace }, ...rest }: RbacObject): string {
  const place = namespace === undefined ? '' : `  namespace: ${namespace}\n`
  const labels = '  labels:\n    {{- include "flotilla-agent.labels" $ | nindent 4 }}\n'
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: ${name}\n${place}${labels}${writeYaml(rest)}`
}

const BEGIN = '<!-- settings: generated by npm run docs -->'
const END = '<!-- /settings -->'

interface ValueSchema {
  readonly description?: string
  readonly properties?: Readonly<Record<string, ValueSchema>>
}

/** A setting of values.yaml with its description in values.schema.json. */
export interface ChartSetting {
  readonly name: string
  readonly value: unknown
  readonly description: string | undefined
}

/** The settings of a chart, in the order of its values.yaml. */
export function chartSettings(name: ChartName): ChartSetting[] {
  const read = (file: string): string => readFileSync(join(chartFolder(name), file), 'utf8')
  const schema = JSON.parse(read('values.schema.json')) as ValueSchema
  return settingsBelow(readYamlDocument(read('values.yaml')).value, schema, '')
}

function settingsBelow(value: unknown, schema: ValueSchema | undefined, path: string): ChartSetting[] {
  if (!isObject(value) || schema?.properties === undefined)
    return [{ name: path, value, description: schema?.description }]
  return Object.entries(value).flatMap(([name, below]) =>
    settingsBelow(below, schema.properties?.[name], path === '' ? name : `${path}.${name}`),
  )
}

function withSettings(page: string, name: ChartName): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (from < 0 || to < from) throw new Error(`charts/${name}/README.md has no place for its settings: ${BEGIN} ${END}`)
  const rows = chartSettings(name).map(({ name: setting, value, description }) => {
    const shown = value === '' || value === null ? '' : `\`${JSON.stringify(value).replaceAll(/^"|"$/g, '')}\``
    return `| \`${setting}\` | ${shown} | ${(description ?? '').replaceAll('|', '\\|')} |`
  })
  const table = ['| setting | default | meaning |', '|---|---|---|', ...rows].join('\n')
  return `${page.slice(0, from)}${BEGIN}\n${table}\n${page.slice(to)}`
}
