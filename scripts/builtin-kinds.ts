// Renews the table of Kubernetes' own kinds, and the answers our servers are compared with, from a real kube-apiserver
// of the test environment: `npm run builtin-kinds`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createUndiciTransport } from '../src/client/undici-transport.ts'
import { Secret } from '../src/core/secret.ts'
import { ANSWERS_FILE, answerTo, titleOf } from '../src/testing/api-contract/builtin/builtin-kinds.ts'
import { MISSED_FILE, findRequiredFields } from '../src/testing/api-contract/builtin/missing-fields.ts'
import { validationAnswer, SPOILED_FILE, spoiledTitle } from '../src/testing/api-contract/builtin/invalid-specs.ts'
import { createApi } from '../src/testing/api-contract/harness.ts'
import { BUILTIN_EXAMPLES } from '../src/testing/api-contract/builtin/builtin-examples.ts'
import { startControlPlane } from '../src/testing/control-plane/control-plane.ts'
import { definitionLines, shortName } from './builtin-definitions.ts'
import type { OpenApiSchema } from './builtin-definitions.ts'
import { goFields } from './go-fields.ts'
import { INVALID_SPECS } from '../src/testing/api-contract/builtin/invalid-spec-examples.ts'

const FOLDER = join(import.meta.dirname, '../src/kinds/builtin/table')

/** Questions that are answered and never stored, and what only a kubelet or the real storage could answer. */
const NOT_OBJECTS = new Set(['authentication.k8s.io', 'authorization.k8s.io'])
const NOT_SERVED = new Set(['bindings', 'componentstatuses'])

interface Resource {
  readonly name: string
  readonly singularName: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

interface TableColumn {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  readonly priority: number
}

await using plane = await startControlPlane()

async function get<T>(path: string, accept?: string): Promise<T> {
  const { status, text } = await plane.call('GET', path, undefined, accept === undefined ? {} : { accept })
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`)
  return JSON.parse(text) as T
}

const { gitVersion } = await get<{ gitVersion: string }>('/version')
const documents = Object.entries(
  (await get<{ paths: Record<string, { serverRelativeURL: string }> }>('/openapi/v3')).paths,
)
  .filter(([path]) => /^(api|apis\/[^/]+)\/v\w+$/.test(path))
  // The preferred version of a group comes first.
  .sort(([a], [b]) => (groupOf(a) === groupOf(b) ? b.localeCompare(a) : groupOf(a) < groupOf(b) ? -1 : 1))

const definitions = new Map<string, OpenApiSchema>()
const kinds: string[] = []
const descriptions: string[] = []
const roots = new Set<string>()

function describedBy(text: string): number {
  const known = descriptions.indexOf(text)
  return known >= 0 ? known : descriptions.push(text) - 1
}

for (const [path, { serverRelativeURL }] of documents) {
  const document = await get<{ components: { schemas: Record<string, OpenApiSchema> } }>(serverRelativeURL)
  for (const [name, schema] of Object.entries(document.components.schemas)) definitions.set(name, schema)
  const [group, version] = path === 'api/v1' ? ['', 'v1'] : (path.split('/').slice(1) as [string, string])
  if (NOT_OBJECTS.has(group)) continue
  const { resources } = await get<{ resources: Resource[] }>(`/${path}`)
  for (const resource of resources) {
    if (resource.name.includes('/') || NOT_SERVED.has(resource.name)) continue
    const table = await get<{ columnDefinitions: TableColumn[] }>(
      `/${path}/${resource.name}?limit=1`,
      'application/json;as=Table;v=v1;g=meta.k8s.io',
    )
    const definition = [...definitions].find(([, schema]) => isKind(schema, group, version, resource.kind))
    if (!definition) throw new Error(`no schema of ${group}/${version} ${resource.kind}`)
    roots.add(definition[0])
    const sub = resources.filter(({ name }) => name.startsWith(`${resource.name}/`)).map(({ name }) => name)
    kinds.push(
      JSON.stringify({
        group,
        version,
        kind: resource.kind,
        plural: resource.name,
        scope: resource.namespaced ? 'Namespaced' : 'Cluster',
        schema: shortName(definition[0]),
        ...(resource.shortNames ? { shortNames: resource.shortNames } : {}),
        ...(resource.categories ? { categories: resource.categories } : {}),
        ...(sub.includes(`${resource.name}/status`) ? { status: true } : {}),
        ...(sub.includes(`${resource.name}/scale`) ? { scale: true } : {}),
        description: firstSentence(definition[1].description ?? ''),
        columns: table.columnDefinitions.map((column) => [
          column.name,
          column.type,
          column.format,
          column.priority,
          describedBy(column.description),
        ]),
      }),
    )
  }
}
const { transport, close } = createUndiciTransport({
  server: plane.url,
  ca: plane.ca,
  cert: plane.adminCert,
  key: new Secret(plane.adminKey),
})
const answers: string[] = []
const missed: string[] = []
for (const [index, example] of BUILTIN_EXAMPLES.entries()) {
  const namespace = `example-${index}`
  const api = createApi(transport, namespace)
  await api.ok('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const title = JSON.stringify(titleOf(example))
  missed.push(`${title}: ${JSON.stringify(await findRequiredFields(api, example))}`)
  answers.push(`${title}: ${JSON.stringify(await answerTo(api, example))}`)
}
const said: string[] = []
for (const spoiled of Object.values(INVALID_SPECS).flat()) {
  const answer = await validationAnswer(createApi(transport, 'default'), spoiled)
  said.push(`${JSON.stringify(spoiledTitle(spoiled))}: ${JSON.stringify(answer)}`)
}
await close()
await plane.stop()
writeFileSync(ANSWERS_FILE, `{\n${answers.join(',\n')}\n}\n`)
writeFileSync(SPOILED_FILE, `{\n${said.join(',\n')}\n}\n`)
writeFileSync(MISSED_FILE, `{\n${missed.join(',\n')}\n}\n`)

function groupOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}

function isKind(schema: OpenApiSchema, group: string, version: string, kind: string): boolean {
  const list = schema['x-kubernetes-group-version-kind'] ?? []
  return list.some((it) => it.group === group && it.version === version && it.kind === kind)
}

function firstSentence(text: string): string {
  return /^.*?[.](?=\s|$)/.exec(text.replaceAll(/\s+/g, ' '))?.[0] ?? text
}

const note = `// Generated from kube-apiserver ${gitVersion} by \`npm run builtin-kinds\`; the form is explained in ../definitions.ts.\n`
const packages = definitionLines(definitions, roots, goFields(gitVersion))

writeFileSync(
  join(FOLDER, 'definitions.generated.ts'),
  `${note}
/** Types of fields, one line each, by package. */
export const DEFINITIONS: Readonly<Record<string, string>> = {
${[...packages].map(([name, lines]) => `'${name}': ${rawText(`\n${lines.join('\n')}\n`)},`).join('\n')}
}
`,
)
writeFileSync(
  join(FOLDER, 'kinds.generated.ts'),
  `${note}
/** One kind as JSON per line. */
export const KINDS = String.raw${rawText(`\n${kinds.join('\n')}\n`)}

/** Descriptions of columns, named by their index. */
export const COLUMN_DESCRIPTIONS: readonly string[] = ${JSON.stringify(descriptions, null, 2)}
`,
)

function rawText(text: string): string {
  if (/`|\$\{/.test(text)) throw new Error('cannot be written into a template')
  return `\`${text}\``
}

process.stdout.write(`${kinds.length} kinds, ${[...packages.values()].flat().length} types of ${gitVersion}\n`)
