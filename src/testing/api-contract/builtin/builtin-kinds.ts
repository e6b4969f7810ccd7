import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { isObject } from '../../../core/json.ts'
import { BUILTIN_KINDS } from '../../../kinds/builtin/builtin-kinds.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import { openApiPath } from '../../../kinds/openapi.ts'
import type { Api, ApiCase } from '../harness.ts'
import { BUILTIN_EXAMPLES } from './builtin-examples.ts'
import type { BuiltinExample } from './builtin-examples.ts'

/** Every built-in kind on both homes: what a kube-apiserver once answered is what each must answer. */

/**
 * What a home answers about an example: the object with its defaults and owners, and what `kubectl get -o wide` shows.
 */
export interface BuiltinAnswer {
  readonly created: unknown
  readonly table: unknown
  readonly withStatus?: unknown
  readonly statusTable?: unknown
}

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'

/** `apps/v1 Deployment shown`. */
export function titleOf({ object }: BuiltinExample): string {
  return `${object.apiVersion} ${object.kind} ${object.metadata?.name ?? 'shown'}`
}

/** The kind of an example. */
export function exampleKind({ object }: BuiltinExample): Kind {
  const kind = BUILTIN_KINDS.find((it) => apiVersionOf(it) === object.apiVersion && it.kind === object.kind)
  if (!kind) throw new Error(`no kind ${object.apiVersion} ${object.kind}`)
  return kind
}

/** Creates an example and reads everything back. */
export async function answerTo(api: Api, example: BuiltinExample): Promise<BuiltinAnswer> {
  const kind = exampleKind(example)
  const namespaced = kind.scope === 'Namespaced'
  const path = `/${openApiPath(kind)}${namespaced ? `/namespaces/${api.namespace}` : ''}/${kind.plural}`
  const text = JSON.stringify({ ...example.object, metadata: { name: 'shown', ...example.object.metadata } })
  const body = JSON.parse(text.replaceAll('NAMESPACE', api.namespace)) as { metadata: { name: string } }
  const created = await api.send('POST', `${path}?fieldManager=tester&fieldValidation=Strict`, { body })
  assert.equal(created.status, 201, created.text)
  const own = `${path}/${body.metadata.name}`
  const table = async () => cut((await api.send('GET', own, { accept: TABLE })).body as TableBody, kind)
  const answer = { created: neutral(created.body, api), table: neutral(await table(), api) }
  if (!example.status) return answer
  const patched = await api.send('PATCH', `${own}/status?fieldManager=tester`, {
    body: { status: example.status },
    contentType: 'application/merge-patch+json',
  })
  assert.equal(patched.status, 200, patched.text)
  return { ...answer, withStatus: neutral(patched.body, api), statusTable: neutral(await table(), api) }
}

interface TableBody {
  readonly columnDefinitions: readonly { readonly description?: string }[]
  readonly rows: readonly { readonly cells: readonly unknown[] }[]
}

/** An IPAddress has a cell too many; what a FlowSchema is missing is found out a moment later. */
function cut(table: TableBody, kind: Kind): TableBody {
  const count = table.columnDefinitions.length - (kind.kind === 'FlowSchema' ? 1 : 0)
  // Descriptions are the table's own, word for word.
  const columnDefinitions = table.columnDefinitions.map(({ description: _description, ...column }) => column)
  return { ...table, columnDefinitions, rows: table.rows.map((row) => ({ ...row, cells: row.cells.slice(0, count) })) }
}

const SERVER_GIVEN = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'time', 'lastPhaseTransitionTime'])

/** What keeps storage from being deleted while it is used needs a controller that embedded clusters do not have. */
const PROTECTION = /^kubernetes\.io\/\w+-protection$/

/** The answer without what differs from run to run: ids, times, addresses. */
function neutral(value: unknown, api: Api): unknown {
  const text = JSON.stringify(masked(value)).replaceAll(api.namespace, 'NAMESPACE')
  return JSON.parse(text) as unknown
}

function masked(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    if (key === 'rows') return value.map(maskedCells)
    if (key === 'clusterIPs') return value.map((ip) => (ip === 'None' ? ip : 'IP'))
    return value.map((item) => masked(item))
  }
  if (!isObject(value)) {
    if (SERVER_GIVEN.has(key) && value !== null) return key
    if (key.endsWith('controller-uid')) return 'uid'
    if (key === 'nodePort') return 'PORT'
    return key === 'clusterIP' && value !== 'None' ? 'IP' : value
  }
  const entries = Object.entries(value).filter(([field, child]) => !isDropped(field, child))
  return Object.fromEntries(entries.map(([field, child]) => [field, masked(child, field)]))
}

function isDropped(field: string, value: unknown): boolean {
  if (field === 'finalizers' && Array.isArray(value)) return value.every((text) => PROTECTION.test(String(text)))
  // A new node is tainted until a controller has seen it ready, which an embedded cluster has not.
  if (field === 'taints') return true
  // How the caller proved who he is differs between homes.
  return field === 'extra' || (field === 'lastTransitionTime' && value !== null)
}

function maskedCells(row: unknown): unknown {
  if (!isObject(row) || !Array.isArray(row['cells'])) return row
  return row['cells'].map((cell: unknown) => {
    if (typeof cell !== 'string') return cell
    if (cell.startsWith('batch.kubernetes.io/controller-uid=')) return 'UID'
    if (/^\d+[smhdy](\d+[smhd])?$/.test(cell) && cell !== '100s') return 'AGE'
    return cell
      .replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, 'TIME')
      .replace(/\((\w+) ago\)/, '(AGE ago)')
      .replace(/^10\.(0\.0|9[6-9]|1[01]\d)[.\d]*$/, 'IP')
      .replaceAll(/:3\d{4}\//g, ':PORT/')
  })
}

/** Where the answers of a real kube-apiserver are kept; `npm run builtin-kinds -- --answers` renews them. */
export const ANSWERS_FILE = new URL('../../fixtures/builtin-answers.json', import.meta.url)

let known: Readonly<Record<string, BuiltinAnswer>> | undefined

function knownAnswer(title: string): BuiltinAnswer | undefined {
  known ??= JSON.parse(readFileSync(ANSWERS_FILE, 'utf8')) as Readonly<Record<string, BuiltinAnswer>>
  return known[title]
}

/** One case per example. */
export const BUILTIN_CASES: readonly ApiCase[] = BUILTIN_EXAMPLES.map((example) => ({
  title: `${titleOf(example)} is served as Kubernetes serves it: defaults, owners, columns`,
  run: async (api) => assert.deepEqual(await answerTo(api, example), knownAnswer(titleOf(example))),
}))
