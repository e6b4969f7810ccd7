/** Sorts the objects of Argo CD's namespace into what generators ask for. */
import { compact } from '../../../core/compact.ts'
import { fromBase64, fromUtf8 } from '../../../core/bytes.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { ApplicationSetError } from './applicationset-error.ts'
import type { ArgoCluster } from './generate-inputs.ts'
import { textField } from '../types/shape.ts'

/** The objects by their part. */
export interface ArgoObjects {
  readonly sets: readonly JsonObject[]
  readonly clusters: readonly ArgoCluster[]
  readonly projects: ReadonlySet<string>
  /** The rest. */
  readonly objects: readonly JsonObject[]
}

/** Sorts objects; objects without a namespace count as being in Argo CD's. */
export function sortArgoObjects(objects: readonly JsonObject[], namespace: string): ArgoObjects {
  const sets: JsonObject[] = []
  const clusters: ArgoCluster[] = []
  const projects = new Set<string>()
  const others: JsonObject[] = []
  for (const object of objects.flatMap(itemsOf)) {
    const metadata = isObject(object['metadata']) ? object['metadata'] : {}
    const isHere = (metadata['namespace'] ?? namespace) === namespace
    const isOfArgo = textField(object, 'apiVersion').startsWith('argoproj.io/')
    if (isOfArgo && object['kind'] === 'ApplicationSet') sets.push(object)
    else if (!isHere) continue
    else if (isOfArgo && object['kind'] === 'AppProject') projects.add(String(metadata['name']))
    else if (object['kind'] === 'Secret') clusters.push(clusterOf(object, metadata))
    else others.push({ ...object, metadata: { ...metadata, namespace } })
  }
  const bySecret = clusters.toSorted((a, b) => (a.secret < b.secret ? -1 : a.secret > b.secret ? 1 : 0))
  return { sets, clusters: bySecret, projects, objects: others }
}

function itemsOf(object: JsonObject): JsonObject[] {
  const { items } = object
  if (!textField(object, 'kind').endsWith('List') || !Array.isArray(items)) return [object]
  return items.filter(isObject).flatMap(itemsOf)
}

function clusterOf(object: JsonObject, metadata: JsonObject): ArgoCluster {
  const secret = textField(metadata, 'name')
  const { name = '', server = '', project } = secretTexts(object, secret)
  return compact({
    secret,
    name,
    server,
    project,
    labels: textsOf(metadata['labels']),
    annotations: textsOf(metadata['annotations']),
  })
}

function textsOf(value: unknown): Record<string, string> {
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, String(item)])) : {}
}

const SHOWN = ['name', 'server', 'project']
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/

/** The entries that generators see; credentials are not decoded. */
function secretTexts(object: JsonObject, secret: string): Partial<Record<string, string>> {
  const out: Record<string, string> = {}
  for (const [key, value] of Object.entries(textsOf(object['data']))) {
    if (!SHOWN.includes(key)) continue
    if (!BASE64.test(value)) throw new ApplicationSetError(`Secret ${secret}: data.${key} must be base64`)
    out[key] = fromUtf8(fromBase64(value))
  }
  for (const [key, value] of Object.entries(textsOf(object['stringData']))) if (SHOWN.includes(key)) out[key] = value
  return out
}
